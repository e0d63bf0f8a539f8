import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxProcess } from '#src/sandbox/sandbox.js';
import { type Bench, openBench, processesWith, whoCanRun } from '../fixtures/sandbox-harness.ts';

/** A tool process: answers each line on descriptor 3 with what it sees. */
const ECHO = `
import { Socket } from 'node:net';
import { readFileSync, readdirSync, existsSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
const channel = new Socket({ fd: 3, readable: true, writable: true });
channel.on('data', (chunk) => {
  const word = chunk.toString().trim();
  if (word === 'crash') process.abort();
  if (word === 'child') { spawn('sleep', [process.argv[2]], { detached: true, stdio: 'ignore' }); channel.write('spawned\\n'); return; }
  if (word === 'log') { console.log('on stdout'); console.error('on stderr'); }
  let bundle = 'writable';
  try { writeFileSync('/opt/contextd/bundle/x', ''); } catch (cause) { bundle = cause.code; }
  channel.write(JSON.stringify({ word, env: process.env, cwd: process.cwd(), node: process.version, args: process.argv.slice(2), bundle, pids: readdirSync('/proc').filter((n) => /^\\d+$/.test(n)).length }) + '\\n');
});
`;

describe.each(whoCanRun())('a tool process, %s', (who) => {
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
    bench.sandbox.open(bench.policy(), { bundleDir, entry: 'main.mjs', args, env: { TOOL: 'yes' } });
  /** The next answer; a process that ended first is a failure, not a wait. */
  const ask = (tool: SandboxProcess, word: string): Promise<string> => {
    tool.channel.write(`${word}\n`);
    return new Promise((resolve, reject) => {
      tool.channel.once('data', (chunk: Buffer) => resolve(chunk.toString()));
      tool.exited.then((exit) => reject(new Error(`the tool process ended: ${JSON.stringify(exit)}`)));
    });
  };

  test('SEC-2.1 runs Node of this installation from a read-only bundle and talks over descriptor 3', async () => {
    const tool = await open(['one']);
    try {
      const answer: unknown = JSON.parse(await ask(tool, 'hello'));
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

  test('what it prints comes on stderr', async () => {
    const tool = await open();
    const said: Buffer[] = [];
    tool.stderr.on('data', (chunk: Buffer) => said.push(chunk));
    await ask(tool, 'log');
    await expect.poll(() => Buffer.concat(said).toString(), { timeout: 20_000 }).toContain('on stderr');
    expect(Buffer.concat(said).toString()).toContain('on stdout');
    await tool.kill();
  });

  test('kill ends the whole tree, twice does no harm, and exited tells', async () => {
    const seconds = `7${process.pid}${Math.trunc(performance.now())}`;
    const tool = await open([seconds]);
    await ask(tool, 'child');
    expect(processesWith(`sleep ${seconds}`)).toHaveLength(1);
    await Promise.all([tool.kill(), tool.kill()]);
    await tool.kill();
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
    expect(await tool.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('a crash settles exited and closes the channel', async () => {
    const tool = await open();
    tool.stderr.resume();
    const closed = new Promise((resolve) => tool.channel.once('close', resolve));
    tool.channel.resume();
    tool.channel.write('crash\n');
    expect(await tool.exited).toEqual({ code: 134, signal: null });
    await closed;
  });

  test('stop() kills tool processes; a bundle that is not there is refused', async () => {
    const none = bench.sandbox.open(bench.policy(), {
      bundleDir: join(bench.base, 'no'),
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
      entry: 'main.mjs',
      args: [],
      env: {},
    });
    await ask(tool, 'hello');
    await other.sandbox.stop();
    expect(await tool.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await other.close();
  });
});
