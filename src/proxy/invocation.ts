import { realpathSync } from 'node:fs';
import { basename } from 'node:path';

/** How this program was called. */
export interface Invocation {
  /** As the caller wrote it: a path, or a bare name found through PATH. */
  calledAs: string;
  args: readonly string[];
  /** Real path of the program that runs. */
  program: string;
}

/**
 * The compiled binary has the true argv[0] in `process.argv0` and itself in `process.execPath`. The Node stand-in is
 * run by a launcher that hands over its own `$0`: for a script found through PATH the kernel makes that a path.
 */
export function readInvocation(launchedAs: string | undefined): Invocation {
  const args = process.argv.slice(2);
  if (process.versions.bun !== undefined) {
    return { calledAs: process.argv0, args, program: realpathSync(process.execPath) };
  }
  if (launchedAs === undefined) return { calledAs: SELF_NAME, args, program: realpathSync(process.argv[1] ?? '.') };
  return { calledAs: launchedAs, args, program: realpathSync(launchedAs) };
}

/** The name under which it is no tool. */
export const SELF_NAME = 'contextd-proxy';

/** The tool a caller asks for. */
export function nameOf(invocation: Invocation): string {
  return basename(invocation.calledAs);
}
