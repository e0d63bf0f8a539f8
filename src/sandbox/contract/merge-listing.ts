import type { RawPath } from '../../fs/raw-path.ts';
import type { Entry, EntryKind, Listing } from './merge-messages.ts';

type Fields = [RawPath, EntryKind, number, number, number, number, number, number, string, string, boolean];

/** Serializes a listing: one JSON array per line and path. */
export function formatListing(listing: Listing): string {
  const lines: string[] = [];
  for (const [path, one] of listing) {
    const { kind, mode, bytes, ctimeMs, mtimeMs, ino, links, target, id, isClosed } = one;
    const fields: Fields = [path, kind, mode, bytes, ctimeMs, mtimeMs, ino, links, target, id, isClosed];
    lines.push(JSON.stringify(fields));
  }
  return lines.join('\n');
}

/** Parses the output of `formatListing`. */
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
 * Whether an entry was not written between two listings of one workspace. Adding or removing a hard link changes the
 * ctime, so the ctime is ignored if the link count differs.
 */
export function isUntouched(a: Entry, b: Entry): boolean {
  if (a.kind !== 'f' || a.links === b.links) return isSameEntry(a, b);
  return isSameEntry({ ...a, ctimeMs: b.ctimeMs }, b) && a.ino === b.ino && a.mtimeMs === b.mtimeMs;
}

/** Whether two entries show the same, unchanged file. For a directory only the mode counts. */
export function isSameEntry(a: Entry, b: Entry): boolean {
  if (a.kind !== b.kind || a.mode !== b.mode) return false;
  return a.kind === 'd' || (a.bytes === b.bytes && a.ctimeMs === b.ctimeMs && a.target === b.target);
}
