import type { RawPath } from '../workspace/raw-path.ts';
import type { Entry, EntryKind, Listing } from './messages.ts';

type Fields = [RawPath, EntryKind, number, number, number, string, string, boolean];

/** One line of JSON for each path. */
export function formatListing(listing: Listing): string {
  const lines: string[] = [];
  for (const [path, { kind, mode, bytes, ctimeMs, target, id, isClosed }] of listing) {
    const fields: Fields = [path, kind, mode, bytes, ctimeMs, target, id, isClosed];
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
    const [path, kind, mode, bytes, ctimeMs, target, id, isClosed]: Fields = JSON.parse(line);
    listing.set(path, { kind, mode, bytes, ctimeMs, target, id, isClosed });
  }
  return listing;
}

/** Whether nothing was written to it between two listings. Of a directory only its mode counts. */
export function isSameEntry(a: Entry, b: Entry): boolean {
  if (a.kind !== b.kind || a.mode !== b.mode) return false;
  return a.kind === 'd' || (a.bytes === b.bytes && a.ctimeMs === b.ctimeMs && a.target === b.target);
}
