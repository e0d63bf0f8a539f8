import { constants, getPriority, setPriority } from 'node:os';
import { isErrno } from './errors.ts';

/**
 * Niceness of a thread that searches above that of its process. On busy processors the threads of event loops, which all calls wait for, come
 * first: beside 16 calls with long outputs the daemon's was late by more than 20 ms half as often (decision 0157).
 */
const NICENESS = 5;

/** Lets the threads of event loops go before this one. Linux alone has a niceness of threads (setpriority(2), NOTES). */
export function letOthersGoFirst(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + NICENESS, constants.priority.PRIORITY_LOW));
  } catch (thrown) {
    // A sandbox may forbid it.
    if (!isErrno(thrown, 'EPERM', 'EACCES', 'ENOSYS')) throw thrown;
  }
}
