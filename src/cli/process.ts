import { ContextdError } from '../core/errors.ts';
import { createContext } from './context.ts';
import { runCli } from './program.ts';
import { exitCodeFor, renderError } from './render.ts';

/** Runs the command line of this process and sets its exit code. */
export async function runProcess(): Promise<void> {
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interruption.abort());
  // A reader that closes the pipe early, such as `head`, is not an error.
  process.stdout.on('error', () => {});

  try {
    const context = createContext(process, currentDirectory(), interruption.signal);
    process.exitCode = await runCli(process.argv.slice(2), context);
  } catch (thrown) {
    const error = ContextdError.from(thrown);
    process.stderr.write(renderError(error));
    process.exitCode = exitCodeFor(error);
  }
}

/** A shell whose directory was deleted and created again is in the deleted one, which has no path. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new ContextdError('PATH_NOT_FOUND', 'the current directory was removed, or another took its place', {
      remedy: 'Enter it again (cd "$PWD"), then repeat the command.',
      cause,
    });
  }
}
