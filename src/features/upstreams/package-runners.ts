import { basename } from 'node:path';

/** Programs that download the package that they run, and the group of hosts that they download from. */
const RUNNERS: Readonly<Record<string, string>> = { npx: 'npm', bunx: 'npm', pnpx: 'npm', uvx: 'pypi', pipx: 'pypi' };

/** The package runner in a command, also one that a shell starts; null if it has no package runner. */
export function packageRunner(command: readonly string[]): { readonly program: string; readonly group: string } | null {
  const words = command.flatMap((word) => word.split(/\s+/)).map((word) => basename(word));
  const program = words.find((word) => Object.hasOwn(RUNNERS, word));
  return program === undefined ? null : { program, group: RUNNERS[program] ?? '' };
}
