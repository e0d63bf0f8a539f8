import type { FileChanges } from '../../call/outcome.ts';
import type { Clock } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import { newShortId } from '../../core/ids.ts';
import type { Logger } from '../../core/log.ts';
import { earliestFileTime } from '../../fs/file-time.ts';
import type { RawPath } from '../../fs/raw-path.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import type { FileChange, SnapshotReply } from '../../sandbox/contract/snapshot-messages.ts';
import type { CallMark, CallMarks } from './call-marks.ts';
import { directoriesAbove, joinReplies, namesIn, splitByPath } from './split-changes.ts';
import { changesIn } from './undo-plan.ts';
import type { UndoRecord, UndoRecords } from './undo-records.ts';

/** Milliseconds that a call waits for the first snapshot of its project; the snapshot continues without it. */
export const WAIT_MAX_MS = 20_000;
/** Milliseconds without retries after a failure. */
const FAILED_MS = 60_000;

export interface CallChangesDeps {
  sandbox: Pick<Sandbox, 'snapshot'>;
  records: UndoRecords;
  marks: CallMarks;
  clock: Clock;
  logger: Logger;
}

export type CallId = Pick<UndoRecord, 'requestId' | 'tool' | 'session'>;

/** A call between `before` and `after`. */
export interface Watched {
  isShared: boolean;
  readonly call: CallId;
  readonly input: string;
  /** Names of ignored directories that the input holds. */
  readonly named: readonly string[];
  /** Set by `after`: what the call changed in the workspace, also what undo does not cover. */
  changed: readonly RawPath[];
}

/** Calls under way, by project. */
export type UndoState = readonly {
  readonly project: string;
  readonly calls: readonly Watched[];
  readonly pending: SnapshotReply | null;
}[];

/** Changes of the same work before it was killed. `tree` is the list of all files before that. */
export interface EarlierWork {
  readonly tree: string;
  readonly paths: ReadonlySet<RawPath>;
}

interface ProjectState {
  readonly calls: Set<Watched>;
  /** Calls whose end nobody saw. What changed since they began is theirs. */
  cutShort: CallId[];
  /** Resolves once what the last of them changed is on record. */
  attributed: Promise<void>;
  /** Changes found by `look` while calls were running. The next call that ends records them. */
  pending: SnapshotReply | null;
  failure: { readonly why: ContextdError; readonly untilMs: number } | null;
}

/** Records what each call changed. */
export class CallChanges {
  readonly #deps: CallChangesDeps;
  readonly #projects = new Map<string, Promise<ProjectState>>();
  readonly #whyNot = new Map<string, ContextdError>();

  constructor(deps: CallChangesDeps) {
    this.#deps = deps;
  }

  /**
   * Call before a call: changes since the last call belong to no call. Null if changes cannot be recorded now. `input`: the
   * words of the call.
   */
  async before(project: string, call: CallId, input: string): Promise<Watched | null> {
    const state = await this.#stateOf(project);
    const { marks, clock } = this.#deps;
    let ignored: readonly RawPath[] = [];
    if (state.calls.size === 0) {
      state.pending = null;
      const reply = await this.#sync(project, state);
      if (reply === null) {
        const nowMs = clock.now();
        const mark = { ...call, beganMs: nowMs, endedMs: nowMs, named: [], isKept: false };
        await this.#mark(project, () => marks.begin(project, mark));
        return null;
      }
      ignored = reply.ignored;
    }
    const watched: Watched = { isShared: false, call, input, named: namesIn(input, ignored), changed: [] };
    state.calls.add(watched);
    if (state.calls.size > 1) for (const one of state.calls) one.isShared = true;
    const mark = { ...call, beganMs: earliestFileTime(clock), endedMs: null, named: watched.named, isKept: true };
    await this.#mark(project, () => marks.begin(project, mark));
    return watched;
  }

  /**
   * Call after a call. Null if it changed nothing. `earlier`: paths that the same work changed in a killed call, and
   * the list of all files before that call.
   */
  async after(project: string, watched: Watched, earlier: EarlierWork | null = null): Promise<FileChanges | null> {
    const state = await this.#stateOf(project);
    const { call, input } = watched;
    state.calls.delete(watched);
    try {
      const found = await this.#sync(project, state);
      if (found === null) {
        state.cutShort.push(call);
        return null;
      }
      const named = [...new Set([...watched.named, ...namesIn(input, found.ignored)])];
      const end = { endedMs: this.#deps.clock.now(), named };
      await this.#mark(project, () => this.#deps.marks.end(project, call.requestId, end));
      const reply = joinReplies(state.pending, found);
      state.pending = null;
      watched.changed = [...reply.changes, ...reply.missed].map(({ path }) => path);
      const all = earlier === null ? reply : await this.#withEarlier(project, reply, earlier);
      return await this.#record(project, all, { ...call, isShared: watched.isShared });
    } catch (cause) {
      // The call itself has succeeded or failed; its answer must not be lost.
      this.#deps.logger.error('undo.not_recorded', { project, request_id: call.requestId }, cause);
      return null;
    }
  }

  /**
   * Records what a program beside contextd changed at these paths since the last look, as a call of its own. All other changes
   * belong to the calls that run, or to no call. Null if nothing changed, or changes cannot be recorded now.
   */
  async take(project: string, call: CallId, paths: readonly RawPath[], beganMs: number): Promise<FileChanges | null> {
    const state = await this.#stateOf(project);
    try {
      const found = await this.#sync(project, state);
      const named = namesIn(paths.join(' '), found?.ignored ?? []);
      const mark = { ...call, beganMs, endedMs: this.#deps.clock.now(), named, isKept: found !== null };
      await this.#mark(project, () => this.#deps.marks.begin(project, mark));
      if (found === null) return null;
      const isShared = state.calls.size > 0;
      const { own, others } = splitByPath(found, paths);
      if (isShared) state.pending = joinReplies(state.pending, others);
      return await this.#record(project, own, { ...call, isShared });
    } catch (cause) {
      this.#deps.logger.error('undo.not_recorded', { project, request_id: call.requestId }, cause);
      return null;
    }
  }

  /** Takes in changes outside of any call. Changes made so far by running calls stay theirs. Throws SANDBOX_UNAVAILABLE. */
  async look(project: string): Promise<void> {
    const state = await this.#stateOf(project);
    const reply = await this.#read(project, state);
    if (!reply.isFirst && state.calls.size > 0) state.pending = joinReplies(state.pending, reply);
  }

  /** The calls under way, for the next daemon, as plain data. */
  async leave(): Promise<UndoState> {
    const projects = [...this.#projects].map(async ([project, opening]) => {
      const { calls, pending } = await opening;
      return { project, calls: [...calls], pending };
    });
    return (await Promise.all(projects)).filter(({ calls }) => calls.length > 0);
  }

  /** Goes on with calls of the daemon before, and returns them. Call before the first call. */
  adopt(state: UndoState): Watched[] {
    for (const { project, calls, pending } of state) {
      const live = new Set(calls.map(({ call }) => call.requestId));
      const opening = this.#open(project, live).then((opened) => {
        for (const watched of calls) opened.calls.add(watched);
        opened.pending = pending;
        return opened;
      });
      this.#projects.set(project, opening);
    }
    return state.flatMap(({ calls }) => calls);
  }

  /** Why changes in this project cannot be undone now; null if they can. */
  whyNot(project: string): ContextdError | null {
    return this.#whyNot.get(project) ?? null;
  }

  /** Whether a call of this daemon has run in the project. */
  isUsed(project: string): boolean {
    return this.#projects.has(project);
  }

  forget(project: string): void {
    this.#projects.delete(project);
    this.#whyNot.delete(project);
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

  async #record(
    project: string,
    { changes, missed, isFirst }: SnapshotReply,
    call: CallId & Pick<UndoRecord, 'isShared'>,
  ): Promise<FileChanges | null> {
    if (isFirst || changes.length + missed.length === 0) return null;
    const ref = `undo_${newShortId()}`;
    await this.#deps.records.add(project, { ref, ...call, atMs: this.#deps.clock.now(), changes, missed });
    return changesIn({ ref, changes, missed });
  }

  /** Null on failure, which is logged once per minute at most. */
  async #sync(project: string, state: ProjectState): Promise<SnapshotReply | null> {
    const { clock, logger } = this.#deps;
    if (state.failure !== null && clock.monotonic() < state.failure.untilMs) return null;
    try {
      const reply = await within(WAIT_MAX_MS, this.#read(project, state), () => tooSlow(WAIT_MAX_MS));
      state.failure = null;
      this.#whyNot.delete(project);
      return reply;
    } catch (thrown) {
      const why = ContextdError.from(thrown);
      logger.warn('undo.not_kept', { project, why: why.message });
      state.failure = { why, untilMs: clock.monotonic() + FAILED_MS };
      this.#whyNot.set(project, why);
      return null;
    }
  }

  /** What has changed since the last time, without what calls did that were cut short: that is recorded as theirs. */
  async #read(project: string, state: ProjectState): Promise<SnapshotReply> {
    const reply = await this.#deps.sandbox.snapshot(project, { do: 'sync' });
    if (reply === null) throw new Error('files were not read');
    const cutShort = state.cutShort.toReversed();
    state.cutShort = [];
    if (cutShort.length === 0) {
      await state.attributed;
      return reply;
    }
    const attributing = this.#attribute(project, cutShort, reply, state.calls.size > 0);
    state.attributed = attributing.catch(() => {});
    await attributing;
    return { ...reply, changes: [], missed: [] };
  }

  /**
   * Records the changes since calls were cut short. Nothing says which call made which: they are on the record of the last one, which
   * names the others. `cutShort`: the last one first.
   */
  async #attribute(
    project: string,
    cutShort: readonly CallId[],
    { changes, missed, isFirst }: SnapshotReply,
    isBesideCalls: boolean,
  ): Promise<void> {
    const { records, marks, clock } = this.#deps;
    const [last, ...others] = cutShort;
    const atMs = clock.now();
    if (last !== undefined && (isFirst || changes.length + missed.length > 0))
      await records.add(project, {
        ref: `undo_${newShortId()}`,
        ...last,
        atMs,
        changes: isFirst ? [] : changes,
        missed: isFirst ? [] : missed,
        isShared: cutShort.length > 1 || isBesideCalls,
        isCutShort: true,
        ...(others.length > 0 && { cutShortBeside: others.map(({ requestId }) => requestId) }),
      });
    for (const { requestId } of cutShort)
      await this.#mark(project, () => marks.end(project, requestId, { endedMs: atMs }));
  }

  /** A full disk stops no call. */
  async #mark(project: string, work: () => Promise<void>): Promise<void> {
    await work().catch((cause: unknown) => {
      this.#deps.logger.warn('undo.not_marked', { project, cause: String(cause) });
    });
  }

  /** Calls whose ends no earlier daemon saw; none if that cannot be read. */
  async #openMarks(project: string): Promise<CallMark[]> {
    const marks = await this.#deps.marks.all(project).catch((cause: unknown) => {
      this.#deps.logger.warn('undo.marks_not_read', { project, cause: String(cause) });
      return [];
    });
    return marks.filter(({ endedMs }) => endedMs === null);
  }

  #stateOf(project: string): Promise<ProjectState> {
    const known = this.#projects.get(project);
    if (known !== undefined) return known;
    const opening = this.#open(project, new Set());
    this.#projects.set(project, opening);
    return opening;
  }

  /** `live`: calls that go on. */
  async #open(project: string, live: ReadonlySet<string>): Promise<ProjectState> {
    const marks = (await this.#openMarks(project)).filter(({ requestId }) => !live.has(requestId));
    return {
      calls: new Set(),
      cutShort: marks.map(({ requestId, tool, session }) => ({ requestId, tool, session })),
      attributed: Promise.resolve(),
      pending: null,
      failure: null,
    };
  }
}

export function tooSlow(ms: number): never {
  throw new ContextdError('TIMEOUT', `the files were not read within ${ms} ms`);
}
