import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { openFile } from '../fs/file-access.ts';
import { type RawPath, toRaw, toText } from '../fs/raw-path.ts';
import { readDirectory } from '../fs/read-directory.ts';

const CHUNK_BYTES = 1024 * 1024;

/** `refused`: it is no regular file of the owner, or too large. */
export type Copied = 'copied' | 'gone' | 'refused';

/**
 * Copies a file from a directory that its owner can change at any moment: no link anywhere in the path is followed, no pipe is waited
 * for, and only a regular file of the owner is read, as far as it was when it was opened. `from` has no link in it. A link to
 * the file would not do: the owner could go on writing.
 */
export function copyOwned(from: string, to: string, uid: number, maxBytes: number): Copied {
  const fd = openFile(toRaw(from));
  if (fd === null) return 'gone';
  try {
    const stats = fstatSync(fd);
    if (stats.uid !== uid || stats.size > maxBytes) return 'refused';
    copyBytes(fd, to, stats.size);
    return 'copied';
  } finally {
    closeSync(fd);
  }
}

function copyBytes(from: number, to: string, size: number): void {
  const target = openSync(to, 'wx', 0o600);
  try {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size));
    for (let done = 0; done < size; ) {
      const read = readSync(from, chunk, 0, Math.min(chunk.length, size - done), done);
      if (read === 0) return;
      for (let written = 0; written < read; ) written += writeSync(target, chunk, written, read - written);
      done += read;
    }
  } finally {
    closeSync(target);
  }
}

/** The names in such a directory, sorted. Empty if it is no directory. */
export function namesInOwned(dir: string): string[] {
  const names: RawPath[] = [];
  readDirectory(toRaw(dir), ({ name }) => void names.push(name));
  return names.map(toText).sort();
}
