import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DenialSource } from '#src/sandbox/sandbox.js';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

/** Prints a line when it serves `text` on loopback of its own network namespace, and lives until it is killed. */
const SERVER = `
require('node:net').createServer((socket) => socket.end(process.argv[1])).listen(4711, '127.0.0.1', () => console.log('up'));
`;

/** A network namespace of its own with a server on its loopback. */
async function openNamespace(text: string): Promise<{ path: string; id: string; close(): Promise<void> }> {
  const script = 'ip link set lo up && exec "$@"';
  const args = ['--net', '--', 'sh', '-c', script, 'sh', process.execPath, '-e', SERVER, text];
  const child: ChildProcess = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.stdout === null) throw new Error('the server has no output');
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the namespace was not made'))),
  ]);
  const path = `/proc/${child.pid}/ns/net`;
  return {
    path,
    id: readlinkSync(path),
    async close() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const READ_SERVER = 'cat </dev/tcp/127.0.0.1/4711';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('not run: sandboxes in a network namespace, which only root may make and join');

describe.each(isRoot ? whoCanRun() : [])('the network of a sandbox, %s', (who) => {
  let bench: Bench;
  let first: Awaited<ReturnType<typeof openNamespace>>;
  let second: Awaited<ReturnType<typeof openNamespace>>;
  beforeAll(async () => {
    [bench, first, second] = await Promise.all([openBench(who), openNamespace('first'), openNamespace('second')]);
  });
  afterAll(() => Promise.all([bench.close(), first.close(), second.close()]));

  test('SEC-2.3 is a namespace of its own if the policy names none, and nobody else is in it', async () => {
    const { out, err, exitCode } = await bench.bash(`readlink /proc/self/ns/net; ${READ_SERVER}`);
    expect([first.id, second.id, readlinkSync('/proc/self/ns/net')]).not.toContain(out.trim());
    expect(err).toContain('Connection refused');
    expect(exitCode).not.toBe(0);
  });

  test('is the namespace that the policy names, with its loopback, and no descriptor leads to another one', async () => {
    const script = `readlink /proc/self/ns/net; ${READ_SERVER}; ls -l /proc/self/fd | grep -c 'net:'`;
    const { out } = await bench.bash(script, {}, { network: { namespace: first.path } });
    expect(out).toBe(`${first.id}\nfirst0\n`);
  });

  test('SEC-2.3 gives no rights over the namespace', async () => {
    const script = 'ip link set lo down; ip link add d0 type dummy; cat /proc/net/dev | grep -c d0';
    const { out } = await bench.bash(script, {}, { network: { namespace: first.path } });
    expect(out).toBe('0\n');
    expect((await bench.bash(READ_SERVER, {}, { network: { namespace: first.path } })).out).toBe('first');
  });

  test('a sandbox that waits in one namespace takes no command for another namespace at the same path', async () => {
    const path = join(bench.base, 'namespace');
    const network = { namespace: path };
    const ready = async (): Promise<number> =>
      (await bench.sandbox.status()).ready.reduce((sum, { count }) => sum + count, 0);
    symlinkSync(first.path, path);
    const before = await ready();
    expect((await bench.bash(READ_SERVER, {}, { network, roPaths: [] })).out).toBe('first');
    await expect.poll(ready, { timeout: 20_000 }).toBeGreaterThan(before);
    expect((await bench.bash(READ_SERVER, {}, { network })).out).toBe('first');
    rmSync(path);
    symlinkSync(second.path, path);
    expect((await bench.bash(READ_SERVER, {}, { network })).out).toBe('second');
  });

  test("SEC-2.3 refuses the host's own network and a namespace that does not exist before anything runs", async () => {
    for (const namespace of ['/proc/self/ns/net', `/proc/${process.pid}/ns/net`, '/run/netns/none']) {
      await expect(bench.bash('touch ran', {}, { network: { namespace } })).rejects.toMatchObject({
        code: 'SANDBOX_UNAVAILABLE',
        message: expect.stringContaining(namespace),
      });
    }
    await expect(bench.bash('touch ran', {}, { network: { namespace: '/dev/null' } })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: 'the network namespace of the policy cannot be joined',
    });
    expect((await bench.bash('ls')).out).toBe('');
  });

  test('takes what a command prints about the network for a denial only if the policy has no network', async () => {
    const script = "echo 'curl: (6) Could not resolve host: registry.example.com' >&2; exit 6";
    const without = await bench.bash(script);
    expect(without.denied).toMatchObject([{ kind: 'network', host: 'registry.example.com' }]);
    const joined = await bench.bash(script, {}, { network: { namespace: first.path } });
    expect(joined.denied).toEqual([]);
  });
});

describe.each(whoCanRun())('sources of denials, %s', (who) => {
  const refused = {
    kind: 'network',
    host: 'registry.example.com',
    rule: 'not on the list',
    how_to_allow: 'ctxd network allow',
  };

  test('what a source reports comes first and replaces the guess about the same host', async () => {
    const begun: string[] = [];
    const source: DenialSource = {
      begin({ workspace }) {
        begun.push(workspace.path);
        return () => [refused];
      },
    };
    const bench = await openBench(who, {}, [source]);
    try {
      const script = "echo 'curl: (6) Could not resolve host: registry.example.com' >&2; : >/usr/x; exit 6";
      const { denied } = await bench.bash(script);
      expect(denied).toEqual([refused, expect.objectContaining({ kind: 'read_only', path: '/usr/x' })]);
      expect(begun).toEqual([bench.workspace]);
    } finally {
      await bench.close();
    }
  });
});
