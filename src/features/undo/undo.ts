import type { FileChanges } from '../../call/outcome.ts';
import type { Config } from '../../config/schema.ts';
import { within } from '../../core/deadline.ts';
import type { ContextdError } from '../../core/errors.ts';
import type { RawPath } from '../../fs/raw-path.ts';
import type { Uncovered } from '../../sandbox/contract/snapshot-messages.ts';
import {
  CallChanges,
  type CallChangesDeps,
  type CallId,
  type EarlierWork,
  type UndoState,
  type Watched,
} from './call-changes.ts';
import { findLastCall, type SurveyedCall, surveyCalls } from './call-survey.ts';
import { type PutBack, type PutBackBy, type PutBackDeps, putBack } from './put-back.ts';
import { Retention, type RetentionDeps } from './retention.ts';
import { type SavedTree, SavedTrees, type SavedTreesDeps } from './saved-trees.ts';
import { changesIn, decide, type UndoFile } from './undo-plan.ts';
import type { UndoRecord } from './undo-records.ts';

export type UndoDeps = CallChangesDeps &
  Omit<PutBackDeps & SavedTreesDeps, 'changes'> &
  RetentionDeps & { config: Pick<Config['undo'], 'enabled'> };

export interface UndoPlan {
  readonly record: UndoRecord;
  readonly files: readonly UndoFile[];
  /** What the call changed and undo does not cover. */
  readonly notCovered: readonly Uncovered[];
  /** Newer calls that changed only by-products, the newest first; empty for a call that was named. */
  readonly skipped: readonly SurveyedCall[];
}

/** What a call that ended with its daemon may have changed. */
export interface CutShortChanges {
  /** On its own record, or on one with other calls that ended with the daemon. Null: none. */
  readonly changes: FileChanges | null;
  /**
   * Refs of calls that ended while it ran, the newest first: what changed until then is on their records, whichever of the
   * calls changed it.
   */
  readonly beside: readonly string[];
}

/** Milliseconds that a project to be forgotten waits for its first look: a file system may never answer. */
const PREPARING_MAX_MS = 30_000;

/** Records changes of calls to the files of their projects, and undoes them. */
export class Undo {
  readonly #deps: UndoDeps;
  readonly #changes: CallChanges;
  readonly #trees: SavedTrees;
  readonly #retention: Retention;
  readonly #preparing = new Map<string, Promise<void>>();

  constructor(deps: UndoDeps) {
    this.#deps = deps;
    this.#changes = new CallChanges(deps);
    this.#trees = new SavedTrees({ ...deps, changes: this.#changes });
    this.#retention = new Retention(deps);
  }

  /** See `CallChanges.before`. */
  before(project: string, call: CallId, input = ''): Promise<Watched | null> {
    return this.#changes.before(project, call, input);
  }

  /** See `CallChanges.after`. */
  after(project: string, watched: Watched, earlier: EarlierWork | null = null): Promise<FileChanges | null> {
    return this.#changes.after(project, watched, earlier);
  }

  /** See `CallChanges.leave`. */
  leave(): Promise<UndoState> {
    return this.#changes.leave();
  }

  /** See `CallChanges.adopt`. */
  adopt(state: UndoState): Watched[] {
    return this.#changes.adopt(state);
  }

  /** See `CallChanges.look`. */
  look(project: string): Promise<void> {
    return this.#changes.look(project);
  }

  /**
   * Reads the files of a project ahead of its first call, which would wait for it. Does nothing if undo is off. A failure is
   * left to the call.
   */
  async prepare(project: string): Promise<void> {
    if (!this.#deps.config.enabled || this.#preparing.has(project)) return;
    const preparing = this.#changes.look(project).catch(() => {});
    this.#preparing.set(project, preparing);
    await preparing;
    this.#preparing.delete(project);
  }

  /** See `CallChanges.take`. */
  take(project: string, call: CallId, paths: readonly RawPath[], beganMs: number): Promise<FileChanges | null> {
    return this.#changes.take(project, call, paths, beganMs);
  }

  /** Why changes in this project cannot be undone now; null if they can. */
  whyNot(project: string): ContextdError | null {
    return this.#changes.whyNot(project);
  }

  /** The newest calls that changed something, the newest first. Throws SANDBOX_UNAVAILABLE. */
  async list(project: string, max: number): Promise<readonly SurveyedCall[]> {
    await this.#changes.look(project);
    return surveyCalls(project, max, this.#deps);
  }

  /**
   * Dry run of `apply`. `which`: a ref or a request id; '' is the last call that changed more than by-products. Throws
   * NOT_FOUND, SANDBOX_UNAVAILABLE, and CONFLICT if the last call is not covered.
   */
  async plan(project: string, which: string): Promise<UndoPlan> {
    await this.#changes.look(project);
    const { record, notCovered, skipped } = await this.#choose(project, which);
    const paths = record.changes.map(({ path }) => path);
    const now = await this.#deps.sandbox.snapshot(project, { do: 'look', paths });
    const states = new Map((now?.changes ?? []).map(({ path, after }) => [path, after]));
    const files = record.changes.map((change) => decide(change, states.get(change.path) ?? null));
    return { record, files, notCovered, skipped };
  }

  async #choose(project: string, which: string): Promise<Omit<UndoPlan, 'files'>> {
    if (which === '') {
      const { last, skipped } = await findLastCall(project, this.#deps);
      return { record: last.record, notCovered: last.notCovered, skipped };
    }
    const record = await this.#deps.records.find(project, which);
    return { record, notCovered: record.missed, skipped: [] };
  }

  /**
   * Undoes a call: restores each file unless it has changed since. Throws CONFLICT if one has, unless `isPartial`. The
   * undo is recorded too. `requestId`: see `UndoRecord`.
   */
  async apply(project: string, which: string, isPartial: boolean, requestId?: string): Promise<UndoPlan & PutBack> {
    const plan = await this.plan(project, which);
    const { ref, session } = plan.record;
    const by = { name: ref, tool: 'undo', session, isPartial, ...(requestId === undefined ? {} : { requestId }) };
    return { ...plan, ...(await this.#put(project, plan.files, by)) };
  }

  /** See `SavedTrees.save`. */
  save(project: string, holder: string, maxMs?: number): Promise<SavedTree> {
    return this.#trees.save(project, holder, maxMs);
  }

  /** See `SavedTrees.release`. */
  release(project: string, tree: string, holder: string): Promise<void> {
    return this.#trees.release(project, tree, holder);
  }

  /** Saved lists of a project that a holder keeps. */
  trees(project: string, holder: string): Promise<readonly string[]> {
    return this.#trees.trees(project, holder);
  }

  /** Changes of a call that restored files itself; null if it changed nothing. */
  async changesOf(project: string, requestId: string): Promise<FileChanges | null> {
    const record = await this.#deps.records.find(project, requestId).catch(() => null);
    return record === null ? null : changesIn(record);
  }

  /** Changes of a call that ended with its daemon and began at `sinceMs`. Throws SANDBOX_UNAVAILABLE. */
  async changesOfCutShort(project: string, requestId: string, sinceMs: number): Promise<CutShortChanges> {
    await this.#changes.look(project);
    const { records, marks, clock } = this.#deps;
    const mark = (await marks.all(project)).find((one) => one.requestId === requestId);
    const endedMs = mark?.endedMs ?? clock.now();
    let changes: FileChanges | null = null;
    const beside: string[] = [];
    for await (const record of records.newestFirst(project)) {
      if (record.atMs < sinceMs) break;
      if ([record.requestId, ...(record.cutShortBeside ?? [])].includes(requestId)) changes = changesIn(record);
      else if (record.isShared && record.atMs <= endedMs) beside.push(record.ref);
    }
    return { changes, beside };
  }

  /** See `SavedTrees.planTree`. */
  planTree(project: string, tree: string, sinceMs: number): Promise<readonly UndoFile[]> {
    return this.#trees.planTree(project, tree, sinceMs);
  }

  /** Restores the files to a saved list. Throws the errors of `apply`. `requestId`: see `UndoRecord`. */
  async restoreTree(project: string, tree: string, sinceMs: number, by: Omit<PutBackBy, 'name'>): Promise<PutBack> {
    return this.#put(project, await this.planTree(project, tree, sinceMs), { ...by, name: 'the checkpoint' });
  }

  /** Deletes everything about a project that was unregistered. */
  async forget(project: string): Promise<void> {
    await within(PREPARING_MAX_MS, this.#preparing.get(project) ?? Promise.resolve(), () => {});
    this.#changes.forget(project);
    await this.#retention.forget(project);
  }

  /** Deletes old records, and the oldest ones of a project that exceeds its quota. */
  clean(projects: readonly string[]): Promise<void> {
    return this.#retention.clean(projects, (project) => this.#changes.isUsed(project));
  }

  #put(project: string, plan: readonly UndoFile[], by: PutBackBy): Promise<PutBack> {
    return putBack(project, plan, by, { ...this.#deps, changes: this.#changes });
  }
}
