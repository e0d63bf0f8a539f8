import { within } from '../../core/deadline.ts';
import type { RawPath } from '../../fs/raw-path.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import { type FileChange, type FileState, isDirectoryState } from '../../sandbox/contract/snapshot-messages.ts';
import { type CallChanges, tooSlow, WAIT_MAX_MS } from './call-changes.ts';
import { decide, describe, OTHERS, type UndoFile } from './undo-plan.ts';
import type { UndoRecords } from './undo-records.ts';

/** A saved list of all files. */
export interface SavedTree {
  readonly tree: string;
  /** Uncovered paths, as `path: why`; at most 100 of `uncoveredCount`. */
  readonly uncovered: readonly string[];
  readonly uncoveredCount: number;
}

export interface SavedTreesDeps {
  sandbox: Pick<Sandbox, 'snapshot'>;
  records: UndoRecords;
  changes: Pick<CallChanges, 'look'>;
}

/** Lists of all files of a project at a moment, with their contents. */
export class SavedTrees {
  readonly #deps: SavedTreesDeps;

  constructor(deps: SavedTreesDeps) {
    this.#deps = deps;
  }

  /**
   * Saves the current list of all files, with their contents, until the same `holder` calls `release`. Throws
   * SANDBOX_UNAVAILABLE with the reason if that is not possible, TIMEOUT after `maxMs`.
   */
  async save(project: string, holder: string, maxMs = WAIT_MAX_MS): Promise<SavedTree> {
    const saving = this.#deps.changes.look(project).then(() => this.#deps.sandbox.snapshot(project, { do: 'save' }));
    const reply = await within(maxMs, saving, () => tooSlow(maxMs));
    if (reply?.tree == null) throw new Error('a list of files was not saved');
    await this.#deps.records.holdTree(project, reply.tree, holder);
    return { tree: reply.tree, uncovered: reply.uncovered.map(describe), uncoveredCount: reply.uncoveredCount };
  }

  release(project: string, tree: string, holder: string): Promise<void> {
    return this.#deps.records.releaseTree(project, tree, holder);
  }

  /** Saved lists of a project that a holder keeps. */
  trees(project: string, holder: string): Promise<readonly string[]> {
    return this.#deps.records.trees(project, holder);
  }

  /**
   * Dry run of `restoreTree`: the difference between the files and a saved list. A file stays if anything but calls
   * since `sinceMs` changed it, because a person did. A directory that a person made stays and is not in the plan.
   */
  async planTree(project: string, tree: string, sinceMs: number): Promise<readonly UndoFile[]> {
    await this.#deps.changes.look(project);
    const reply = await this.#deps.sandbox.snapshot(project, { do: 'compare', tree });
    const byCalls = new Map<RawPath, FileChange[]>();
    for (const { atMs, changes } of await this.#deps.records.all(project))
      if (atMs >= sinceMs)
        for (const change of changes) byCalls.set(change.path, [...(byCalls.get(change.path) ?? []), change]);
    return (reply?.changes ?? []).flatMap(({ path, before, after }) => {
      const byUs = afterCalls(before, byCalls.get(path) ?? []);
      if (before === null && isDirectoryState(after) && byUs === OTHERS) return [];
      return [decide({ path, before, after: byUs }, after)];
    });
  }
}

/**
 * The state to which the changes lead from `before`, if each starts where the previous one ended. A change that starts
 * at `before` resets the chain, because the file was back in its original state.
 */
function afterCalls(before: FileState | null, changes: readonly FileChange[]): FileState | null {
  if (changes.length === 0) return OTHERS;
  return changes.reduce<FileState | null>(
    (state, change) => (change.before === state || change.before === before ? change.after : OTHERS),
    before,
  );
}
