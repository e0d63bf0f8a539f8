import { join } from 'node:path';
import { readSmallFile } from '../../fs/file-access.ts';
import { toRaw } from '../../fs/raw-path.ts';

/** The scripts of a package in which managers of hooks, such as husky or lefthook, install them, the usual one first. */
const SCRIPTS = ['prepare', 'postinstall', 'install', 'preinstall'] as const;
const PACKAGE_MAX_BYTES = 1024 * 1024;

/** The script that installs hooks in the first of these directories that has a package.json; null if it has no such script. */
export function hookScriptIn(directories: readonly string[]): string | null {
  for (const directory of directories) {
    const text = readSmallFile(toRaw(join(directory, 'package.json')), PACKAGE_MAX_BYTES);
    if (text !== null) return scriptIn(text);
  }
  return null;
}

function scriptIn(text: string): string | null {
  try {
    const { scripts } = JSON.parse(text);
    return SCRIPTS.find((name) => typeof scripts?.[name] === 'string') ?? null;
  } catch {
    return null;
  }
}

export function howToInstallHooks(script: string | null): string {
  if (script === null) return 'A person can write hooks outside contextd. Commits of commands run them too.';
  return (
    `A person can install hooks outside contextd, such as with \`npm run ${script}\`. Commands leave that out: ` +
    '`npm install --ignore-scripts && npm rebuild`, or with husky `HUSKY=0 npm install`.'
  );
}
