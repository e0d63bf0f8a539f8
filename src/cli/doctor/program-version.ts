import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isJsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';

const run = promisify(execFile);
/** A client of 200 MB takes five seconds on a machine with much to do. One that is too late would be left out of a proof. */
const VERSION_MS = 20_000;

/** What a program answers to `--version`: its first line, or what it printed when it failed. */
export interface ProgramAnswer {
  /** Undefined if the program does not run. */
  readonly version: string | undefined;
  /** '' if it ran, or printed nothing. */
  readonly error: string;
}

/** The first line of `--version`, or undefined if the program does not run. */
export async function versionOf(context: CliContext, program: string): Promise<string | undefined> {
  return (await askVersion(context, program)).version;
}

export async function askVersion(context: CliContext, program: string): Promise<ProgramAnswer> {
  try {
    const { stdout } = await run(program, ['--version'], {
      cwd: '/',
      timeout: VERSION_MS,
      env: { PATH: context.env.path, HOME: context.env.home },
    });
    return { version: firstLine(stdout), error: '' };
  } catch (error) {
    if (error instanceof Error)
      return { version: undefined, error: 'stdout' in error ? reasonIn(String(error.stdout)) : '' };
    throw error;
  }
}

/** The error of an answer of contextd; '' if the text is no such answer. */
function reasonIn(stdout: string): string {
  try {
    const answer: unknown = JSON.parse(stdout);
    return isJsonObject(answer) && typeof answer.error === 'string' ? answer.error : '';
  } catch {
    return '';
  }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
