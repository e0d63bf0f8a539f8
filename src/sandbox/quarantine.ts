import type { SetAside } from '../core/envelope.ts';

/** What a run left behind that would run on the host. */
export interface QuarantineReport {
  /** Sorted by path; what the background found for earlier runs is among them. At most 1,000. */
  readonly quarantined: readonly SetAside[];
  /** False while the search goes on in the background, and if something was left out because there was too much. */
  readonly complete: boolean;
}

/** Something set aside that still exists. */
export interface QuarantinedItem extends SetAside {
  /** Its name now, as `path` is written. */
  readonly moved: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: ContentKind;
  /** Bytes of a file or link text, of all files in a directory; null if they were not counted. */
  readonly sizeBytes: number | null;
  /** Of its content as it is now; null if it has no hash. */
  readonly sha256: string | null;
  /** Why it has no hash; null if it has one. */
  readonly noHashBecause: string | null;
  /** The beginning of a text file, the names in a directory, the text of a link; null for anything else. */
  readonly preview: string | null;
}

export type ContentKind = 'file' | 'directory' | 'link' | 'other';

/** Content that stays if a run makes it at this path. */
export interface AcceptedContent {
  /** Relative to the workspace. */
  readonly path: string;
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * What a person does with set-aside files. `which` is an id, the first eight or more digits of a SHA-256, or, for
 * `revoke`, a path.
 */
export type QuarantineAction =
  | { readonly kind: 'list'; readonly which: string | null }
  | { readonly kind: 'restore'; readonly which: string }
  | { readonly kind: 'accept'; readonly which: string; readonly sha256: string }
  | { readonly kind: 'revoke'; readonly which: string };

/** The items and acceptances that an action listed or changed. */
export interface QuarantineResult {
  readonly items: readonly QuarantinedItem[];
  readonly accepted: readonly AcceptedContent[];
}
