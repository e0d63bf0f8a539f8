import { dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { OwnedDirectory } from '../files/owned-directory.ts';
import type { Action } from './action.ts';

/** Throws PATH_INVALID before the first action if a directory that the actions change is not writable. */
export function checkWritable(root: OwnedDirectory, actions: readonly Action[]): void {
  const made = new Set(actions.filter((action) => action.kind === 'make_directory').map((action) => action.path));
  const changed = new Set(actions.map((action) => parentOf(action.path)));
  for (const directory of changed) if (!made.has(directory)) root.checkWritable(directory);
}

/** Carries the actions out. Throws PATH_INVALID with the path if the system refuses. */
export function applyActions(root: OwnedDirectory, actions: readonly Action[]): void {
  for (const action of actions) {
    try {
      apply(root, action);
    } catch (error) {
      if (!isErrno(error)) throw error;
      if (error.code === 'ENOSPC' || error.code === 'EDQUOT') throw ContextdError.from(error);
      throw new ContextdError('PATH_INVALID', `cannot write ${join(root.path, action.path)} (${error.code})`, {
        remedy: `Make it writable for ${root.writer} and run the same command again. It continues where it stopped.`,
        cause: error,
      });
    }
  }
}

function apply(root: OwnedDirectory, action: Action): void {
  switch (action.kind) {
    case 'make_directory':
      root.makeDirectory(action.path, 0o755);
      break;
    case 'write':
      root.write(action.path, action.text, action.mode);
      break;
    case 'link':
      root.link(action.path, action.target);
      break;
    case 'remove':
      root.remove(action.path);
      break;
    case 'remove_directory':
      root.removeDirectory(action.path);
  }
}

/** `''` for an entry of the root itself. */
function parentOf(path: string): string {
  return path.includes('/') ? dirname(path) : '';
}
