import type { FileChange, FileState, RestoreItem } from '../../sandbox/snapshots/messages.ts';
import type { RawPath } from '../../sandbox/workspace/raw-path.ts';
import type { UndoRecord } from './undo-records.ts';

/** `keep`: it stays as it is, and `why` says why. `done`: it is already as it was before the call. */
export type UndoAction = 'restore' | 'remove' | 'done' | 'keep';

export interface UndoFile {
  readonly path: RawPath;
  readonly action: UndoAction;
  readonly why: string;
  readonly item: RestoreItem;
}

export interface UndoPlan {
  readonly record: UndoRecord;
  readonly ref: string;
  readonly files: readonly UndoFile[];
}

/** Three-way, file by file. `now`: the states of the files; a file that is not in it does not exist. */
export function planOf(record: UndoRecord, now: ReadonlyMap<RawPath, FileState | null>): UndoPlan {
  const files = record.changes.map((change) => decide(change, now.get(change.path) ?? null));
  return { record, ref: record.ref, files };
}

function decide({ path, before, after }: FileChange, now: FileState | null): UndoFile {
  const item = { path, now, want: before };
  if (now === before) return { path, action: 'done', why: '', item };
  if (now !== after) return { path, action: 'keep', why: 'it was changed since', item };
  return { path, action: before === null ? 'remove' : 'restore', why: '', item };
}
