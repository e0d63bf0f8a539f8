import type { RawPath } from '../../fs/raw-path.ts';

/**
 * State of a file in a snapshot: kind, permission bits and content id. `f644 <sha1>` is a file, `l <sha1>` a symlink,
 * `d755` a directory. `u …` is a file whose content is not kept, with enough metadata to detect a change.
 */
export type FileState = string;

export function isDirectoryState(state: FileState | null): boolean {
  return state?.startsWith('d') === true;
}

/** State of a file in a directory that cannot be entered, or of a file that changes constantly. */
export const HIDDEN: FileState = 'u ?';

/** Paths are relative to the workspace; '' is the workspace itself. Null: the path did not exist. */
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
  'its other hard links',
] as const;

/** A path that no snapshot covers. The path of a directory ends with a slash. */
export interface Uncovered {
  readonly path: RawPath;
  readonly why: (typeof UNCOVERED_WHY)[number];
}

/**
 * `sync` finds, stores and returns the changes since the last `sync`. `look` returns the state of files as of the last
 * `sync`. `save` stores the list of all files; `compare` compares the files with such a list. `clean` removes contents
 * that are no longer needed. `ignored` asks git which paths it ignores; tracked files are not ignored. The path of a directory
 * ends with a slash. `touched` searches what no snapshot covers for files that changed in given spans of time.
 */
export type SnapshotRequest =
  | { readonly do: 'sync' }
  | { readonly do: 'look'; readonly paths: readonly RawPath[] }
  | { readonly do: 'save' }
  | { readonly do: 'compare'; readonly tree: string }
  | { readonly do: 'clean'; readonly keep: readonly string[]; readonly trees: readonly string[] }
  | { readonly do: 'ignored'; readonly paths: readonly RawPath[] }
  | { readonly do: 'touched'; readonly spans: readonly TimeSpan[] };

/** Milliseconds since the epoch, both included. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface SnapshotReply {
  /** `sync`: since the last `sync`. `look`: states, as `after`. `compare`: from the saved list (`before`) to now. */
  readonly changes: readonly FileChange[];
  /** True if there was no earlier snapshot: the changes are unknown. */
  readonly isFirst: boolean;
  /** Paths that changed since the last `sync` but are not covered; at most 100. */
  readonly missed: readonly Uncovered[];
  /** All uncovered paths, at most 100 of `uncoveredCount`. Only for `save`. */
  readonly uncovered: readonly Uncovered[];
  readonly uncoveredCount: number;
  /** Id of the saved list. Only for `save`. */
  readonly tree: string | null;
  /** Bytes of content that exists only in the store. Only for `clean`. */
  readonly bytes: number;
  /** `ignored`: those of the paths that git ignores. `sync`: the last names of ignored directories; at most 200. */
  readonly ignored: readonly RawPath[];
  /** For each span, in ignored directories and nested repositories: files whose last change is in it; at most 20. */
  readonly touched: readonly (readonly Uncovered[])[];
}

/** One file to restore to `want`. A conflict unless it still is `now`. */
export interface RestoreItem {
  readonly path: RawPath;
  readonly now: FileState | null;
  readonly want: FileState | null;
}

export interface RestoreReply {
  readonly restored: readonly RawPath[];
  /** If there is any conflict, nothing was written. */
  readonly conflicts: readonly { readonly path: RawPath; readonly why: string }[];
  /** Failed writes, with the system's error text. */
  readonly failed: readonly { readonly path: RawPath; readonly why: string }[];
}

/** Maximum size of a file whose content is kept. */
export const FILE_MAX_BYTES = 16 * 1024 * 1024;
