import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { ContextdError, isErrno } from '../../src/sdk/tool.ts';

/** What was there before the write. */
export interface Existing {
  /** Permission bits. */
  mode: number;
  /** Changes whenever the file is replaced or written. */
  identity: string;
}

/** Null when there is none. PATH_INVALID for what is no regular file. */
export async function findExistingFile(target: string, shown: string): Promise<Existing | null> {
  const stats = await statOrNull(target);
  if (stats === null) return null;
  if (!stats.isFile()) {
    throw new ContextdError(
      'PATH_INVALID',
      `${shown} is ${stats.isDirectory() ? 'a directory' : 'not a regular file'}`,
      {
        remedy: 'Name a file.',
        details: { path: shown },
      },
    );
  }
  return { mode: Number(stats.mode & 0o777n), identity: identityOf(stats) };
}

export async function isUnchanged(target: string, existing: Existing): Promise<boolean> {
  const stats = await statOrNull(target);
  return stats !== null && identityOf(stats) === existing.identity;
}

async function statOrNull(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return null;
    throw thrown;
  }
}

function identityOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs].join(':');
}
