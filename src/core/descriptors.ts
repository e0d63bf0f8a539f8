/** A flag of Linux that node:fs does not export: the descriptor only names the file, which need not be readable. */
export const O_PATH = 0o10000000;

/** The name of an open file in /proc. It leads to this file whatever happens to its path. */
export function fdPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}
