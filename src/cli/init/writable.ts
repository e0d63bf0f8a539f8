import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Action } from './plan.ts';

/** Throws PATH_INVALID when a directory that the actions change may not be written: found out before the first one. */
export async function checkWritable(root: string, actions: readonly Action[]): Promise<void> {
  const made = new Set(actions.filter((action) => action.kind === 'make_directory').map((action) => action.path));
  const changed = new Set(actions.map((action) => dirname(action.path)));
  for (const directory of changed) if (!made.has(directory)) await checkDirectory(join(root, directory));
}

async function checkDirectory(directory: string): Promise<void> {
  try {
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new ContextdError('PATH_INVALID', `${directory} cannot be written (${error.code})`, {
      remedy: 'Make it writable for this user, then run this again. Nothing was changed.',
      cause: error,
      details: { path: directory },
    });
  }
}
