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
  readonly files: readonly UndoFile[];
}

/** The state of a file after a change that no call made: equal to no real one. */
export const OTHERS: FileState = 'others';

/** Three-way: `before` and `after` a call, and now. */
export function decide({ path, before, after }: FileChange, now: FileState | null): UndoFile {
  const item = { path, now, want: before };
  if (now === before) return { path, action: 'done', why: '', item };
  if (now !== after) return { path, action: 'keep', why: 'it was changed since', item };
  return { path, action: before === null ? 'remove' : 'restore', why: '', item };
}
