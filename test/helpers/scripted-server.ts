import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ContextdError } from '#src/core/errors.js';
import type { ServerProcess } from '#src/upstream/start-server.js';

const SCRIPTED = join(import.meta.dirname, '..', 'fixtures', 'mcp-servers', 'scripted.mjs');

/** The scripted server as an ordinary process: what is outside of it is the claim of other tests. */
export function startScripted(
  mode: string,
  onStale: Promise<void> = new Promise(() => {}),
): ServerProcess & { pid: number } {
  const child = spawn(process.execPath, [SCRIPTED, mode], { stdio: 'pipe', env: {} });
  child.stdin.on('error', () => {});
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  return {
    pid: child.pid ?? 0,
    stdout: child.stdout,
    stderr: child.stderr,
    stale: onStale,
    exited,
    input: (data, isEnd = false) =>
      new Promise((resolve, reject) => {
        const failed = (): void => reject(new ContextdError('CONFLICT', 'its standard input is closed'));
        if (child.stdin.destroyed || child.stdin.writableEnded) failed();
        else if (isEnd) child.stdin.end(data, () => resolve());
        else child.stdin.write(data, (failure) => (failure ? failed() : resolve()));
      }),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
