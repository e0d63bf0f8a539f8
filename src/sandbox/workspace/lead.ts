import { isErrno } from '../../core/errors.ts';
import { linkTextAt, statAt } from './inode.ts';
import { parentOf, type RawPath } from './raw-path.ts';

/** As many as the kernel follows. */
const LINKS_MAX = 40;

/** Where a path leads at this moment. */
export interface Lead {
  /** No link in it. What does not exist yet is named as if it did. */
  readonly target: RawPath;
  readonly exists: boolean;
  /** The symbolic links on the way, in order. */
  readonly links: readonly RawPath[];
}

/**
 * Follows `text` from the directory `base`, the way the kernel does: a link is followed before the `..` behind it. Null
 * for a loop of links.
 */
export function follow(base: RawPath, text: string): Lead | null {
  const links: RawPath[] = [];
  const rest = text.split('/').reverse();
  if (!text.startsWith('/')) rest.push(...base.split('/').reverse());
  let here: RawPath = '';
  let exists = true;
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      here = parentOf(here);
      continue;
    }
    const path = `${here}/${name}`;
    const link: { text: string | null } | null = exists ? linkAt(path) : null;
    if (link === null || link.text === null) {
      exists &&= link !== null;
      here = path;
      continue;
    }
    links.push(path);
    if (links.length > LINKS_MAX) return null;
    if (link.text.startsWith('/')) here = '';
    rest.push(...link.text.split('/').reverse());
  }
  return { target: here === '' ? '/' : here, exists, links };
}

/** Null if nothing is there, or nothing that can be looked at. */
function linkAt(path: RawPath): { text: string | null } | null {
  try {
    const stats = statAt(path);
    if (stats === null) return null;
    return { text: stats.isSymbolicLink() ? linkTextAt(path) : null };
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
