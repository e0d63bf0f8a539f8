import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type OutputSinks, type StartedSandbox, watchSums } from './command.ts';
import type { Identity } from './identity.ts';
import { BUNDLE_DIR, NODE_BINARY, SOCKET_DIR } from './policy.ts';
import type { SandboxLimits, SandboxPolicy, SandboxProgram } from './sandbox.ts';
import { type Job, ownerOf } from './starter.ts';

/** A long-lived program in a sandbox. */
export interface JailedProcess {
  readonly socketDir: string;
  /** Settles, never rejects, when nothing of it is alive, its output was read and what it used is put away. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(): void;
}

/** What a tool process is started with; the directories are mounted from where they are on the host. */
export function processJob(policy: SandboxPolicy, program: SandboxProgram, bundleDir: string, socketDir: string): Job {
  const entry = join(BUNDLE_DIR, program.entry);
  const argv = /\.m?js$/.test(program.entry) ? [NODE_BINARY, entry] : [entry];
  return {
    argv: [...argv, ...program.args],
    cwd: policy.workspace,
    env: program.env,
    programMounts: [
      { kind: 'ro-bind', source: bundleDir, dest: BUNDLE_DIR },
      { kind: 'ro-bind', source: process.execPath, dest: NODE_BINARY },
      { kind: 'bind', source: socketDir, dest: SOCKET_DIR },
    ],
    wallMs: 0,
    stdin: 'ignore',
    takesScript: false,
  };
}

/** Entered by the sandbox's user alone; its path is short, because a socket's path must be. */
export function makeSocketDir(parent: string, identity: Identity): string {
  const dir = join(parent, randomBytes(4).toString('hex'));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const owner = ownerOf(identity);
  if (owner !== null) chownSync(dir, owner.uid, owner.gid);
  return dir;
}

/**
 * Follows a program that was started, and kills it when it exceeds limits that no cgroup holds. `onEnd` puts away what it
 * used; `exited` waits for it.
 */
export function followProcess(
  { jail, stdout, stderr, group }: StartedSandbox,
  limits: SandboxLimits,
  sinks: OutputSinks,
  socketDir: string,
  onEnd: () => Promise<void>,
): JailedProcess {
  stdout.readInto(sinks.stdout);
  stderr.readInto(sinks.stderr);
  const watch = new AbortController();
  if (group === null) watchSums(jail, limits, () => jail.kill(), watch.signal);
  const exited = jail.ended
    .then(({ code, signal }) => ({ code: signal === null ? code : null, signal }))
    .catch(() => ({ code: null, signal: null }))
    .finally(async () => {
      watch.abort();
      await Promise.all([stdout.readRest(), stderr.readRest()]);
      stdout.close();
      stderr.close();
      await jail.gone;
      await onEnd().catch(() => {});
    });
  return { socketDir, exited, kill: () => jail.kill() };
}
