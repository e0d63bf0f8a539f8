import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolAccessFor } from '#src/features/outside/policy.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';
import { type CallChange, openToolRunner, PROFILE, type ToolRunner } from '../helpers/tool-runner.ts';

const CONFIGURED = { env: { CITY_API: 'https://api.example.com', OTHER: 'never granted' } };

/** Runs the shell command in its input. */
const RUN = `#!/bin/sh
command=$(cat | sed -e 's/^{"sh":"//' -e 's/"}$//')
eval "$command" 2>&1
`;

let bench: Bench;
let tools: ToolRunner;
let bundleDir: string;
/** Directories outside the project, of the project's owner. */
let outside: string;

describe.each(usualWho())('what a tool was granted outside the project, %s', (who) => {
  beforeAll(async () => {
    bench = await openBench(who);
    await bench.sandbox.start();
    const { uid, gid } = statSync(bench.workspace);
    bundleDir = mkdtempSync(join(tmpdir(), 'ctxd-access-'));
    chmodSync(bundleDir, 0o755);
    writeFileSync(join(bundleDir, 'main.sh'), RUN, { mode: 0o755 });
    outside = realpathSync(mkdtempSync(join(tmpdir(), 'ctxd-outside-')));
    chmodSync(outside, 0o755);
    for (const name of ['read', 'write', 'other']) {
      mkdirSync(join(outside, name));
      writeFileSync(join(outside, name, 'file'), `${name}\n`);
      chownSync(join(outside, name), uid, gid);
    }
    symlinkSync(join(outside, 'other'), join(outside, 'link'));
    tools = openToolRunner(bench, { toolAccessFor: ({ grants }) => toolAccessFor(grants, CONFIGURED) });
  });
  afterAll(async () => {
    await tools.close();
    await bench.close();
    for (const dir of [bundleDir, outside]) rmSync(dir, { recursive: true, force: true });
  });

  async function sh(command: string, grants: string[], change: CallChange = {}): Promise<string> {
    const profile = { ...PROFILE, runtime: 'exec' as const, entry: 'main.sh' };
    const input = { sh: command };
    const { output } = await tools.program('hello', {
      bundleDir,
      profile,
      input,
      grants,
      ...change,
    });
    return output.streams?.[0]?.text ?? '';
  }

  it('SEC-2.1 a path is read-only, or writable if that was granted, and nothing beside it is there', async () => {
    const grants = [`path:${outside}/read`, `path:${outside}/write:rw`];
    expect(await sh(`cat ${outside}/read/file; ls ${outside}`, grants)).toBe('read\nread\nwrite\n');
    expect(await sh(`echo x >${outside}/read/new`, grants)).toContain('Read-only file system');
    await sh(`echo made >${outside}/write/new`, grants);
    expect(existsSync(join(outside, 'write', 'new'))).toBe(true);
    expect(await sh(`ls ${outside}`, [])).toContain('No such file');
  });

  it('SEC-2.3 what is protected in the project is protected in a writable path', async () => {
    const grants = [`path:${outside}/write:rw`];
    await sh(`echo x >${outside}/write/.envrc`, grants);
    expect(existsSync(join(outside, 'write', '.envrc'))).toBe(false);
  });

  it('SEC-2.1 a path that is missing, a link, contextd’s own or the system’s refuses the call', async () => {
    const refused = [
      [`${outside}/none`, 'PATH_NOT_FOUND', 'does not exist'],
      [`${outside}/link`, 'PATH_INVALID', `it leads to ${outside}/other`],
      [`${outside}/write/file:rw`, 'PATH_INVALID', 'it is not a directory'],
      [bench.home, 'PATH_INVALID', 'contextd keeps its own files'],
      ['/etc/ssl', 'PATH_INVALID', 'system directory'],
      [`${bench.workspace}:rw`, 'PATH_INVALID', 'it overlaps the project'],
    ] as const;
    for (const [path, code, message] of refused)
      await expect(sh('true', [`path:${path}`])).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      });
  });

  it('SEC-2.1 a directory with a socket or pipe in it, at any depth, refuses the call: a read-only mount does not stop a connection', async () => {
    const [deep, pipe] = [join(outside, 'listens', 'a', 'b'), join(outside, 'piped')];
    for (const dir of [deep, pipe]) mkdirSync(dir, { recursive: true });
    const { uid, gid } = statSync(bench.workspace);
    chownSync(pipe, uid, gid);
    const server = createServer().listen(join(deep, 'agent.sock'));
    await once(server, 'listening');
    execFileSync('mkfifo', [join(pipe, 'in')]);
    const grants = { [`${outside}/listens`]: join(deep, 'agent.sock'), [`${pipe}:rw`]: join(pipe, 'in') };
    for (const [grant, found] of Object.entries(grants))
      await expect(sh('true', [`path:${grant}`])).rejects.toMatchObject({
        code: 'PATH_INVALID',
        message: expect.stringContaining(`it holds ${found}, a socket or pipe`),
      });
    server.close();
    await once(server, 'close');
    rmSync(join(pipe, 'in'));
    expect(await sh(`ls ${outside}/listens`, [`path:${outside}/listens`])).toBe('a\n');
  });

  it('SEC-2.1 a variable has the value that a person set, and no other variable is there', async () => {
    expect(await sh('echo $CITY_API:$OTHER', ['env:CITY_API'])).toBe('https://api.example.com:\n');
    expect(await sh('env', ['env:NOT_SET'])).not.toMatch(/CITY_API|NOT_SET/);
  });

  it('SEC-2.1 a limit above the configured one holds if it was granted, otherwise the configured one', async () => {
    const profile = { ...PROFILE, runtime: 'exec' as const, entry: 'main.sh', limits: { memoryMb: 4096, pids: 600 } };
    const limitsOf = async (grants: string[]) => {
      await sh('true', grants, { profile });
      const { memoryBytes = 0, pids = 0 } = tools.policies.at(-1)?.limits ?? {};
      return { memory: memoryBytes / 1024 ** 2, pids };
    };
    expect(await limitsOf(['limits:memory_mb=4096'])).toEqual({ memory: 4096, pids: 128 });
    expect(await limitsOf([])).toEqual({ memory: 512, pids: 128 });
    expect(await limitsOf(['limits:memory_mb=4096', 'limits:pids=600'])).toEqual({ memory: 4096, pids: 600 });
  });

  it('SEC-2.1 a core tool gets nothing by such a grant', async () => {
    const { output } = await tools.core(
      'safe_bash',
      { command: `ls ${outside}/read` },
      { grants: ['exec', `path:${outside}/read`] },
    );
    expect(output.data.exit_code).toBe(2);
  });
});
