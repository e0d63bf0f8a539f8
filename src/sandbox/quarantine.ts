import type { SetAside } from '../core/envelope.ts';

/** The files that a run made and that a program on the host would run or trust. */
export interface QuarantineReport {
  /** Sorted by path, at most 1,000. Includes what the background search found for earlier runs. */
  readonly quarantined: readonly SetAside[];
  /** False while the search goes on in the background, and if something was too much to be searched or reported. */
  readonly complete: boolean;
}

/** A set-aside path that still exists. */
export interface QuarantinedItem extends SetAside {
  /** Its path now, in the same form as `path`. */
  readonly moved: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: ContentKind;
  /** Bytes of a file, of a link's text, or of all files in a directory; null if they were not counted. */
  readonly sizeBytes: number | null;
  /** Of its current content; null if it has no hash. */
  readonly sha256: string | null;
  /** Why it has no hash; null if it has one. */
  readonly noHashBecause: string | null;
  /** The beginning of a text file, the names in a directory, or the text of a link; null for anything else. */
  readonly preview: string | null;
}

export type ContentKind = 'file' | 'directory' | 'link' | 'other';

/** Content that may stay if a run makes it at this path. */
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
