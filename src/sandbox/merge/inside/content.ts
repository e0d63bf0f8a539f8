import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { RawPath } from '../../../fs/raw-path.ts';
import type { FileState } from '../../contract/snapshot-messages.ts';
import { systemPath } from './place.ts';

const CHUNK_BYTES = 1024 * 1024;

/** The id that git gives to the content of a file. Null if it is no file, cannot be read or changes meanwhile. */
export function contentOf(root: RawPath, path: RawPath): string | null {
  return stateOfFile(root, path)?.split(' ')[1] ?? null;
}

/** As `FileState`; null as `contentOf`. Follows no link. */
export function stateOfFile(root: RawPath, path: RawPath): FileState | null {
  let fd: number;
  try {
    fd = openSync(systemPath(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return null;
    const hash = createHash('sha1').update(`blob ${stats.size}\0`);
    const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK_BYTES, stats.size)));
    let bytes = 0;
    for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
      hash.update(chunk.subarray(0, read));
      bytes += read;
    }
    return bytes === stats.size ? `f${(stats.mode & 0o777).toString(8)} ${hash.digest('hex')}` : null;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
