import type { RawPath } from '../../../fs/raw-path.ts';
import type { Uncovered } from '../../contract/snapshot-messages.ts';

/** What no snapshot holds. The path of a directory ends with a slash, and stands for all below it. */
export type UncoveredPaths = ReadonlyMap<RawPath, Uncovered['why']>;

/**
 * The entry of `uncovered` that holds this path: its own or that of a directory above it. A directory that cannot be read
 * still has a mode that can be.
 */
export function holderOf(uncovered: UncoveredPaths, path: RawPath, isDirectory: boolean): RawPath | null {
  if (uncovered.has(path)) return path;
  const own = isDirectory ? uncovered.get(`${path}/`) : undefined;
  if (own !== undefined && own !== 'cannot be read') return `${path}/`;
  return directoryAbove(uncovered, path);
}

/** The outermost directory above a path that is not covered. */
export function directoryAbove(uncovered: UncoveredPaths, path: RawPath): RawPath | null {
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
    const directory = path.slice(0, end + 1);
    if (uncovered.has(directory)) return directory;
  }
  return null;
}
