import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isProgramName } from '../../catalog/reserved-names.ts';
import { TOOL_NAME_PATTERN } from '../../catalog/tool-name.ts';
import { ContextdError } from '../../core/errors.ts';
import { LOCK_FILE, parseLock } from '../../install/lock-file.ts';
import { hasMark, isMarked } from './content-hash.ts';
import { TOOLS_DIR, toolFilePaths } from './layout.ts';
import { inspect } from './tree.ts';

/**
 * The tools that the files of a project name, sorted: by a folder with contextd's mark, or in the lock file. A colleague
 * may have committed them, so this machine need not have them.
 */
export async function namedTools(root: string): Promise<string[]> {
  const names = [...(await markedFolders(root)), ...(await lockedNames(root))];
  // No tool can have the name of a usual program, so entries for it are a person's.
  return [...new Set(names)].filter((name) => !isProgramName(name)).sort();
}

/** The tools whose folder has contextd's mark, even if a person changed a file of it since. */
export async function markedFolders(root: string): Promise<string[]> {
  if ((await orMissing(inspect(root, TOOLS_DIR))).kind !== 'directory') return [];
  const names = (await readdir(join(root, TOOLS_DIR))).filter((name) => TOOL_NAME_PATTERN.test(name));
  const marked: string[] = [];
  for (const name of names) {
    const found = await orMissing(inspect(root, toolFilePaths(name).extended));
    if (found.kind === 'file' && hasMark(found.text)) marked.push(name);
  }
  return marked;
}

/** Returns true if contextd wrote the three files of the tool and nobody has changed them. */
export async function isOurTool(root: string, name: string): Promise<boolean> {
  const { schema, brief, extended } = toolFilePaths(name);
  const [first, second, third] = await Promise.all([
    inspect(root, extended),
    inspect(root, schema),
    inspect(root, brief),
  ]);
  if (first.kind !== 'file' || second.kind !== 'file' || third.kind !== 'file') return false;
  return isMarked(first.text, [second.text, third.text]);
}

/** A lock file that cannot be read names nothing here; the commands that use it say what is wrong. */
async function lockedNames(root: string): Promise<string[]> {
  const found = await orMissing(inspect(root, LOCK_FILE));
  if (found.kind !== 'file') return [];
  try {
    return parseLock(found.text).map(({ name }) => name);
  } catch (thrown) {
    if (thrown instanceof ContextdError) return [];
    throw thrown;
  }
}

async function orMissing<Found extends { kind: string }>(look: Promise<Found>): Promise<Found | { kind: 'missing' }> {
  try {
    return await look;
  } catch (thrown) {
    if (thrown instanceof ContextdError) return { kind: 'missing' };
    throw thrown;
  }
}
