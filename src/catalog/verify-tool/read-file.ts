import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { isErrno } from '../../core/errors.ts';
import type { Limit } from './limits.ts';

/** The text of a file with its size, why it cannot be had, or null when there is no such file. */
export type FileText = { text: string; bytes: number } | { fault: string } | null;

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Reads a plain file of UTF-8 within the limit, bytes. Nothing else is waited for or followed. */
export async function readPlainFile(path: string, limit: Limit): Promise<FileText> {
  try {
    // Opening a device may do something; a pipe would wait without O_NONBLOCK.
    const fault = faultOf(await lstat(path), limit);
    return fault === null ? await readOpened(path, limit) : { fault };
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return null;
    if (isErrno(thrown)) return { fault: `cannot be read (${thrown.code})` };
    throw thrown;
  }
}

async function readOpened(path: string, limit: Limit): Promise<FileText> {
  const file = await open(path, FLAGS);
  try {
    const fault = faultOf(await file.stat(), limit);
    return fault === null ? decoded(await readUpTo(file, limit.most + 1), limit) : { fault };
  } finally {
    await file.close();
  }
}

function faultOf(stats: Stats, limit: Limit): string | null {
  if (stats.isSymbolicLink()) return 'is a symbolic link';
  if (!stats.isFile()) return 'is not a plain file';
  return stats.size > limit.most ? tooLarge(stats.size, limit) : null;
}

/** The size is what was read: a file may grow, and some files of the system have no size. */
async function readUpTo(file: FileHandle, mostBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(mostBytes);
  let length = 0;
  while (length < mostBytes) {
    const { bytesRead } = await file.read(buffer, length, mostBytes - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function decoded(content: Buffer, limit: Limit): FileText {
  if (content.length > limit.most) return { fault: tooLarge(content.length, limit) };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    return { text, bytes: content.length };
  } catch {
    return { fault: 'is not UTF-8' };
  }
}

function tooLarge(size: number, limit: Limit): string {
  return `has ${size} ${limit.unit} or more, at most ${limit.most} are read`;
}
