import type { RawPath } from '../../fs/raw-path.ts';
import type { FileState } from './snapshot-messages.ts';

/** File, directory, symlink; `s` is a socket, pipe or device. */
export type EntryKind = 'f' | 'd' | 'l' | 's';

/** One file or directory of a listing. */
export interface Entry {
  readonly kind: EntryKind;
  /** All permission bits, with setuid, setgid and sticky. */
  readonly mode: number;
  /** Size of a file; otherwise 0. */
  readonly bytes: number;
  /** Changes with any write, chmod, rename or copy. */
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly ino: number;
  /** Number of hard links. */
  readonly links: number;
  /** Target of a symlink. */
  readonly target: string;
  /** Content id of a file whose next change might not change `ctimeMs`; otherwise ''. */
  readonly id: string;
  /** True for a directory that cannot be read: its contents are unknown. */
  readonly isClosed: boolean;
}

/** All entries of a workspace except its own `.git` and the contents of git directories. Paths are relative to it. */
export type Listing = ReadonlyMap<RawPath, Entry>;

/** A commit that a merge does not carry over. */
export interface Commit {
  readonly id: string;
  readonly subject: string;
}

/** The state a path must get. Parent directories exist or come earlier in the list. */
export type Want =
  | { readonly do: 'put'; readonly mode: number }
  /** Changes the mode, keeps the content. */
  | { readonly do: 'chmod'; readonly mode: number }
  /** Three-way merge; `open` is the stored content from when the branch was opened. */
  | { readonly do: 'text'; readonly mode: number; readonly open: string }
  | { readonly do: 'link' }
  | { readonly do: 'mkdir'; readonly mode: number }
  | { readonly do: 'remove' };

/** One change of a merge. A conflict unless the path still is `now`. */
export interface MergeOp {
  readonly path: RawPath;
  readonly now: Entry | null;
  readonly want: Want;
}

/**
 * `list` lists a workspace, and the commits of its repository that are not in `heads`. `states` returns the state of
 * files now and in a saved list (`tree`; '' for no list). `apply` makes the changes. `patch` compares two versions of
 * files.
 */
export type MergeRequest =
  | { readonly do: 'list'; readonly heads: readonly string[] | null }
  | { readonly do: 'states'; readonly paths: readonly RawPath[]; readonly tree: string }
  | { readonly do: 'apply'; readonly ops: readonly MergeOp[] }
  | { readonly do: 'patch'; readonly paths: readonly RawPath[]; readonly maxBytes: number };

export interface ListReply {
  /** Output of `formatListing`. */
  readonly listing: string;
  /** Commit ids of all references. */
  readonly heads: readonly string[];
  readonly commits: readonly Commit[];
}

export interface StatesReply {
  /** Null if the path is not a file or cannot be read. */
  readonly now: readonly (FileState | null)[];
  /** Null if the path is not a file, or the saved list does not cover it. */
  readonly saved: readonly (FileState | null)[];
}

export interface ApplyReply {
  readonly applied: number;
  /** If there is any conflict, nothing was written. */
  readonly conflicts: readonly Refused[];
  /** Failed writes, with the system's error text. */
  readonly failed: readonly Refused[];
}

export interface Refused {
  readonly path: RawPath;
  readonly why: string;
}

export interface PatchReply {
  readonly patch: string;
  /** Number of paths left out because the patch was full. */
  readonly left: number;
}

/** The reply type of a request. */
export type ReplyOf<R extends MergeRequest> = R extends { do: 'list' }
  ? ListReply
  : R extends { do: 'states' }
    ? StatesReply
    : R extends { do: 'apply' }
      ? ApplyReply
      : PatchReply;

/** Staging directory in the workspace during a merge. If a merge is killed, the next merge removes it. */
export const STAGE = '.contextd-merge';
