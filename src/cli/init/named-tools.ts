import { isProgramName } from '../../catalog/reserved-names.ts';
import { TOOL_NAME_PATTERN } from '../../catalog/tool-name.ts';
import { ContextdError } from '../../core/errors.ts';
import { LOCK_FILE, parseLock } from '../../install/lock-file.ts';
import type { Found, OwnedDirectory } from '../files/owned-directory.ts';
import { hasMark, isMarked } from './content-hash.ts';
import { TOOLS_DIR, toolFilePaths } from './layout.ts';

/**
 * The tools that the files of a project name, sorted: by a folder with contextd's mark, or in the lock file. A colleague
 * may have committed them, so this machine need not have them.
 */
export function namedTools(root: OwnedDirectory): string[] {
  const names = [...markedFolders(root), ...lockedNames(root)];
  // No tool can have the name of a usual program, so entries for it are a person's.
  return [...new Set(names)].filter((name) => !isProgramName(name)).sort();
}

/** The tools whose folder has contextd's mark, even if a person changed a file of it since. */
export function markedFolders(root: OwnedDirectory): string[] {
  const names = foldersIn(root).filter((name) => TOOL_NAME_PATTERN.test(name));
  const marked: string[] = [];
  for (const name of names) {
    const found = orMissing(() => root.inspect(toolFilePaths(name).extended));
    if (found.kind === 'file' && hasMark(found.text)) marked.push(name);
  }
  return marked;
}

/** Returns true if contextd wrote the three files of the tool and nobody has changed them. */
export function isOurTool(root: OwnedDirectory, name: string): boolean {
  const { schema, brief, extended } = toolFilePaths(name);
  const [first, second, third] = [root.inspect(extended), root.inspect(schema), root.inspect(brief)];
  if (first.kind !== 'file' || second.kind !== 'file' || third.kind !== 'file') return false;
  return isMarked(first.text, [second.text, third.text]);
}

/** A lock file that cannot be read names nothing here; the commands that use it say what is wrong. */
function lockedNames(root: OwnedDirectory): string[] {
  const found = orMissing(() => root.inspect(LOCK_FILE));
  if (found.kind !== 'file') return [];
  try {
    return parseLock(found.text).map(({ name }) => name);
  } catch (thrown) {
    if (thrown instanceof ContextdError) return [];
    throw thrown;
  }
}

function foldersIn(root: OwnedDirectory): string[] {
  try {
    return root.entries(TOOLS_DIR).map(({ name }) => name);
  } catch (thrown) {
    if (thrown instanceof ContextdError) return [];
    throw thrown;
  }
}

function orMissing(look: () => Found): Found {
  try {
    return look();
  } catch (thrown) {
    if (thrown instanceof ContextdError) return { kind: 'missing' };
    throw thrown;
  }
}
