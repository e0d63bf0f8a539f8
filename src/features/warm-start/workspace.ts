import { isJsonObject, type Json } from '../../core/json.ts';

/** What changed in the workspace: the newest first. */
export interface WorkspaceChanges {
  /** Whole seconds since the epoch. */
  readonly commits: readonly { readonly at: number; readonly id: string; readonly subject: string }[];
  readonly files: readonly { readonly at: number; readonly path: string }[];
}

export const NO_CHANGES: WorkspaceChanges = { commits: [], files: [] };
/** Entries that are looked at. */
const ENTRIES_MAX = 200;

/** Reads what the tool found. Anything of another shape is left out. */
export function readChanges(value: Json | undefined): WorkspaceChanges {
  if (!isJsonObject(value)) return NO_CHANGES;
  const commits = objectsIn(value.commits).flatMap(({ at, id, subject }) =>
    typeof at === 'number' && typeof id === 'string' && typeof subject === 'string' ? [{ at, id, subject }] : [],
  );
  const files = objectsIn(value.files).flatMap(({ at, path }) =>
    typeof at === 'number' && typeof path === 'string' ? [{ at, path }] : [],
  );
  return { commits, files: files.sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1)) };
}

/** Changes after a time, milliseconds since the epoch. Times of files are whole seconds, so those of its second are not. */
export function changesSince({ commits, files }: WorkspaceChanges, sinceMs: number): WorkspaceChanges {
  const isLater = ({ at }: { at: number }): boolean => at > Math.floor(sinceMs / 1000);
  return { commits: commits.filter(isLater), files: files.filter(isLater) };
}

function objectsIn(value: Json | undefined) {
  return (Array.isArray(value) ? value : []).filter(isJsonObject).slice(0, ENTRIES_MAX);
}
