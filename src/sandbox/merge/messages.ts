import type { FileState } from '../snapshots/messages.ts';
import type { RawPath } from '../workspace/raw-path.ts';

/** `s`: a socket, pipe or device. */
export type EntryKind = 'f' | 'd' | 'l' | 's';

/** A file or directory as a listing knows it. */
export interface Entry {
  readonly kind: EntryKind;
  /** All permission bits, with setuid, setgid and sticky. */
  readonly mode: number;
  /** Of a file; otherwise 0. */
  readonly bytes: number;
  /** Any write, chmod, rename or copy of it changes this. */
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly ino: number;
  /** Names of the file. */
  readonly links: number;
  /** Of a link. */
  readonly target: string;
  /** Content of a file that may change again without a new `ctimeMs`; otherwise ''. */
  readonly id: string;
  /** True: a directory that cannot be read, so that nothing below it is known. */
  readonly isClosed: boolean;
}

/** Everything in a workspace but its own `.git` and what is in git directories. Paths are relative to it. */
export type Listing = ReadonlyMap<RawPath, Entry>;

/** A commit that a merge does not carry over. */
export interface Commit {
  readonly id: string;
  readonly subject: string;
}

/** What a file must become. Directories between are there or come before it. */
export type Want =
  | { readonly do: 'put'; readonly mode: number }
  /** The content stays. */
  | { readonly do: 'chmod'; readonly mode: number }
  /** Three-way: `open` is the content at the opening of the branch, in the store. */
  | { readonly do: 'text'; readonly mode: number; readonly open: string }
  | { readonly do: 'link' }
  | { readonly do: 'mkdir'; readonly mode: number }
  | { readonly do: 'remove' };

/** One change of a merge: only if the path is `now`. */
export interface MergeOp {
  readonly path: RawPath;
  readonly now: Entry | null;
  readonly want: Want;
}

/**
 * `list` lists a workspace; `commits` are those of its repository that are not in `heads`. `states` returns what files hold,
 * and what they held in a saved list (`tree`, '' for none). `apply` makes the changes. `patch` compares two versions of files.
 */
export type MergeRequest =
  | { readonly do: 'list'; readonly heads: readonly string[] | null }
  | { readonly do: 'states'; readonly paths: readonly RawPath[]; readonly tree: string }
  | { readonly do: 'apply'; readonly ops: readonly MergeOp[] }
  | { readonly do: 'patch'; readonly paths: readonly RawPath[]; readonly maxBytes: number };

export interface ListReply {
  /** As `formatListing` writes it. */
  readonly listing: string;
  /** Commits of all references. */
  readonly heads: readonly string[];
  readonly commits: readonly Commit[];
}

export interface StatesReply {
  /** As `FileState`, or null if it is no file or cannot be read. */
  readonly now: readonly (FileState | null)[];
  /** Null also if the saved list does not cover the file. */
  readonly saved: readonly (FileState | null)[];
}

export interface ApplyReply {
  readonly applied: number;
  /** Nothing was written if any of these is a conflict. */
  readonly conflicts: readonly Refused[];
  /** What could not be written, with the system's words. */
  readonly failed: readonly Refused[];
}

export interface Refused {
  readonly path: RawPath;
  readonly why: string;
}

export interface PatchReply {
  readonly patch: string;
  /** Paths that found no room. */
  readonly left: number;
}

/** What a request is answered with. */
export type ReplyOf<R extends MergeRequest> = R extends { do: 'list' }
  ? ListReply
  : R extends { do: 'states' }
    ? StatesReply
    : R extends { do: 'apply' }
      ? ApplyReply
      : PatchReply;

/** In the workspace while a merge writes; a merge that was killed leaves it, and the next one removes it. */
export const STAGE = '.contextd-merge';
