import type { RawPath } from '../workspace/raw-path.ts';
import type { Entry, EntryKind, Listing } from './messages.ts';

type Fields = [RawPath, EntryKind, number, number, number, number, number, number, string, string, boolean];

/** One line of JSON for each path. */
export function formatListing(listing: Listing): string {
  const lines: string[] = [];
  for (const [path, one] of listing) {
    const { kind, mode, bytes, ctimeMs, mtimeMs, ino, links, target, id, isClosed } = one;
    const fields: Fields = [path, kind, mode, bytes, ctimeMs, mtimeMs, ino, links, target, id, isClosed];
    lines.push(JSON.stringify(fields));
  }
  return lines.join('\n');
}

/** Reads what `formatListing` wrote. */
export function parseListing(text: string): Listing {
  const listing = new Map<RawPath, Entry>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    // Written by our own program, in a directory that only the daemon's user can enter.
    const fields: Fields = JSON.parse(line);
    const [path, kind, mode, bytes, ctimeMs, mtimeMs, ino, links, target, id, isClosed] = fields;
    listing.set(path, { kind, mode, bytes, ctimeMs, mtimeMs, ino, links, target, id, isClosed });
  }
  return listing;
}

/**
 * Whether nothing was written to it between two listings of one workspace. A file that got or lost another name has a new
 * ctime too.
 */
export function isUntouched(a: Entry, b: Entry): boolean {
  if (a.kind !== 'f' || a.links === b.links) return isSameEntry(a, b);
  return isSameEntry({ ...a, ctimeMs: b.ctimeMs }, b) && a.ino === b.ino && a.mtimeMs === b.mtimeMs;
}

/** Whether a listing shows the very file of another, unchanged. Of a directory only its mode counts. */
export function isSameEntry(a: Entry, b: Entry): boolean {
  if (a.kind !== b.kind || a.mode !== b.mode) return false;
  return a.kind === 'd' || (a.bytes === b.bytes && a.ctimeMs === b.ctimeMs && a.target === b.target);
}
