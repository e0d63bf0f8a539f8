import type { FileChanges } from '../../call/outcome.ts';
import { type RawPath, toText } from '../../fs/raw-path.ts';
import {
  type FileChange,
  type FileState,
  isDirectoryState,
  type RestoreItem,
  type Uncovered,
} from '../../sandbox/contract/snapshot-messages.ts';
import type { UndoRecord } from './undo-records.ts';

/** Maximum number of changed paths in an answer. */
const NAMED_MAX = 20;
const MISSED_NAMED_MAX = 5;

/** `keep`: the file stays as it is, for the reason in `why`. `done`: it already is as before the call. */
export type UndoAction = 'restore' | 'remove' | 'done' | 'keep';

export interface UndoFile {
  readonly path: RawPath;
  /** Change by the call, or by the calls since a checkpoint. */
  readonly change: FileChange;
  readonly action: UndoAction;
  readonly why: string;
  readonly item: RestoreItem;
}

/** State of a file after a change outside of calls. Equals no real state. */
export const OTHERS: FileState = 'others';

/** Three-way decision: before the call, after it, and now. */
export function decide(change: FileChange, now: FileState | null): UndoFile {
  const { path, before, after } = change;
  const item = { path, now, want: before };
  if (now === before) return { path, change, action: 'done', why: '', item };
  if (now !== after) return { path, change, action: 'keep', why: 'it was changed since', item };
  return { path, change, action: before === null ? 'remove' : 'restore', why: '', item };
}

/** Changes worth a line: not a directory that came or went with its contents, but one whose mode changed. */
export function worthNaming(changes: readonly FileChange[]): FileChange[] {
  const parents = new Set<RawPath>();
  for (const { path } of changes)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      parents.add(path.slice(0, end));
  return changes.filter(
    ({ path, before, after }) =>
      !parents.has(path) || (before !== null && after !== null) || !isDirectoryState(before ?? after),
  );
}

/** The same for a plan; files with `keep` always have a line. */
export function worthShowing(files: readonly UndoFile[]): UndoFile[] {
  const named = new Set(worthNaming(files.map(({ change }) => change)));
  return files.filter(({ action, change }) => action === 'keep' || named.has(change));
}

/** For people: a directory's name ends with a slash. */
export function nameOfChange({ path, before, after }: FileChange): string {
  if (!isDirectoryState(before ?? after)) return toText(path);
  return path === '' ? './' : `${toText(path)}/`;
}

/** As an answer lists the changes of a call. */
export function changesIn({ ref, changes, missed }: Pick<UndoRecord, 'ref' | 'changes' | 'missed'>): FileChanges {
  const named = worthNaming(changes);
  return {
    ref: changes.length === 0 ? null : ref,
    files: named.slice(0, NAMED_MAX).map(lineOf),
    more: Math.max(0, named.length - NAMED_MAX),
    notCovered: missed.slice(0, MISSED_NAMED_MAX).map(describe),
  };
}

/** For example `M src/a.ts`. */
export function lineOf(change: FileChange): string {
  return `${change.before === null ? 'A' : change.after === null ? 'D' : 'M'} ${nameOfChange(change)}`;
}

export function describe({ path, why }: Uncovered): string {
  return `${toText(path)}: ${why}`;
}
