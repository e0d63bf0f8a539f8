import { lstatSync, realpathSync, statSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';

/**
 * Which directory is at a path: device, inode number and time of birth; '' if nothing is there. A directory that replaced
 * another has a different identity, even if it got the same inode number.
 */
export function directoryIdentity(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

/** A link may lead somewhere else inside the sandbox than outside. */
export function isRealDirectory(path: string): boolean {
  try {
    return realpathSync(path) === path && statSync(path).isDirectory();
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}
