import { constants, type Stats } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isErrno } from '../../../core/errors.ts';

/** Bytes; a larger file is not one of credentials. */
const MAX_BYTES = 1024 * 1024;

/** The text, null when there is no such file, or why it was not read: the error's code, or what it is instead. */
export type SeedText = { text: string } | { skipped: string } | null;

/**
 * Reads a file of credentials as far as it is a plain file of at most 1 MiB; nothing else is waited for, so a named
 * pipe does not hold up a call. `inside`: the file may be nowhere but below this real path, links not followed.
 */
export async function readSeedFile(path: string, inside: string | null): Promise<SeedText> {
  try {
    // Opening a device may do something; a pipe would wait without O_NONBLOCK.
    const unfit = faultOf(await stat(path));
    if (unfit !== null) return { skipped: unfit };
    if (inside !== null && !(await isBelow(path, inside))) return { skipped: 'a link' };
    return await readOpened(path, inside === null ? 0 : constants.O_NOFOLLOW);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return null;
    if (isErrno(thrown)) return { skipped: thrown.code ?? 'unreadable' };
    throw thrown;
  }
}

async function readOpened(path: string, flags: number): Promise<SeedText> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | flags);
  try {
    const unfit = faultOf(await file.stat());
    if (unfit !== null) return { skipped: unfit };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return { text: buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, '') };
  } finally {
    await file.close();
  }
}

function faultOf(stats: Stats): string | null {
  if (!stats.isFile()) return 'not a regular file';
  return stats.size > MAX_BYTES ? `larger than ${MAX_BYTES} bytes` : null;
}

async function isBelow(path: string, inside: string): Promise<boolean> {
  const dir = await realpath(dirname(path));
  return dir === dirname(path) && (dir === inside || dir.startsWith(`${inside}/`));
}
