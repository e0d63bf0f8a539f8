import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isErrno } from '../core/errors.ts';
import { reopenDirectory } from './file-access.ts';
import { toRaw } from './raw-path.ts';

const run = promisify(execFile);
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/*
 * The user inside may still hold directories of such a tree open, and exchange what is in them for links while root removes them. `rmSync`
 * and the program `rm` go through open directories; `rm` of node:fs/promises goes by path, and would remove files elsewhere.
 */

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
    await run('rm', ['-rf', '--', path], { env: ENVIRONMENT }).catch(() => removeTree(path));
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
}

function unlock(top: string): void {
  const open = [join(realpathSync(dirname(top)), basename(top))];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    // Follows no link: root must not change the mode of another directory.
    if (!reopenDirectory(toRaw(path))) continue;
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
