import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { reportingArgv, scriptFor, WAITING_SHELL } from '#src/sandbox/run/ready-pool.js';

const WORKSPACE = '/';
const command = (script: string, isClient: boolean) => ({
  argv: ['bash', '-c', script],
  cwd: '/usr',
  env: {},
  stdin: null,
  ...(isClient ? { clientShell: { isMerged: false } } : {}),
});

/** What a shell of a person's own says, `eval` or `-c`. */
function plain(script: string): string {
  return spawnSync('bash', ['-c', 'eval "$1"', 'bash', script], { cwd: '/usr', encoding: 'utf8' }).stderr;
}

async function waiting(script: string, isClient: boolean): Promise<string> {
  const [program = '', ...args] = WAITING_SHELL;
  const child = spawn(program, args, { cwd: WORKSPACE, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const [, , stderr, socket] = child.stdio;
  if (!(socket instanceof Duplex) || stderr === null) throw new Error('a stream is missing');
  await once(socket, 'data');
  socket.end(scriptFor(command(script, isClient), WORKSPACE));
  return text(stderr);
}

function started(script: string): string {
  const [program = '', ...args] = reportingArgv(command(script, true)) ?? [];
  const stdio = ['ignore', 'ignore', 'pipe', 'pipe'] as ('ignore' | 'pipe')[];
  return spawnSync(program, args, { cwd: '/usr', stdio, encoding: 'utf8' }).stderr;
}

it.each([
  'echo (a',
  'ls\n\nfi done',
  'if true; then\n  echo a\n',
  'echo "a\nb',
  "cat <<'E'\nx\nE\n) | cat",
  'no-such-program-here',
  'true\n\nno-such-program-here | cat',
  'f() {\n  no-such-program-here\n}\nf',
])('FR-4.1: messages of the shell about %j show the lines and the text of the command only', async (script) => {
  const said = plain(script);
  expect(said).not.toBe('');
  expect(await waiting(script, true)).toBe(said);
  expect(await waiting(script, false)).toBe(said);
  expect(started(script)).toBe(said);
});
