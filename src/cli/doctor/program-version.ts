import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { CliContext } from '../context.ts';

const run = promisify(execFile);
const VERSION_MS = 5_000;

/** The first line of `--version`, or undefined if the program does not run. */
export async function versionOf(context: CliContext, program: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, ['--version'], {
      cwd: '/',
      timeout: VERSION_MS,
      env: { PATH: context.env.path, HOME: context.env.home },
    });
    return stdout.trim().split('\n')[0] ?? '';
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}
