import { cp, link, readdir } from 'node:fs/promises';
import { isErrno } from '../core/errors.ts';

/** False if it is gone. The files of a state that are linked are never changed, only replaced. */
export async function linkOrCopy(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    if (!isErrno(error, 'EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP')) throw error;
    return copyIfThere(from, to);
  }
}

/** False if it is gone. */
export async function copyIfThere(from: string, to: string): Promise<boolean> {
  try {
    await cp(from, to);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Sorted. Empty if there is no such directory. */
export async function namesIn(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort();
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}
