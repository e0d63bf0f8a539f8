import type { FileChanges } from '../../call/outcome.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import { newRequestId, newShortId } from '../../core/ids.ts';
import type { Logger } from '../../core/log.ts';
import { type RawPath, toRaw, toText } from '../../fs/raw-path.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import {
  type FileChange,
  type FileState,
  isDirectoryState,
  type RestoreItem,
  type SnapshotReply,
  type Uncovered,
} from '../../sandbox/contract/snapshot-messages.ts';
import { decide, nameOfChange, OTHERS, type UndoFile, type UndoPlan, worthNaming } from './undo-plan.ts';
import type { UndoRecord, UndoRecords } from './undo-records.ts';

/** Milliseconds that a call waits for the first snapshot of its project; the snapshot continues without it. */
const WAIT_MAX_MS = 20_000;
/** Milliseconds without retries after a failure. */
const FAILED_MS = 60_000;
/** Maximum number of changed paths in an answer. */
const NAMED_MAX = 20;
const MISSED_NAMED_MAX = 5;
const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface UndoDeps {
  sandbox: Pick<Sandbox, 'snapshot' | 'restore'>;
  records: UndoRecords;
  /** Policy of the sandbox that restores files of a project. */
  policyFor(root: string): SandboxPolicy;
  config: Pick<Config['undo'], 'max_mb' | 'max_age_days'>;
  clock: Clock;
  logger: Logger;
}

/** A saved list of all files. */
export interface SavedTree {
  readonly tree: string;
  /** Uncovered paths, as `path: why`; at most 100 of `uncoveredCount`. */
  readonly uncovered: readonly string[];
  readonly uncoveredCount: number;
}

export interface PutBack {
  readonly files: readonly UndoFile[];
  /** The restore itself as a record, which can be undone; null if no file changed. */
  readonly undone: UndoRecord | null;
}

/** Path → reason for files that were not restored; `conflicts` are files changed since. */
interface Refused {
  readonly failed: ReadonlyMap<RawPath, string>;
  readonly conflicts: readonly RawPath[];
}

/** A call between `before` and `after`. */
export interface Watched {
  isShared: boolean;
}

/** Changes of the same work before it was killed. `tree` is the list of all files before that. */
export interface EarlierWork {
  readonly tree: string;
  readonly paths: ReadonlySet<RawPath>;
}

interface ProjectState {
  readonly calls: Set<Watched>;
  /** Changes found by `#look` while calls were running. The next call that ends records them. */
  pending: SnapshotReply | null;
  failure: { readonly why: ContextdError; readonly untilMs: number } | null;
}

/** Records changes of calls to the files of their projects, and undoes them. */
export class Undo {
  readonly #deps: UndoDeps;
  readonly #projects = new Map<string, ProjectState>();

  constructor(deps: UndoDeps) {
    this.#deps = deps;
  }

  /** Call before a call: changes since the last call belong to no call. Null if changes cannot be recorded now. */
  async before(project: string): Promise<Watched | null> {
    const state = this.#stateOf(project);
    const watched = { isShared: state.calls.size > 0 };
    if (state.calls.size > 0) for (const other of state.calls) other.isShared = true;
    else {
      state.pending = null;
      if ((await this.#sync(project)) === null) return null;
    }
    state.calls.add(watched);
    return watched;
  }

  /**
   * Call after a call. Null if it changed nothing. `earlier`: paths that the same work changed in a killed call, and
   * the list of all files before that call.
   */
  async after(
    project: string,
    watched: Watched,
    call: Pick<UndoRecord, 'requestId' | 'tool' | 'session'>,
    earlier: EarlierWork | null = null,
  ): Promise<FileChanges | null> {
    const state = this.#stateOf(project);
    state.calls.delete(watched);
    try {
      const found = await this.#sync(project);
      const reply = found === null ? null : joined(state.pending, found);
      if (reply === null) return null;
      state.pending = null;
      const all = earlier === null ? reply : await this.#withEarlier(project, reply, earlier);
      return await this.#record(project, all, { ...call, isShared: watched.isShared });
    } catch (cause) {
      // The call itself has succeeded or failed; its answer must not be lost.
      this.#deps.logger.error('undo.not_recorded', { project, request_id: call.requestId }, cause);
      return null;
    }
  }

  async #withEarlier(project: string, reply: SnapshotReply, { tree, paths }: EarlierWork): Promise<SnapshotReply> {
    const since = await this.#deps.sandbox.snapshot(project, { do: 'compare', tree });
    const above = new Set([...paths].flatMap(directoriesAbove));
    // A directory that the killed call made was there before this one.
    const isEarlier = ({ path, before }: FileChange) => paths.has(path) || (before === null && above.has(path));
    const found = (since?.changes ?? []).filter(isEarlier);
    const earlier = new Set(found.map(({ path }) => path));
    const others = reply.changes.filter(({ path }) => !paths.has(path) && !earlier.has(path));
    return { ...reply, changes: [...others, ...found] };
  }

  /** Why changes in this project cannot be undone now; null if they can. */
  whyNot(project: string): ContextdError | null {
    return this.#projects.get(project)?.failure?.why ?? null;
  }

  /** Dry run of `apply`. `which`: see `UndoRecords.find`. Throws NOT_FOUND and SANDBOX_UNAVAILABLE. */
  async plan(project: string, which: string): Promise<UndoPlan> {
    await this.#look(project);
    const record = await this.#deps.records.find(project, which);
    const paths = record.changes.map(({ path }) => path);
    const now = await this.#deps.sandbox.snapshot(project, { do: 'look', paths });
    const states = new Map((now?.changes ?? []).map(({ path, after }) => [path, after]));
    return { record, files: record.changes.map((change) => decide(change, states.get(change.path) ?? null)) };
  }

  /**
   * Undoes a call: restores each file unless it has changed since. Throws CONFLICT if one has, unless `isPartial`. The
   * undo is recorded too. `requestId`: see `UndoRecord`.
   */
  async apply(project: string, which: string, isPartial: boolean, requestId?: string): Promise<UndoPlan & PutBack> {
    const { record, files } = await this.plan(project, which);
    const { ref, session } = record;
    const by = { name: ref, tool: 'undo', session, isPartial, ...(requestId === undefined ? {} : { requestId }) };
    return { record, ...(await this.#put(project, files, by)) };
  }

  /**
   * Saves the current list of all files, with their contents, until the same `holder` calls `release`. Throws
   * SANDBOX_UNAVAILABLE with the reason if that is not possible, TIMEOUT after `maxMs`.
   */
  async save(project: string, holder: string, maxMs = WAIT_MAX_MS): Promise<SavedTree> {
    const saving = this.#look(project).then(() => this.#deps.sandbox.snapshot(project, { do: 'save' }));
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

  /** Changes of a call that restored files itself; null if it changed nothing. */
  async changesOf(project: string, requestId: string): Promise<FileChanges | null> {
    const record = await this.#deps.records.find(project, requestId).catch(() => null);
    return record === null ? null : changesIn(record);
  }

  /**
   * Dry run of `restoreTree`: the difference between the files and a saved list. A file stays if anything but calls
   * since `sinceMs` changed it, because a person did. A directory that a person made stays and is not in the plan.
   */
  async planTree(project: string, tree: string, sinceMs: number): Promise<readonly UndoFile[]> {
    await this.#look(project);
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

  /** Restores the files to a saved list. Throws the errors of `apply`. `requestId`: see `UndoRecord`. */
  async restoreTree(
    project: string,
    tree: string,
    sinceMs: number,
    by: { readonly tool: string; readonly session: string; readonly isPartial: boolean; readonly requestId?: string },
  ): Promise<PutBack> {
    return this.#put(project, await this.planTree(project, tree, sinceMs), { ...by, name: 'the checkpoint' });
  }

  /** Deletes everything about a project that was unregistered. */
  async forget(project: string): Promise<void> {
    this.#projects.delete(project);
    await this.#deps.records.forget(project);
    await this.#drop(project);
  }

  /** Deletes old records, and the oldest ones of a project that exceeds its quota. */
  async clean(projects: readonly string[]): Promise<void> {
    const { records, config, clock } = this.#deps;
    for (const project of projects) {
      const removed = await records.removeBefore(project, clock.now() - config.max_age_days * DAY_MS);
      const isUsed = this.#projects.has(project);
      const left = await records.all(project);
      const trees = await records.trees(project);
      if (isUsed) await this.#shrink(project, left, trees);
      else if (removed > 0 && left.length + trees.length === 0) await this.#drop(project);
    }
  }

  /**
   * Drops the oldest half of the records until the rest fits `undo.max_mb`. If it does not fit without records either,
   * drops everything, unless saved lists are held.
   */
  async #shrink(project: string, all: readonly UndoRecord[], trees: readonly string[]): Promise<void> {
    const { records, sandbox, config, logger } = this.#deps;
    let left = all;
    for (;;) {
      const keep = left.flatMap(({ changes }) => changes.flatMap(({ before, after }) => [before, after].flatMap(idOf)));
      const reply = await sandbox.snapshot(project, { do: 'clean', keep, trees });
      if ((reply?.bytes ?? 0) <= config.max_mb * MIB) return;
      if (left.length === 0) break;
      const newer = left.slice(Math.ceil(left.length / 2));
      await records.removeBefore(project, newer[0]?.atMs ?? Number.POSITIVE_INFINITY);
      left = newer;
    }
    logger.warn('undo.too_large', { project });
    if (trees.length === 0) await this.#drop(project);
  }

  async #drop(project: string): Promise<void> {
    await this.#deps.sandbox.snapshot(project, { do: 'drop' }).catch((cause: unknown) => {
      this.#deps.logger.warn('undo.not_dropped', { project, cause: String(cause) });
    });
  }

  /** Restores files and records it. Files that could not be restored are `keep` in the result. */
  async #put(
    project: string,
    plan: readonly UndoFile[],
    { name, tool, session, isPartial, requestId }: PutBy,
  ): Promise<PutBack> {
    const kept = plan.filter(({ action }) => action === 'keep').map(({ change }) => nameOfChange(change));
    if (kept.length > 0 && !isPartial) throw conflict(name, kept);
    const items = plan.flatMap(({ action, item }) => (action === 'keep' || action === 'done' ? [] : [item]));
    if (items.length === 0) return { files: plan, undone: null };
    const call = { requestId: requestId ?? newRequestId(this.#deps.clock.now()), tool, session };
    const watched = await this.before(project);
    if (watched === null) throw this.whyNot(project) ?? new Error('files are not kept');
    let refused: Refused;
    try {
      refused = await this.#restore(project, items, isPartial);
    } finally {
      await this.after(project, watched, call);
    }
    const { failed, conflicts } = refused;
    if (conflicts.length > 0 && !isPartial) throw conflict(name, conflicts.map(toText));
    return {
      files: plan.map((file) => {
        const why = failed.get(file.path);
        return why === undefined ? file : { ...file, action: 'keep', why };
      }),
      undone: await this.#deps.records.find(project, call.requestId).catch(() => null),
    };
  }

  /** With `isPartial`, a file that changes meanwhile is skipped; otherwise nothing is written then. */
  async #restore(project: string, items: readonly RestoreItem[], isPartial: boolean): Promise<Refused> {
    const failed = new Map<RawPath, string>();
    const conflicts = new Set<RawPath>();
    let left = items;
    for (;;) {
      const result = await this.#deps.sandbox.restore(this.#deps.policyFor(project), left);
      for (const { path, why } of [...result.conflicts, ...result.failed]) failed.set(path, why);
      const moved = result.quarantined.filter(({ stays }) => stays !== true);
      for (const { path, reason, removed } of moved) {
        failed.set(toRaw(path), `it was ${removed === true ? 'removed' : 'set aside'}: ${reason}`);
      }
      for (const { path } of result.conflicts) conflicts.add(path);
      const next = left.filter(({ path }) => !conflicts.has(path));
      if (!isPartial || result.conflicts.length === 0 || next.length === 0 || next.length === left.length)
        return { failed, conflicts: [...conflicts] };
      left = next;
    }
  }

  async #record(
    project: string,
    { changes, missed, isFirst }: SnapshotReply,
    call: Pick<UndoRecord, 'requestId' | 'tool' | 'session' | 'isShared'>,
  ): Promise<FileChanges | null> {
    if (isFirst || changes.length + missed.length === 0) return null;
    const ref = `undo_${newShortId()}`;
    await this.#deps.records.add(project, { ref, ...call, atMs: this.#deps.clock.now(), changes, missed });
    return changesIn({ ref, changes, missed });
  }

  /** Takes in changes outside of any call. Changes made so far by running calls stay theirs. */
  async #look(project: string): Promise<void> {
    const reply = await this.#deps.sandbox.snapshot(project, { do: 'sync' });
    const state = this.#stateOf(project);
    if (reply !== null && !reply.isFirst && state.calls.size > 0) state.pending = joined(state.pending, reply);
  }

  /** Null on failure, which is logged once per minute at most. */
  async #sync(project: string): Promise<SnapshotReply | null> {
    const state = this.#stateOf(project);
    if (state.failure !== null && this.#deps.clock.monotonic() < state.failure.untilMs) return null;
    try {
      const reading = this.#deps.sandbox.snapshot(project, { do: 'sync' });
      const reply = await within(WAIT_MAX_MS, reading, () => tooSlow(WAIT_MAX_MS));
      state.failure = null;
      return reply;
    } catch (thrown) {
      const why = ContextdError.from(thrown);
      this.#deps.logger.warn('undo.not_kept', { project, why: why.message });
      state.failure = { why, untilMs: this.#deps.clock.monotonic() + FAILED_MS };
      return null;
    }
  }

  #stateOf(project: string): ProjectState {
    const known = this.#projects.get(project);
    if (known !== undefined) return known;
    const state: ProjectState = { calls: new Set(), pending: null, failure: null };
    this.#projects.set(project, state);
    return state;
  }
}

interface PutBy {
  readonly name: string;
  readonly tool: string;
  readonly session: string;
  readonly isPartial: boolean;
  readonly requestId?: string;
}

/** Merges two consecutive replies. */
function joined(first: SnapshotReply | null, second: SnapshotReply): SnapshotReply {
  if (first === null) return second;
  const changes = new Map(first.changes.map((change) => [change.path, change]));
  for (const { path, before, after } of second.changes)
    changes.set(path, { path, before: changes.has(path) ? (changes.get(path)?.before ?? null) : before, after });
  return {
    ...second,
    changes: [...changes.values()].filter(({ before, after }) => before !== after),
    missed: [...first.missed, ...second.missed],
  };
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

function changesIn({ ref, changes, missed }: Pick<UndoRecord, 'ref' | 'changes' | 'missed'>): FileChanges {
  const named = worthNaming(changes);
  return {
    ref: changes.length === 0 ? null : ref,
    files: named.slice(0, NAMED_MAX).map(lineOf),
    more: Math.max(0, named.length - NAMED_MAX),
    notCovered: missed.slice(0, MISSED_NAMED_MAX).map(describe),
  };
}

function lineOf(change: FileChange): string {
  return `${change.before === null ? 'A' : change.after === null ? 'D' : 'M'} ${nameOfChange(change)}`;
}

function describe({ path, why }: Uncovered): string {
  return `${toText(path)}: ${why}`;
}

function idOf(state: string | null): string[] {
  return state === null ? [] : [state.slice(state.indexOf(' ') + 1)];
}

function conflict(name: string, paths: readonly string[]): ContextdError {
  const named = paths.slice(0, 5).join(', ');
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return new ContextdError('CONFLICT', `${name} is not restored: changed since: ${named}${more}`, {
    remedy: 'Nothing was written. --partial puts the other files back.',
    details: { paths: paths.slice(0, 100) },
  });
}

function tooSlow(ms: number): never {
  throw new ContextdError('TIMEOUT', `the files were not read within ${ms} ms`);
}

/** The directories of a path in the project, without the project itself. */
function directoriesAbove(path: RawPath): RawPath[] {
  const names = path.split('/');
  return names.slice(1).map((_, depth) => names.slice(0, depth + 1).join('/'));
}
