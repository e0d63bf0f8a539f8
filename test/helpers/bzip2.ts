import { execFileSync, spawnSync } from 'node:child_process';

/** Whether the program bzip2 is installed. */
export const hasBzip2 = spawnSync('bzip2', ['--help']).error === undefined;

/** What the program makes of some data. `level`: blocks of this many times 100,000 bytes. */
export function bzip2(plain: string | Uint8Array, level = 9): Buffer {
  return execFileSync('bzip2', ['-c', `-${level}`], { input: plain });
}
