import { readFileSync, type StatsFs, statfsSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { TEMPORARY } from './policy.ts';

const TMPFS_MAGIC = 0x01021994;
/** What the kernel holds for each file of a tmpfs beside its content: an inode and a directory entry. */
const FILE_BYTES = 1024;
/** Share of the machine's memory below which no sandbox without a cgroup goes on. */
const RESERVE = 0.05;

/**
 * Bytes of the files in memory of the sandbox that `pid` runs in, deleted ones that are still open with them; null when
 * it is gone or not built yet.
 */
export function temporaryBytes(pid: number): number | null {
  let sum = 0;
  for (const { dest, sizeBytes } of TEMPORARY) {
    const found = statOf(`/proc/${pid}/root${dest}`);
    // Until bubblewrap has changed its root, these are directories of the host.
    if (found === null || found.type !== TMPFS_MAGIC || found.blocks * found.bsize !== sizeBytes) return null;
    sum += (found.blocks - found.bfree) * found.bsize + (found.files - found.ffree) * FILE_BYTES;
  }
  return sum;
}

/**
 * True when the machine has nearly no memory left, `meminfo` being the text of /proc/meminfo. The last resort: buffers of
 * pipes and sockets, and what else the kernel holds for a sandbox, is in no sum but this one.
 */
export function isMachineShort(meminfo: string = readFileSync('/proc/meminfo', 'latin1')): boolean {
  const amount = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1] ?? NaN);
  return amount('MemAvailable') + amount('SwapFree') < amount('MemTotal') * RESERVE;
}

function statOf(path: string): StatsFs | null {
  try {
    return statfsSync(path);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
