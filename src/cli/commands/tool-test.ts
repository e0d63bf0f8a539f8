import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';

/** How the tests of a tool are run. The first row whose file is in its folder counts. */
const RUNNERS: readonly { file: RegExp; named: string; command(context: CliContext): string[] }[] = [
  { file: /^test\.sh$/, named: 'test.sh', command: () => ['sh', 'test.sh'] },
  { file: /^go\.mod$/, named: 'go.mod', command: () => ['go', 'test', './...'] },
  { file: /^test.*\.py$/, named: 'test*.py', command: () => ['python3', '-B', '-m', 'unittest'] },
  { file: /\.test\.[cm]?[jt]s$/, named: '*.test.ts', command: nodeCommand },
];

/** contextd's Node runs TypeScript, and its SDK need not be installed. */
function nodeCommand({ paths }: CliContext): string[] {
  return [process.execPath, '--import', pathToFileURL(join(paths.sdkDir, 'register.js')).href, '--test'];
}

/** Runs code of the tool on this machine, as the author does; no other command does that. */
export const toolTest = defineCommand({
  name: ['tool', 'test'],
  summary: 'Run the tests of a tool that you write, on this machine and not in the sandbox.',
  parameters: [{ syntax: '[dir]', help: 'the folder of the tool (default: the current directory)' }],
  async run(context, args) {
    const dir = resolve(context.cwd, args.word(0) ?? '.');
    const [program = '', ...words] = await commandFor(dir, context);
    return { dir, command: [program, ...words].join(' '), exit_code: await runIn(dir, program, words, context) };
  },
  view: ({ command, exit_code: code }) => ({
    kind: 'lines',
    lines: [code === 0 ? `passed: ${command}` : `failed with exit status ${code}: ${command}`],
  }),
  exitCode: ({ exit_code: code }) => (code === 0 ? 0 : 1),
});

async function commandFor(dir: string, context: CliContext): Promise<string[]> {
  const names = await readdir(dir).catch((cause: unknown) => {
    if (!isErrno(cause)) throw cause;
    throw new ContextdError('PATH_NOT_FOUND', `${dir} cannot be read (${cause.code})`, {
      remedy: 'Name the folder of a tool.',
    });
  });
  const runner = RUNNERS.find(({ file }) => names.some((name) => file.test(name)));
  if (runner !== undefined) return runner.command(context);
  throw new ContextdError('NOT_FOUND', `there is no test in ${dir}`, {
    remedy: `Its name says how it is run: ${RUNNERS.map(({ named }) => named).join(', ')}.`,
  });
}

/** What the tests print goes to stderr, so that stdout has only the result. */
async function runIn(dir: string, program: string, words: string[], context: CliContext): Promise<number> {
  const child = spawn(program, words, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'], signal: context.signal });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(context.stderr, { end: false });
  try {
    const [code] = await once(child, 'close');
    return typeof code === 'number' ? code : 1;
  } catch (cause) {
    if (!isErrno(cause, 'ENOENT')) throw cause;
    throw new ContextdError('NOT_FOUND', `${program} is not installed`, { remedy: 'Install it.', cause });
  }
}
