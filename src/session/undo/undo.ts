import type { FileChanges } from '../../call/outcome.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { newRequestId, newShortId } from '../../core/ids.ts';
import type { Logger } from '../../core/log.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { SandboxPolicy } from '../../sandbox/sandbox-policy.ts';
import type { FileChange, RestoreItem, SnapshotReply, Uncovered } from '../../sandbox/snapshots/messages.ts';
import { toText } from '../../sandbox/workspace/raw-path.ts';
import { planOf, type UndoPlan } from './undo-plan.ts';
import type { UndoRecord, UndoRecords } from './undo-records.ts';

/** Milliseconds that a call waits for the first look at its project; the look goes on without it. */
const WAIT_MAX_MS = 20_000;
/** Milliseconds for which nothing is tried again after a failure. */
const FAILED_MS = 60_000;
/** Changed paths that an answer names. */
const NAMED_MAX = 20;
const MISSED_NAMED_MAX = 5;

export interface UndoDeps {
  sandbox: Pick<Sandbox, 'snapshot' | 'restore'>;
  records: UndoRecords;
  /** The policy of what puts files back in a project. */
  policyFor(root: string): SandboxPolicy;
  clock: Clock;
  logger: Logger;
}

/** Of a call, between `before` and `after`. */
export interface Watched {
  isShared: boolean;
}

interface ProjectState {
  readonly calls: Set<Watched>;
  failure: { readonly why: ContextdError; readonly untilMs: number } | null;
}

/** What calls did to the files of their projects, and how it is taken back. */
export class Undo {
  readonly #deps: UndoDeps;
  readonly #projects = new Map<string, ProjectState>();

  constructor(deps: UndoDeps) {
    this.#deps = deps;
  }

  /** Before a call: whatever has changed since the last call is nobody's. Null if changes cannot be kept now. */
  async before(project: string): Promise<Watched | null> {
    const state = this.#stateOf(project);
    const watched = { isShared: state.calls.size > 0 };
    if (state.calls.size > 0) for (const other of state.calls) other.isShared = true;
    else if ((await this.#sync(project)) === null) return null;
    state.calls.add(watched);
    return watched;
  }

  /** After a call. Null if it changed nothing. */
  async after(
    project: string,
    watched: Watched,
    call: Pick<UndoRecord, 'requestId' | 'tool'>,
  ): Promise<FileChanges | null> {
    this.#stateOf(project).calls.delete(watched);
    try {
      const reply = await this.#sync(project);
      return reply === null ? null : await this.#record(project, reply, { ...call, isShared: watched.isShared });
    } catch (cause) {
      // The call itself has succeeded or failed; its answer must not be lost.
      this.#deps.logger.error('undo.not_recorded', { project, request_id: call.requestId }, cause);
      return null;
    }
  }

  /** Why changes in this project cannot be undone now; null if they can. */
  whyNot(project: string): ContextdError | null {
    return this.#projects.get(project)?.failure?.why ?? null;
  }

  /** What `apply` would do. `which` as in `UndoRecords.find`. Throws NOT_FOUND and SANDBOX_UNAVAILABLE. */
  async plan(project: string, which: string): Promise<UndoPlan> {
    const record = await this.#deps.records.find(project, which);
    return planOf(record, await this.#now(project, record.changes));
  }

  /**
   * Takes a call back: each file is put back unless it has changed since. Throws CONFLICT if one has, unless `isPartial`.
   * What it did is a record too.
   */
  async apply(
    project: string,
    which: string,
    isPartial: boolean,
  ): Promise<UndoPlan & { readonly undone: UndoRecord | null }> {
    const plan = await this.plan(project, which);
    const kept = plan.files.filter(({ action }) => action === 'keep');
    if (kept.length > 0 && !isPartial)
      throw conflict(
        plan,
        kept.map(({ path }) => toText(path)),
      );
    const items = plan.files.flatMap(({ action, item }) => (action === 'keep' || action === 'done' ? [] : [item]));
    const call = { requestId: newRequestId(this.#deps.clock.now()), tool: 'undo' };
    const { files, undone } = await this.#put(project, items, call);
    const failed = new Map(files.map(({ path, why }) => [path, why]));
    return {
      ...plan,
      files: plan.files.map((file) => {
        const why = failed.get(file.path);
        return why === undefined ? file : { ...file, action: 'keep', why };
      }),
      undone,
    };
  }

  /** Of a project that is not registered any more. */
  async forget(project: string): Promise<void> {
    this.#projects.delete(project);
    await this.#deps.records.forget(project);
    await this.#deps.sandbox.snapshot(project, { do: 'drop' }).catch((cause: unknown) => {
      this.#deps.logger.warn('undo.not_dropped', { project, cause: String(cause) });
    });
  }

  /** Puts files back and records what that did. Returns those that could not be put back. */
  async #put(
    project: string,
    items: readonly RestoreItem[],
    call: Pick<UndoRecord, 'requestId' | 'tool'>,
  ): Promise<{ files: { path: string; why: string }[]; undone: UndoRecord | null }> {
    if (items.length === 0) return { files: [], undone: null };
    const watched = await this.before(project);
    if (watched === null) throw this.whyNot(project) ?? new Error('files are not kept');
    let files: { path: string; why: string }[] = [];
    try {
      const result = await this.#deps.sandbox.restore(this.#deps.policyFor(project), items);
      const aside = result.quarantined.map(({ path, reason }) => ({ path, why: `it was set aside: ${reason}` }));
      files = [...result.conflicts, ...result.failed, ...aside].map(({ path, why }) => ({ path, why }));
    } finally {
      await this.after(project, watched, call);
    }
    const undone = await this.#deps.records.find(project, call.requestId).catch(() => null);
    return { files, undone };
  }

  async #record(
    project: string,
    { changes, missed, isFirst }: SnapshotReply,
    call: Pick<UndoRecord, 'requestId' | 'tool' | 'isShared'>,
  ): Promise<FileChanges | null> {
    if (isFirst || changes.length + missed.length === 0) return null;
    let ref: string | null = null;
    if (changes.length > 0) {
      ref = `undo_${newShortId()}`;
      await this.#deps.records.add(project, { ref, ...call, atMs: this.#deps.clock.now(), changes, missed });
    }
    return {
      ref,
      files: changes.slice(0, NAMED_MAX).map(nameOf),
      more: Math.max(0, changes.length - NAMED_MAX),
      notCovered: missed.slice(0, MISSED_NAMED_MAX).map(describe),
    };
  }

  /** Null if it failed, which is logged once. */
  async #sync(project: string): Promise<SnapshotReply | null> {
    const state = this.#stateOf(project);
    if (state.failure !== null && this.#deps.clock.monotonic() < state.failure.untilMs) return null;
    try {
      const reply = await withinMs(this.#deps.sandbox.snapshot(project, { do: 'sync' }), WAIT_MAX_MS);
      state.failure = null;
      return reply;
    } catch (thrown) {
      const why = ContextdError.from(thrown);
      this.#deps.logger.warn('undo.not_kept', { project, why: why.message });
      state.failure = { why, untilMs: this.#deps.clock.monotonic() + FAILED_MS };
      return null;
    }
  }

  async #now(project: string, changes: readonly FileChange[]): Promise<Map<string, string | null>> {
    await this.#deps.sandbox.snapshot(project, { do: 'sync' });
    const reply = await this.#deps.sandbox.snapshot(project, { do: 'look', paths: changes.map(({ path }) => path) });
    return new Map((reply?.changes ?? []).map(({ path, after }) => [path, after]));
  }

  #stateOf(project: string): ProjectState {
    const known = this.#projects.get(project);
    if (known !== undefined) return known;
    const state: ProjectState = { calls: new Set(), failure: null };
    this.#projects.set(project, state);
    return state;
  }
}

function nameOf({ path, before, after }: FileChange): string {
  return `${before === null ? 'A' : after === null ? 'D' : 'M'} ${toText(path)}`;
}

function describe({ path, why }: Uncovered): string {
  return `${toText(path)}: ${why}`;
}

function conflict({ ref }: UndoPlan, paths: readonly string[]): ContextdError {
  const named = paths.slice(0, 5).join(', ');
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return new ContextdError('CONFLICT', `${ref} is not undone: changed since: ${named}${more}`, {
    remedy: 'Nothing was written. `ctxd undo --partial` puts the other files back.',
    details: { paths: paths.slice(0, 100) },
  });
}

async function withinMs<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ContextdError('TIMEOUT', `the files were not read within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
