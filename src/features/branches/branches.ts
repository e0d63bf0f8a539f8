import type { SessionEffect } from '../../call/effects.ts';
import type { FileChanges } from '../../call/outcome.ts';
import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { newBranchId } from '../../core/ids.ts';
import type { PatchReply } from '../../sandbox/contract/merge-messages.ts';
import type { EventLog } from '../events/event-log.ts';
import {
  type Branch,
  briefOf,
  type Closing,
  checkRoom,
  exhausted,
  type FilesState,
  HOW_CLOSED,
  msLeft,
  type NewBranch,
  type OpenBranch,
  type Report,
  returnCall,
  sessionOf,
  settled,
  warningOf,
} from './branch.ts';
import type { BranchCall, BranchStore, ListedBranch } from './branch-store.ts';
import { BranchTree } from './branch-tree.ts';
import type { BranchFiles, Merged, OwnBranch, ShownPlan } from './files/branch-files.ts';
import { type FileEndDeps, FileEnds, keptFamily, type OwnFiles, type Settling } from './files/file-ends.ts';
import type { Resolutions } from './files/merge-plan.ts';

export interface BranchesDeps extends Pick<FileEndDeps, 'onFilesEnd'> {
  store: BranchStore;
  events: Pick<EventLog, 'append'>;
  /** Stops the background jobs that were started in a branch, and waits for them. */
  stopJobs(session: SessionRef): Promise<void>;
  files: Pick<BranchFiles, 'start' | 'clean' | 'open' | 'plan' | 'patch' | 'merge' | 'discard'>;
  clock: Clock;
}

/** The outcome of a closed branch, for its parent. */
export interface ClosedBranch {
  readonly branch: OpenBranch;
  /** Nested branches that were still open, innermost first. */
  readonly children: readonly string[];
  readonly durationMs: number;
  /** Null if it had no files of its own, or if they were discarded. */
  readonly merged: Merged | null;
}

/** Milliseconds after its timeout in which a branch may still return. */
const RETURN_GRACE_MS = 15 * 60_000;

/** Request id → branch whose files must not be merged while the call runs. Plain data, for the next daemon. */
export type HeldBranches = ReadonlyMap<string, string>;

/** The open branches of all sessions. They survive a restart of the daemon and end with their session. */
export class Branches {
  readonly name = 'branches';
  readonly #deps: BranchesDeps;
  readonly #tree = new BranchTree();
  readonly #fileEnds: FileEnds;
  /** Request id → changes of a merge, until the call reports them. */
  readonly #changes = new Map<string, FileChanges>();
  readonly #held = new Map<string, string>();

  constructor(deps: BranchesDeps) {
    this.#deps = deps;
    this.#fileEnds = new FileEnds(deps);
  }

  async start(): Promise<void> {
    await this.#deps.files.clean(this.#deps.clock.now());
    this.#tree.load(await this.#deps.store.load(this.#deps.clock.now()));
    await this.#deps.files.start();
  }

  async stop(): Promise<void> {
    this.#tree.clear();
  }

  /** The open branches of a session, oldest first. */
  of(session: Pick<SessionRef, 'project' | 'session'>): readonly OpenBranch[] {
    return this.#tree.of(session);
  }

  /** All branches of a project including closed ones, open ones first, then newest first. */
  list(project: string): Promise<ListedBranch[]> {
    return this.#deps.store.list(project);
  }

  /**
   * The branches whose files the session's calls see, outermost first; null: the base. Throws CONFLICT if one of them
   * is closed: a call that began earlier must not reach other files.
   */
  layersOf(session: Pick<SessionRef, 'branch'>): readonly string[] | null {
    return this.#tree.layersOf(session);
  }

  /**
   * Blocks merging the files of the session's branch while a call works on them. The returned function unblocks it.
   * Throws CONFLICT like `layersOf`.
   */
  hold(session: Pick<SessionRef, 'branch'>, requestId: string): () => void {
    const id = this.#tree.layersOf(session)?.at(-1);
    return id === undefined ? () => {} : this.#hold(requestId, id);
  }

  #hold(requestId: string, id: string): () => void {
    const release = this.#fileEnds.hold(id);
    this.#held.set(requestId, id);
    return () => {
      this.#held.delete(requestId);
      release();
    };
  }

  /** What running calls block. */
  leave(): HeldBranches {
    return new Map(this.#held);
  }

  /**
   * As `hold`, for a call of the daemon before: its own branch may be closed, and the one whose files it works on open. `waiting`: the
   * session of a call that may still wait for its turn there, and holds nothing yet.
   */
  adopt(requestId: string, held: HeldBranches, waiting: Pick<SessionRef, 'branch'>): () => void {
    const id = held.get(requestId) ?? this.#tree.innermostOf(waiting);
    return id === undefined ? () => {} : this.#hold(requestId, id);
  }

  /** Changes by the merge of a `return`. Can be taken once. */
  takeChanges(requestId: string): FileChanges | null {
    const changes = this.#changes.get(requestId) ?? null;
    this.#changes.delete(requestId);
    return changes;
  }

  /** The branch's remaining budget, for a tool with this effect. Throws NOT_FOUND, CONFLICT and RESOURCE_LIMIT. */
  async enter(session: SessionRef, effect: SessionEffect): Promise<{ tokens: number; ms: number }> {
    const branch = await this.#find(session);
    if (effect === 'return') return { tokens: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY };
    if (branch.filesState !== null && branch.filesState !== 'open') throw settled(branch);
    const nowMs = this.#deps.clock.now();
    const used = exhausted(branch, nowMs);
    if (used !== null) {
      throw new ContextdError('RESOURCE_LIMIT', `branch ${branch.id} has used up ${used} and does no more work`, {
        remedy: `Report what is done and what is open: ${returnCall(branch.id)}.`,
        details: { branch: branch.id, budget_tokens: branch.budgetTokens, tokens: branch.spentTokens },
      });
    }
    return { tokens: branch.budgetTokens - branch.spentTokens, ms: msLeft(branch, nowMs) };
  }

  warning({ branch: id }: SessionRef, tokens: number): string | null {
    const branch = this.#tree.get(id);
    return branch === undefined ? null : warningOf(branch, tokens, this.#deps.clock.now());
  }

  /** Charges an answer to the session's branch. The answer to a `return` is not charged: the parent reads it. */
  async charge({ branch: id }: SessionRef, call: BranchCall): Promise<void> {
    const branch = this.#tree.get(id);
    if (branch === undefined) return;
    branch.spentTokens += call.tokens;
    await this.#deps.store.addCall(branch.id, call);
  }

  /** Opens a branch in the session's branch or base. Throws RESOURCE_LIMIT and SANDBOX_UNAVAILABLE. */
  async open(session: SessionRef, asked: NewBranch, requestId: string): Promise<Branch & { notice: string | null }> {
    const { description, prompt, budgetTokens, timeoutMs, files } = asked;
    const parent = session.branch === null ? null : await this.#find(session);
    checkRoom(this.#tree.ancestors(session.branch).length, this.of(session));
    const nowMs = this.#deps.clock.now();
    const known = {
      id: newBranchId(),
      project: session.project,
      session: session.session,
      parent: session.branch,
      description,
      budgetTokens,
      openedMs: nowMs,
      files,
      // A branch ends no later than its parent.
      timeoutMs: parent === null ? timeoutMs : Math.max(1, Math.min(timeoutMs, msLeft(parent, nowMs))),
    };
    const filesState = files === 'own' ? ('open' as const) : null;
    const branch = { ...known, brief: briefOf(known, prompt), spentTokens: 0, filesState };
    this.#tree.add(branch);
    let notice: string | null = null;
    try {
      await this.#deps.store.add(branch);
      if (files === 'own') notice = (await this.#deps.files.open(this.#ownOf(branch))).notice;
    } catch (cause) {
      this.#tree.delete(branch.id);
      await this.#deps.store.remove(branch.id);
      throw cause;
    }
    this.#tree.keepChain(branch.id);
    this.#tell(branch, 'opened', description, requestId);
    return { ...branch, notice };
  }

  /** The calls of an open branch, oldest first. Throws NOT_FOUND and CONFLICT like `enter`. */
  async callsOf(session: SessionRef): Promise<{ branch: OpenBranch; calls: readonly BranchCall[] }> {
    const branch = await this.#find(session);
    return { branch, calls: await this.#deps.store.calls(branch.id) };
  }

  /** Closes the session's branch by its `return`, children first. NOT_FOUND and CONFLICT leave the branch open. */
  async close(session: SessionRef, report: Report): Promise<ClosedBranch> {
    const branch = await this.#find(session);
    // Another `return` came first.
    if (!this.#tree.has(branch.id)) return this.close(session, report);
    const { closed, merged } = await this.#close(branch, 'return', report);
    const children = closed.filter((id) => id !== branch.id);
    return { branch, children, durationMs: this.#deps.clock.now() - branch.openedMs, merged };
  }

  /** Dry run of merging the branch's files, for a person. Throws NOT_FOUND. */
  async planFiles(
    project: string,
    id: string,
    { resolutions, patchBytes }: { resolutions: Resolutions | null; patchBytes: number },
  ): Promise<ShownPlan & PatchReply> {
    const [branch] = (await this.#keptFamily(project, id)).slice(-1);
    if (branch === undefined) throw new ContextdError('NOT_FOUND', `the project has no branch ${id}`);
    const plan = await this.#deps.files.plan(branch.own, resolutions);
    const none = { patch: '', left: 0 };
    return { ...plan, ...(patchBytes > 0 ? await this.#deps.files.patch(branch.own, plan, patchBytes) : none) };
  }

  /**
   * Merges or discards the files of an open or closed branch, after those of its nested branches. An open branch can
   * then only return. Throws NOT_FOUND and CONFLICT.
   */
  async endFiles(project: string, id: string, settling: Settling): Promise<Merged | null> {
    const family = await this.#keptFamily(project, id);
    const open = family.flatMap(({ own }) => this.#tree.get(own.id) ?? []);
    for (const one of open) this.#tree.delete(one.id);
    try {
      await Promise.all(open.map((one) => this.#deps.stopJobs(sessionOf(one))));
      return await this.#fileEnds.settle(family, settling);
    } finally {
      for (const one of open.toReversed()) this.#tree.add(one);
    }
  }

  /** A branch, and those of its nested branches whose files are kept, innermost first. Throws NOT_FOUND. */
  async #keptFamily(project: string, id: string): Promise<OwnFiles[]> {
    return keptFamily(await this.#deps.store.list(project), id, new Map(this.#tree.all.map((one) => [one.id, one])));
  }

  /** Closes the branches that a session leaves open. */
  async endSession(session: SessionRef): Promise<void> {
    for (const branch of this.of(session)) if (this.#tree.has(branch.id)) await this.#close(branch, 'session');
  }

  /** Closes branches that did not return in time, and deletes files that were never merged. */
  async endOverdue(): Promise<void> {
    const nowMs = this.#deps.clock.now();
    await this.#deps.files.clean(nowMs);
    for (const branch of this.#tree.all) {
      if (this.#tree.has(branch.id) && msLeft(branch, nowMs) <= -RETURN_GRACE_MS) await this.#close(branch, 'timeout');
    }
  }

  /** Finds only branches of the same session; ids of other sessions are NOT_FOUND. */
  async #find({ project, session, branch: id }: SessionRef): Promise<OpenBranch> {
    const open = this.#tree.get(id);
    if (open?.project === project && open.session === session) return open;
    const ids = this.of({ project, session }).map((one) => one.id);
    const remedy = ids.length === 0 ? 'No branch is open: leave "branch" out.' : `Open are ${ids.join(', ')}.`;
    const shown = JSON.stringify((id ?? '').slice(0, 40));
    const closedBy = id === null ? null : await this.#deps.store.closing(project, session, id);
    if (closedBy === null) throw new ContextdError('NOT_FOUND', `this session has no branch ${shown}`, { remedy });
    throw new ContextdError('CONFLICT', `branch ${shown} is closed: ${HOW_CLOSED[closedBy] ?? closedBy}`, { remedy });
  }

  /** Events about a branch go to its parent's part of the log, because the parent knows about them. */
  #tell({ id, project, session, parent }: OpenBranch, action: string, text: string, requestId: string): void {
    this.#deps.events.append({
      session: { project, session, branch: parent },
      kind: 'branch',
      at: this.#deps.clock.now(),
      sensitivity: 'internal',
      text,
      facts: { action, id, requestId },
      artifact: null,
    });
  }

  async #close(
    branch: OpenBranch,
    by: Closing,
    report?: Report,
  ): Promise<{ closed: readonly string[]; merged: Merged | null }> {
    const family = this.#tree.family(branch);
    const closed = family.map(({ id }): { id: string; by: Closing } => ({ id, by: id === branch.id ? by : 'parent' }));
    let merged: Merged | null = null;
    // Closed for calls at once, so that no call starts meanwhile and no second `return` succeeds.
    for (const { id } of family) this.#tree.delete(id);
    try {
      await Promise.all(family.map((one) => this.#deps.stopJobs(sessionOf(one))));
      if (report !== undefined) {
        const call = { requestId: report.requestId, tool: report.tool };
        const own = family.filter(({ filesState }) => filesState !== null);
        const last = await this.#fileEnds.settle(
          own.map((one) => this.#filesOf(one)),
          { end: report.files, resolutions: null, call },
        );
        // Merges into the branch itself are not reported to the parent.
        if (branch.filesState !== null) merged = last;
        if (merged?.changes != null) this.#changes.set(report.requestId, merged.changes);
      }
      await this.#deps.store.close(closed, this.#deps.clock.now());
    } catch (cause) {
      for (const one of family.toReversed()) this.#tree.add(one);
      throw cause;
    }
    for (const one of family) {
      if (one.id === branch.id && report !== undefined) this.#tell(one, 'returned', report.message, report.requestId);
      else
        this.#tell(one, 'closed', `closed without a report: ${HOW_CLOSED[one.id === branch.id ? by : 'parent']}`, '');
    }
    return { closed: closed.map(({ id }) => id), merged };
  }

  #filesOf(branch: OpenBranch): OwnFiles {
    const setState = (state: FilesState | null): void => {
      branch.filesState = state;
    };
    return { own: this.#ownOf(branch), setState };
  }

  #ownOf({ id, project, session, parent }: Omit<OpenBranch, 'spentTokens'>): OwnBranch {
    return { id, project, session, outer: this.#tree.chainOf(parent) };
  }
}
