import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';

const O_CLOEXEC = 0o2000000;

/**
 * Descriptors that the daemon itself was started with (terminals and editors leak some) and that every child would
 * inherit, into the sandbox. What Node opens is closed on exec, so looking once is enough.
 */
export function findStrayFds(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && isInherited(fd))
    .sort((a, b) => a - b);
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'));
    return flags?.[1] !== undefined && (Number.parseInt(flags[1], 8) & O_CLOEXEC) === 0;
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

/** `stdio` with /dev/null in place of each stray descriptor, for the time of `spawn`. */
export function coverStrays<T>(
  stdio: readonly (number | 'pipe' | 'ignore')[],
  strays: readonly number[],
  spawn: (stdio: (number | 'pipe' | 'ignore')[]) => T,
): T {
  const uncovered = strays.filter((fd) => fd >= stdio.length);
  if (uncovered.length === 0) return spawn([...stdio]);
  const nothing = openSync('/dev/null', 'r');
  try {
    const all = [...stdio];
    for (const fd of uncovered) {
      while (all.length < fd) all.push('ignore');
      all.push(nothing);
    }
    return spawn(all);
  } finally {
    closeSync(nothing);
  }
}
