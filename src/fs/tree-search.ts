import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../core/clock.ts';
import { isErrno } from '../core/errors.ts';
import { earliestFileTime, mayChangeUnseen } from './file-time.ts';

/** What is searched for. Paths are relative to the tree. */
export interface Wanted {
  /** Whether to read a directory. `depth`: 1 directly below the tree. */
  enters(path: string, name: string, depth: number): boolean;
  finds(path: string, name: string, kind: 'file' | 'dir'): boolean;
}

export interface FoundPath {
  /** Absolute. */
  readonly path: string;
  readonly kind: 'file' | 'dir';
}

interface Listing {
  /** Device, inode and ctime when it was read. */
  readonly stamp: string;
  readonly found: readonly FoundPath[];
  /** The directories in it that are read too, relative to the tree. */
  readonly below: readonly string[];
}

/**
 * Finds paths in trees again and again. A directory is read again only if it has changed, so a later search costs one lstat
 * for each directory. Follows no link, and does not enter what it has found.
 */
export class TreeSearch {
  readonly #wanted: Wanted;
  readonly #directoriesMax: number;
  #listings = new Map<string, Listing>();

  /** `directoriesMax`: the most directories that one search reads. */
  constructor(wanted: Wanted, directoriesMax = Number.POSITIVE_INFINITY) {
    this.#wanted = wanted;
    this.#directoriesMax = directoriesMax;
  }

  /** Sorted by path. */
  find(trees: readonly string[]): FoundPath[] {
    const listings = new Map<string, Listing>();
    const found: FoundPath[] = [];
    const queue = trees.map((tree) => ({ tree, path: '', depth: 0 }));
    for (let i = 0; i < queue.length && i < this.#directoriesMax; i++) {
      const { tree, path, depth } = queue[i] ?? { tree: '', path: '', depth: 0 };
      const listing = this.#list(tree, path, depth);
      if (listing === null) continue;
      listings.set(join(tree, path), listing);
      found.push(...listing.found);
      for (const below of listing.below) queue.push({ tree, path: below, depth: depth + 1 });
    }
    this.#listings = listings;
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Null if it is no directory. */
  #list(tree: string, path: string, depth: number): Listing | null {
    const readAtMs = earliestFileTime(systemClock);
    const dir = join(tree, path);
    const stats = lstatSync(dir, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) return null;
    const stamp = `${stats.dev}:${stats.ino}:${stats.ctimeMs}`;
    const known = this.#listings.get(dir);
    if (known?.stamp === stamp) return known;
    const isSettled = !mayChangeUnseen(stats.ctimeMs, readAtMs);
    return { ...this.#read(tree, path, depth), stamp: isSettled ? stamp : '' };
  }

  #read(tree: string, path: string, depth: number): Omit<Listing, 'stamp'> {
    const found: FoundPath[] = [];
    const below: string[] = [];
    for (const entry of entriesOf(join(tree, path))) {
      const kind = entry.isDirectory() ? 'dir' : entry.isFile() ? 'file' : null;
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (kind === null) continue;
      if (this.#wanted.finds(inner, entry.name, kind)) found.push({ path: join(tree, inner), kind });
      else if (kind === 'dir' && this.#wanted.enters(inner, entry.name, depth + 1)) below.push(inner);
    }
    return { found, below };
  }
}

function entriesOf(dir: string) {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch (cause) {
    if (isErrno(cause)) return [];
    throw cause;
  }
}
