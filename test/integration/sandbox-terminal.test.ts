import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onTerminal } from '#src/sandbox/jail/pseudo-terminal.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

describe.each(usualWho())('a command on a terminal, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
  });
  afterAll(() => bench.close());

  const run = (script: string, stdin: string | null = null) =>
    bench.bash(script, { terminal: true, stdin: stdin === null ? null : Buffer.from(stdin) });

  test('has a terminal as input, output and error, and ends with its own status', async () => {
    const ran = await run(
      `test -t 0 && test -t 1 && test -t 2 && stty size; printf '\\033[31mred\\033[0m\\n' >&2; echo "it's \\"$TERM\\""; exit 3`,
    );
    expect(ran).toMatchObject({ exitCode: 3, endedBy: 'exit', err: '' });
    expect(ran.out).toBe('40 120\nred\nit\'s "xterm-256color"\n');
  });

  test('gets its input when it asks, also if it throws away what was typed before', async () => {
    const script = `python3 -c 'import getpass, time; time.sleep(0.5); print("got", getpass.getpass())'`;
    expect((await run(script, 'word\n')).out).toMatch(/^Password: \ngot word\n$/);
  });

  test('gets Ctrl-D when it asks for more than the call gave', async () => {
    const ran = await run('cat; read more || echo "no more"', 'one\ntwo');
    expect(ran).toMatchObject({ exitCode: 0, endedBy: 'exit' });
    expect(ran.out).toContain('no more');
  });
});

test('a command on a terminal says what to install if there is no program that makes terminals', () => {
  const [, ...args] = onTerminal(['echo', 'never']);
  const ran = spawnSync('/bin/bash', args, { env: { PATH: '/nowhere' }, encoding: 'utf8' });
  expect(ran).toMatchObject({ status: 127, stdout: '', stderr: expect.stringContaining('Install util-linux') });
});

describe('a command that nobody can answer', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(...usualWho());
  });
  afterAll(() => bench.close());

  test('is ended long before its time and named, if only input could make it go on', async () => {
    const script = 'stty -icanon -isig; exec dd bs=1 count=100 of=/dev/null';
    const ran = await bench.bash(script, { terminal: true, timeoutMs: 60_000 });
    expect(ran).toMatchObject({ endedBy: 'input', activity: { kind: 'input', isStuck: true } });
    expect(ran.activity?.text).toBe('dd waits for input on its terminal');
  });

  test.each([
    ['while :; do :; done', 'busy', /^bash computes; the command has used [\d.]+ s of processor time$/],
    ['sleep 60', 'other', /^sleep sleeps$/],
    [
      'flock f sleep 60 & until ! flock -n f true; do :; done; exec flock f true',
      'lock',
      /flock waits for the lock on .*\/f$/,
    ],
    [
      `python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 8123)); s.accept()'`,
      'listening',
      /^python3 waits for a connection to its port 8123$/,
    ],
    [
      `python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 8124)); socket.create_connection(("127.0.0.1", 8124)).recv(1)'`,
      'network',
      /^python3 waits for data from the network \(127\.0\.0\.1:8124\)$/,
    ],
    [
      `python3 -c 'import ctypes, os; c = ctypes.CDLL(None); f = c.inotify_init1(0); c.inotify_add_watch(f, b".", 2); os.read(f, 99)'`,
      'watching',
      /^python3 waits for changes of files$/,
    ],
    ['mkfifo q; cat q', 'other', /^cat waits for data from a pipe$/],
  ])('is killed at its time, and the result says what it did: %s', async (script, kind, text) => {
    const ran = await bench.bash(script, { timeoutMs: 1_500 });
    expect(ran).toMatchObject({ endedBy: 'timeout', activity: { kind, needsInput: false } });
    expect(ran.activity?.text).toMatch(text);
  });

  test('does not count as waiting for input while another process of it works', async () => {
    const ran = await bench.bash('sleep 60 & exec cat', { terminal: true, timeoutMs: 6_000 });
    expect(ran).toMatchObject({ endedBy: 'timeout' });
  });
});
