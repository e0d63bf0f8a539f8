import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { SetAside } from '../../core/envelope.ts';

/** Files of a run that a program on the host would run or trust. */
export interface QuarantineReport {
  /** Sorted by path, at most 1,000. Includes finds of the background search for earlier runs. */
  readonly quarantined: readonly SetAside[];
  /** False while the search continues in the background, or if there was too much to search or report. */
  readonly complete: boolean;
}

/** A quarantined path that still exists. */
export interface QuarantinedItem extends SetAside {
  /** Current path: absolute if in contextd's own directories, otherwise in the same form as `path`. */
  readonly moved: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly kind: ContentKind;
  /** Bytes of a file, of a link's text, or of all files in a directory; null if they were not counted. */
  readonly sizeBytes: number | null;
  /** Hash of the current content; null if it was not hashed. */
  readonly sha256: string | null;
  /** Why there is no hash; null if there is one. */
  readonly noHashBecause: string | null;
  /** Start of a text file, names in a directory, or text of a link; null for anything else. */
  readonly preview: string | null;
}

export type ContentKind = 'file' | 'directory' | 'link' | 'other';

/** Content that a run may create at this path. */
export interface AcceptedContent {
  /** Relative to the workspace. */
  readonly path: string;
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * A person's action on quarantined files. `which`: an id, the first eight or more digits of a SHA-256, or, for
 * `revoke`, a path. `restore` restores only content that the last list showed, or the original if it was not listed
 * since. `isShown`: false if no person sees the list; default true.
 */
export type QuarantineAction =
  | { readonly kind: 'list'; readonly which: string | null; readonly isShown?: boolean }
  | { readonly kind: 'restore'; readonly which: string }
  | { readonly kind: 'remove'; readonly which: string }
  | { readonly kind: 'accept'; readonly which: string; readonly sha256: string }
  | { readonly kind: 'revoke'; readonly which: string };

/** Items and acceptances that the action listed or changed. */
export interface QuarantineResult {
  readonly items: readonly QuarantinedItem[];
  readonly accepted: readonly AcceptedContent[];
}

/** Ledger file of a workspace. The quarantined files are in the directory of the same name without `.json`. */
export function ledgerFile(quarantineDir: string, workspace: string): string {
  return join(quarantineDir, `${createHash('sha256').update(workspace).digest('hex').slice(0, 16)}.json`);
}
