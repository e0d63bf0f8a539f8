import { constants } from 'node:fs';
import { access, lchown, lstat, mkdir, open, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Action } from './plan.ts';
import { inspect } from './tree.ts';

/** Throws PATH_INVALID before the first action if a directory that the actions change is not writable. */
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

/** The owner of new files: the owner of the project, even if root runs the command. */
interface Owner {
  uid: number;
  gid: number;
}

/**
 * Carries the actions out. Every file and link is created under a temporary name and renamed, so that no file is ever half
 * written. Throws PATH_INVALID with the path if the system refuses.
 */
export async function applyActions(root: string, actions: readonly Action[]): Promise<void> {
  const owner = await ownerToKeep(root);
  for (const action of actions) {
    try {
      await apply(root, action, owner);
    } catch (error) {
      if (error instanceof ContextdError || !isErrno(error)) throw error;
      if (error.code === 'ENOSPC' || error.code === 'EDQUOT') throw ContextdError.from(error);
      throw new ContextdError('PATH_INVALID', `cannot write ${join(root, action.path)} (${error.code})`, {
        remedy: 'Make it writable for this user and run the same command again. It continues where it stopped.',
        cause: error,
      });
    }
  }
}

async function apply(root: string, action: Action, owner: Owner | undefined): Promise<void> {
  // Looking again rejects a parent that has become a link since the plan was made.
  await inspect(root, action.path);
  const full = join(root, action.path);
  switch (action.kind) {
    case 'make_directory':
      await mkdir(full, { mode: 0o755 });
      return changeOwner(full, owner);
    case 'write':
      return createAndRename(full, owner, (temporary) => writeNew(temporary, action.text, action.mode));
    case 'link':
      return createAndRename(full, owner, (temporary) => symlink(action.target, temporary));
    case 'remove':
      return rm(full, { force: true });
    case 'remove_directory':
      return removeIfEmpty(full);
  }
}

async function createAndRename(
  full: string,
  owner: Owner | undefined,
  make: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = join(dirname(full), `.contextd-${process.pid}.tmp`);
  await rm(temporary, { force: true });
  try {
    await make(temporary);
    await changeOwner(temporary, owner);
    await rename(temporary, full);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeNew(path: string, text: string, mode: number): Promise<void> {
  const handle = await open(path, 'wx', mode);
  try {
    await handle.writeFile(text);
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}

async function removeIfEmpty(full: string): Promise<void> {
  try {
    await rmdir(full);
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
  }
}

async function ownerToKeep(root: string): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await lstat(root);
  return uid === 0 ? undefined : { uid, gid };
}

async function changeOwner(path: string, owner: Owner | undefined): Promise<void> {
  if (owner !== undefined) await lchown(path, owner.uid, owner.gid);
}
