import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';

/**
 * Removes a directory that a sandbox could write, when nothing of the sandbox is alive any more: a command may have left
 * directories that their owner cannot open. Throws what the file system says if something cannot be removed even so.
 */
export function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    unlock(path);
    rmSync(path, { recursive: true, force: true });
  }
}

/** The same, away from the thread: a command may have left any number of files. What stays is removed at the next start. */
export async function removeTreeInBackground(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true }).catch(() => removeTree(path));
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
}

function unlock(top: string): void {
  const open = [top];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) continue;
    chmodSync(path, 0o700);
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) open.push(join(path, entry.name));
    }
  }
}

/** What a command left must not keep the next daemon from starting. */
export function setAsideOrRemove(dir: string): void {
  try {
    removeTree(dir);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    renameSync(dir, `${dir}.left-${randomBytes(4).toString('hex')}`);
  }
}
