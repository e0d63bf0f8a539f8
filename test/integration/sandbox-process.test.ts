import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxProcess } from '#src/sandbox/contract/sandbox.js';
import { type Bench, openBench, processesWith, usualWho } from '../fixtures/sandbox-harness.ts';

/** A program that answers each line on a socket in its directory with a description of its surroundings. */
const ECHO = `
import { createServer } from 'node:net';
import { readFileSync, readdirSync, existsSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
createServer((channel) => channel.on('data', (chunk) => {
  const word = chunk.toString().trim();
  if (word === 'crash') process.abort();
  if (word === 'child') { spawn('sleep', [process.argv[2]], { detached: true, stdio: 'ignore' }); channel.write('spawned\\n'); return; }
  if (word === 'log') { console.log('on stdout'); console.error('on stderr'); }
  let bundle = 'writable';
  try { writeFileSync('/opt/contextd/bundle/x', ''); } catch (cause) { bundle = cause.code; }
  channel.write(JSON.stringify({ word, env: process.env, cwd: process.cwd(), node: process.version, args: process.argv.slice(2), bundle, pids: readdirSync('/proc').filter((n) => /^\\d+$/.test(n)).length }) + '\\n');
})).listen('/run/contextd/echo', () => console.log('listening'));
`;

/** Connects to a program's socket when it listens. */
async function dial(tool: SandboxProcess): Promise<Socket> {
  for await (const chunk of tool.stdout.iterator({ destroyOnReturn: false }))
    if (String(chunk).includes('listening')) break;
  const socket = connect(join(tool.socketDir, 'echo'));
  await once(socket, 'connect');
  return socket;
}

/** Returns the next answer; fails at once if the process has ended. */
function ask(tool: SandboxProcess, channel: Socket, word: string): Promise<string> {
  channel.write(`${word}\n`);
  return new Promise((resolve, reject) => {
    channel.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    tool.exited.then((exit) => reject(new Error(`the tool process ended: ${JSON.stringify(exit)}`)));
  });
}

describe.each(usualWho())('a tool process, %s', (who) => {
  let bench: Bench;
  let bundleDir = '';
  beforeAll(async () => {
    bench = await openBench(who);
    bundleDir = join(bench.base, 'home', 'data', 'tools', 'bundle');
    mkdirSync(bundleDir, { recursive: true, mode: 0o700 });
    writeFileSync(join(bundleDir, 'main.mjs'), ECHO);
  });
  afterAll(() => bench.close());

  const open = (args: string[] = []): Promise<SandboxProcess> =>
    bench.sandbox.open(bench.policy(), { bundleDir, runtime: 'node', entry: 'main.mjs', args, env: { TOOL: 'yes' } });
  test('SEC-2.1 runs this installation’s Node from a read-only bundle and talks over a socket in its directory', async () => {
    const tool = await open(['one']);
    try {
      const answer: unknown = JSON.parse(await ask(tool, await dial(tool), 'hello'));
      expect(answer).toMatchObject({
        word: 'hello',
        cwd: bench.workspace,
        node: process.version,
        args: ['one'],
        bundle: 'EROFS',
      });
      expect(answer).toHaveProperty('env.TOOL', 'yes');
      expect(answer).not.toHaveProperty('env.NODE_OPTIONS');
      expect(answer).not.toHaveProperty('env.USER');
    } finally {
      await tool.kill();
    }
  });

  test('sends what it prints on the same stream', async () => {
    const tool = await open();
    const channel = await dial(tool);
    const said = { stdout: '', stderr: '' };
    tool.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
    tool.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
    await ask(tool, channel, 'log');
    await tool.kill();
    await expect.poll(() => said, { timeout: 20_000 }).toEqual({ stdout: 'on stdout\n', stderr: 'on stderr\n' });
  });

  test('is killed with its whole tree, a second kill does no harm, and exited resolves', async () => {
    const seconds = `7${process.pid}${Math.trunc(performance.now())}`;
    const tool = await open([seconds]);
    await ask(tool, await dial(tool), 'child');
    expect(processesWith(`sleep ${seconds}`)).toHaveLength(1);
    await Promise.all([tool.kill(), tool.kill()]);
    await tool.kill();
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
    expect(await tool.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('resolves exited on a crash, and its socket directory is removed', async () => {
    const tool = await open();
    const channel = await dial(tool);
    tool.stderr.resume();
    expect(statSync(tool.socketDir).mode & 0o777).toBe(0o700);
    channel.write('crash\n');
    expect(await tool.exited).toEqual({ code: 134, signal: null });
    expect(existsSync(tool.socketDir)).toBe(false);
    channel.destroy();
  });

  test('is killed by stop(), and a missing bundle is refused', async () => {
    const none = bench.sandbox.open(bench.policy(), {
      bundleDir: join(bench.base, 'no'),
      runtime: 'node',
      entry: 'x',
      args: [],
      env: {},
    });
    await expect(none).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    const other = await openBench(who);
    writeFileSync(join(other.base, 'main.mjs'), ECHO);
    mkdirSync(join(other.base, 'bundle'));
    writeFileSync(join(other.base, 'bundle', 'main.mjs'), ECHO);
    const tool = await other.sandbox.open(other.policy(), {
      bundleDir: join(other.base, 'bundle'),
      runtime: 'node',
      entry: 'main.mjs',
      args: [],
      env: {},
    });
    await ask(tool, await dial(tool), 'hello');
    await other.sandbox.stop();
    expect(await tool.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await other.close();
  });
});
