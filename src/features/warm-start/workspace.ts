import { isJsonObject, type Json } from '../../core/json.ts';

/** Where the workspace is and what changed in it: the newest first. */
export interface WorkspaceChanges {
  /** As the first line of `git status -sb`: `main...origin/main [ahead 1]`; '' outside a repository. */
  readonly branch: string;
  /** Files that differ from the last commit, with lines as `git diff --numstat` counts them: `-` for a binary file. */
  readonly changes: readonly { readonly added: string; readonly removed: string; readonly path: string }[];
  /** Whole seconds since the epoch. */
  readonly commits: readonly { readonly at: number; readonly id: string; readonly subject: string }[];
  readonly files: readonly { readonly at: number; readonly path: string }[];
  /** Paths that git ignores; those of directories end with a slash and stand for all that is in them. */
  readonly ignored: readonly string[];
}

export const NO_CHANGES: WorkspaceChanges = { branch: '', changes: [], commits: [], files: [], ignored: [] };
/** Entries that are looked at. */
const ENTRIES_MAX = 200;
const IGNORED_MAX = 1_000;

/** Reads what the tool found. Anything of another shape is left out. */
export function readChanges(value: Json | undefined): WorkspaceChanges {
  if (!isJsonObject(value)) return NO_CHANGES;
  const commits = objectsIn(value.commits).flatMap(({ at, id, subject }) =>
    typeof at === 'number' && typeof id === 'string' && typeof subject === 'string' ? [{ at, id, subject }] : [],
  );
  const files = objectsIn(value.files).flatMap(({ at, path }) =>
    typeof at === 'number' && typeof path === 'string' ? [{ at, path }] : [],
  );
  const changes = objectsIn(value.changes).flatMap(({ added, removed, path }) =>
    typeof added === 'string' && typeof removed === 'string' && typeof path === 'string'
      ? [{ added, removed, path }]
      : [],
  );
  const branch = typeof value.branch === 'string' ? value.branch : '';
  const ignored = (Array.isArray(value.ignored) ? value.ignored : []).filter((path) => typeof path === 'string');
  return {
    branch,
    changes,
    commits,
    files: files.sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1)),
    ignored: ignored.slice(0, IGNORED_MAX),
  };
}

/** Whether git ignores a file. */
export function isIgnored({ ignored }: Pick<WorkspaceChanges, 'ignored'>, path: string): boolean {
  return ignored.some((one) => one === path || (one.endsWith('/') && path.startsWith(one)));
}

/** Those of its entries that are later than a time, milliseconds since the epoch. Times of files are whole seconds, so those of its second are not. */
export function changedSince<Entry extends { readonly at: number }>(
  entries: readonly Entry[],
  sinceMs: number,
): Entry[] {
  return entries.filter(({ at }) => at > Math.floor(sinceMs / 1000));
}

function objectsIn(value: Json | undefined) {
  return (Array.isArray(value) ? value : []).filter(isJsonObject).slice(0, ENTRIES_MAX);
}
