import { lstatSync } from 'node:fs';
import type { Denial } from '../../core/envelope.ts';
import { isErrno } from '../../core/errors.ts';
import { type RawPath, toRaw, toSystem, toText } from '../../fs/raw-path.ts';
import { fileTooLarge } from '../../sandbox/contract/file-size.ts';

/** At most this many are named: more examples teach nothing. */
const NAMED_MAX = 3;
/** Changed paths that are looked at. */
const LOOKED_AT_MAX = 2_000;

/**
 * Files that a call wrote up to the limit of one file, where the kernel cut them. A program behind a pipe, or one that hides
 * the error, is found by this alone.
 */
export function findCutFiles(project: string, changed: readonly RawPath[], maxBytes: number): Denial[] {
  return changed
    .slice(0, LOOKED_AT_MAX)
    .map((path): RawPath => `${toRaw(project)}/${path}`)
    .filter((path) => sizeOf(path) === maxBytes)
    .slice(0, NAMED_MAX)
    .map((path) => fileTooLarge(maxBytes, toText(path)));
}

/** Null for everything but a file. */
function sizeOf(path: RawPath): number | null {
  try {
    const stats = lstatSync(toSystem(path));
    return stats.isFile() ? stats.size : null;
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
