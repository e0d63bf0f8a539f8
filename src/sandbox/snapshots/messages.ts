import type { RawPath } from '../workspace/raw-path.ts';

/**
 * A file as a snapshot knows it: kind, permission bits and the id of its content: `f644 <sha1>`, or `l <sha1>` for a link.
 * `u …` is a file whose content is not kept, with what tells it from the same file after a change.
 */
export type FileState = string;

/** Of a file in a directory that cannot be entered, or of one that changes all the time. */
export const HIDDEN: FileState = 'u ?';

/** Paths are relative to the workspace. Null: there was no file. */
export interface FileChange {
  readonly path: RawPath;
  readonly before: FileState | null;
  readonly after: FileState | null;
}

export const UNCOVERED_WHY = [
  'ignored directory',
  'nested repository',
  'larger than 16 MiB',
  'special file',
  'cannot be read',
] as const;

/** What no snapshot holds, and why. The path of a directory ends with a slash. */
export interface Uncovered {
  readonly path: RawPath;
  readonly why: (typeof UNCOVERED_WHY)[number];
}

/**
 * `look` returns the state of these files as the last `sync` found it. `sync` finds out what has changed since the last `sync`, keeps it and returns it. `save` keeps the list of all files, and
 * `compare` tells how the files differ from such a list. `clean` removes contents that nobody needs.
 */
export type SnapshotRequest =
  | { readonly do: 'sync' }
  | { readonly do: 'look'; readonly paths: readonly RawPath[] }
  | { readonly do: 'save' }
  | { readonly do: 'compare'; readonly tree: string }
  | { readonly do: 'clean'; readonly keep: readonly string[]; readonly trees: readonly string[] };

export interface SnapshotReply {
  /** Since the last `sync`; for `look`, the states as `after`; for `compare`, from the saved list (`before`) to the files now (`after`). */
  readonly changes: readonly FileChange[];
  /** True if there was no snapshot to compare with: the changes are unknown. */
  readonly isFirst: boolean;
  /** What changed since the last `sync` and no snapshot holds; at most 100. */
  readonly missed: readonly Uncovered[];
  /** Everything that no snapshot holds, at most 100 of `uncoveredCount`. Only of `save`. */
  readonly uncovered: readonly Uncovered[];
  readonly uncoveredCount: number;
  /** Of `save`. */
  readonly tree: string | null;
  /** Bytes of what only the store holds. Only of `clean`. */
  readonly bytes: number;
}

/** One file to put back: only if it is `now`, as its `want`. */
export interface RestoreItem {
  readonly path: RawPath;
  readonly now: FileState | null;
  readonly want: FileState | null;
}

export interface RestoreReply {
  readonly restored: readonly RawPath[];
  /** Nothing was written if any of these is a conflict. */
  readonly conflicts: readonly { readonly path: RawPath; readonly why: string }[];
  /** What could not be written, with the system's words. */
  readonly failed: readonly { readonly path: RawPath; readonly why: string }[];
}

/** Bytes of the largest file that is kept. */
export const FILE_MAX_BYTES = 16 * 1024 * 1024;
