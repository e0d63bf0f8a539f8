import { lstatSync } from 'node:fs';

/**
 * Which directory stands at a path: device, inode number and time of birth; '' if nothing stands there. A directory that took
 * the place of another has another identity, also where its inode number is used again.
 */
export function directoryIdentity(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

/** True if a file with these numbers is the directory of that identity. */
export function isDirectoryOf(identity: string, { dev, ino }: { dev: number; ino: number }): boolean {
  const numbers = identity.split(':');
  return Number(numbers[0]) === dev && Number(numbers[1]) === ino;
}
