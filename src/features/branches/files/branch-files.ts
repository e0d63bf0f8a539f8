import type { FileChanges } from '../../../call/outcome.ts';
import type { SetAside } from '../../../core/envelope.ts';
import { ContextdError } from '../../../core/errors.ts';
import { KeyedLock } from '../../../core/lock.ts';
import type { Logger } from '../../../core/log.ts';
import { type RawPath, toText } from '../../../fs/raw-path.ts';
import { parseListing } from '../../../sandbox/contract/merge-listing.ts';
import type { Commit, Entry, MergeOp, PatchReply, Refused } from '../../../sandbox/contract/merge-messages.ts';
import type { LayerKind } from '../../../sandbox/contract/mounted.ts';
import type { SandboxPolicy, WorkspaceView } from '../../../sandbox/contract/policy.ts';
import type { Sandbox } from '../../../sandbox/contract/sandbox.ts';
import type { Undo } from '../../undo/undo.ts';
import type { Branch, FilesState } from '../branch.ts';
import type { BranchStore } from '../branch-store.ts';
import { BranchStarts } from './branch-starts.ts';
import { conflict, notWritten } from './merge-errors.ts';
import {
  candidatesOf,
  type MergePlan,
  NO_RESOLUTIONS,
  planMerge,
  type Resolutions,
  type States,
} from './merge-plan.ts';

export interface BranchFilesDeps {
  sandbox: Pick<Sandbox, 'createLayer' | 'removeLayer' | 'keepLayers' | 'merge'>;
  undo: Pick<Undo, 'save' | 'release' | 'trees' | 'before' | 'after'>;
  store: BranchStore;
  /** Where the layers are. */
  layersDir: string;
  /** The policy of what lists and merges files. */
  policyFor(view: WorkspaceView): SandboxPolicy;
  logger: Logger;
}

/** A branch with files of its own. `outer`: the branches around it that have some, the outermost first. */
export interface OwnBranch extends Pick<Branch, 'id' | 'project' | 'session'> {
  readonly outer: readonly string[];
}

/** What a merge would do. */
export interface ShownPlan extends MergePlan {
  readonly state: FilesState;
  /** Not carried over. */
  readonly commits: readonly Commit[];
}

/** What a merge did. */
export interface Merged {
  /** Of the project, or of the branch around it, which has no undo: its `ref` is null. */
  readonly changes: FileChanges | null;
  readonly skipped: readonly Refused[];
  readonly commits: readonly Commit[];
  readonly quarantined: readonly SetAside[];
}

/** By whom a merge is made, for the records of undo. */
export interface MergeCall {
  readonly requestId: string;
  readonly tool: string;
}

const NAMED_MAX = 20;

/** The files of branches that have their own: kept apart, compared, merged or discarded. */
export class BranchFiles {
  readonly #deps: BranchFilesDeps;
  readonly #starts: BranchStarts;
  /** By branch: one step after another. */
  readonly #lock = new KeyedLock();

  constructor(deps: BranchFilesDeps) {
    this.#deps = deps;
    this.#starts = new BranchStarts(deps.layersDir);
  }

  /** Removes the files of branches that were closed two weeks ago. */
  async clean(nowMs: number): Promise<void> {
    for (const { id, project, session } of await this.#deps.store.expired(nowMs))
      await this.discard({ id, project, session, outer: [] });
  }

  /** Removes the files of branches that are not known any more. */
  async start(): Promise<void> {
    const { sandbox, store, logger } = this.#deps;
    const live = await store.withFiles();
    await sandbox
      .keepLayers(live)
      .catch((cause: unknown) => logger.warn('branches.not_swept', { cause: String(cause) }));
  }

  /**
   * Gives a branch files of its own, which begin as those of its parent. Throws SANDBOX_UNAVAILABLE with the reason if the
   * workspace can have none.
   */
  async open(branch: OwnBranch): Promise<{ kind: LayerKind; notice: string | null }> {
    const { sandbox, store, undo, policyFor } = this.#deps;
    const saved = branch.outer.length > 0 ? null : await undo.save(branch.project, branch.id).catch(() => null);
    const [parent, own] = [policyFor(parentView(branch)), policyFor(ownView(branch))];
    const open = await this.#list(parent, null);
    const kind = await sandbox.createLayer(own);
    try {
      const view = await this.#list(own, null);
      const hidden = [...open.listing.keys()].filter((path) => !view.listing.has(path));
      await this.#starts.writeListing(branch, 'open', open.listing);
      if (kind === 'copy') await this.#starts.writeListing(branch, 'copied', view.listing);
      await this.#starts.writeStart(branch, { kind, heads: open.heads, hidden });
      await store.openFiles(branch.id, saved?.tree ?? '');
    } catch (cause) {
      await this.#drop(branch);
      throw cause;
    }
    return { kind, notice: kind === 'copy' ? COPY_NOTICE : null };
  }

  /** What `merge` would do. Throws NOT_FOUND if the branch has no files. */
  async plan(branch: OwnBranch, resolutions: Resolutions | null): Promise<ShownPlan> {
    const { state, stored } = await this.#stateOf(branch);
    const { plan, commits } = await this.#plan(branch, resolutions ?? stored, state);
    return { ...plan, state, commits };
  }

  /** The differences of text files between the parent and the branch. */
  async patch(branch: OwnBranch, plan: MergePlan, maxBytes: number): Promise<PatchReply> {
    const isFile = ({ want, now }: MergeOp): boolean =>
      want.do !== 'mkdir' && want.do !== 'chmod' && (want.do !== 'remove' || now?.kind !== 'd');
    const paths = [...plan.ops.filter(isFile), ...plan.conflicts].map(({ path }) => path).sort();
    const { reply } = await this.#deps.sandbox.merge(this.#deps.policyFor(parentView(branch)), branch.id, {
      do: 'patch',
      paths,
      maxBytes,
    });
    return reply;
  }

  /**
   * Merges the files of a branch in which nothing runs into those of its parent, and removes them. Call it again if it was
   * killed: it goes on. Throws CONFLICT, and then nothing was written unless the error says so.
   */
  merge(branch: OwnBranch, resolutions: Resolutions | null, call: MergeCall): Promise<Merged> {
    return this.#lock.run(branch.id, async () => {
      const { state, stored } = await this.#stateOf(branch);
      if (state === 'merged' || state === 'discarded') {
        await this.#drop(branch);
        return NOTHING_MERGED;
      }
      const chosen = resolutions ?? stored;
      const { plan, commits } = await this.#plan(branch, chosen, state);
      if (plan.conflicts.length > 0) throw conflict(branch, plan.conflicts, state === 'merging');
      if (state === 'open') await this.#keepBefore(branch);
      await this.#deps.store.setFiles(branch.id, 'merging', chosen);
      const applied = await this.#apply(branch, plan, state, call);
      await this.#deps.store.setFiles(branch.id, 'merged', chosen);
      await this.#drop(branch);
      return { ...applied, skipped: plan.skipped, commits };
    });
  }

  /** Removes the files of a branch for good. */
  discard(branch: OwnBranch): Promise<void> {
    return this.#lock.run(branch.id, async () => {
      const { state } = await this.#stateOf(branch);
      if (state === 'merging') await this.#removeDrafts(branch);
      if (state !== 'merged') await this.#deps.store.setFiles(branch.id, 'discarded', NO_RESOLUTIONS);
      await this.#drop(branch);
    });
  }

  async #plan(
    branch: OwnBranch,
    resolutions: Resolutions,
    state: FilesState,
  ): Promise<{ plan: MergePlan; commits: readonly Commit[] }> {
    const { sandbox, policyFor } = this.#deps;
    const [parent, own] = [policyFor(parentView(branch)), policyFor(ownView(branch))];
    const opened = await this.#starts.readStart(branch);
    const open = await this.#starts.readListing(branch, 'open');
    const copied = opened.kind === 'copy' ? await this.#starts.readListing(branch, 'copied') : null;
    const base = (await this.#list(parent, null)).listing;
    const { listing: view, commits } = await this.#list(own, opened.heads);
    const compared = {
      open,
      base,
      view,
      copied,
      hidden: new Set(opened.hidden),
      resolutions,
      isResumed: state === 'merging',
    };
    const paths = candidatesOf(compared);
    if (paths.length === 0) return { plan: planMerge({ ...compared, states: NO_STATES }), commits };
    const { tree } = await this.#stateOf(branch);
    const inBase = (await sandbox.merge(parent, null, { do: 'states', paths, tree })).reply;
    const inView = (await sandbox.merge(own, null, { do: 'states', paths, tree: '' })).reply;
    const states = {
      open: statesOf(paths, inBase.saved),
      base: statesOf(paths, inBase.now),
      view: statesOf(paths, inView.now),
    };
    return { plan: planMerge({ ...compared, states }), commits };
  }

  /** Keeps how the files are before the first one is written, so that what a killed merge did can be undone with the rest. */
  async #keepBefore(branch: OwnBranch): Promise<void> {
    if (branch.outer.length > 0) return;
    const saved = await this.#deps.undo.save(branch.project, branch.id).catch(() => null);
    await this.#starts.writeBefore(branch, saved?.tree ?? '');
  }

  async #apply(
    branch: OwnBranch,
    { ops, done }: MergePlan,
    before: FilesState,
    call: MergeCall,
  ): Promise<Pick<Merged, 'changes' | 'quarantined'>> {
    if (ops.length === 0 && before === 'open') return { changes: null, quarantined: [] };
    const { sandbox, undo, policyFor, store } = this.#deps;
    const by = { ...call, session: branch.session };
    const watched = branch.outer.length > 0 ? null : await undo.before(branch.project, by);
    let changes: FileChanges | null = null;
    let result: Awaited<ReturnType<typeof sandbox.merge<{ do: 'apply'; ops: readonly MergeOp[] }>>>;
    try {
      result = await sandbox.merge(policyFor(parentView(branch)), branch.id, { do: 'apply', ops });
    } finally {
      if (watched !== null) {
        const tree = before === 'open' ? '' : await this.#starts.readBefore(branch);
        // A file that a directory replaces is removed first.
        const halfDone = ops.filter(({ now }) => now === null || now.kind === 'd').map(({ path }) => path);
        const earlier = tree === '' ? null : { tree, paths: new Set([...done, ...halfDone]) };
        changes = await undo.after(branch.project, watched, earlier);
      }
    }
    const { conflicts, failed, applied } = result.reply;
    if (conflicts.length + failed.length > 0) {
      if (applied === 0 && before === 'open') await store.setFiles(branch.id, 'open', NO_RESOLUTIONS);
      const isWritten = applied > 0 || before === 'merging';
      throw conflicts.length > 0 ? conflict(branch, conflicts, isWritten) : notWritten(branch, failed, isWritten);
    }
    return { changes: changes ?? (ops.length === 0 ? null : changesOf(ops)), quarantined: result.quarantined };
  }

  /** What a killed merge left beside the files. */
  async #removeDrafts(branch: OwnBranch): Promise<void> {
    const { sandbox, policyFor, logger } = this.#deps;
    await sandbox
      .merge(policyFor(parentView(branch)), branch.id, { do: 'apply', ops: [] })
      .catch((cause: unknown) => logger.warn('branches.drafts_left', { branch: branch.id, cause: String(cause) }));
  }

  async #drop({ project, id }: OwnBranch): Promise<void> {
    const { sandbox, undo } = this.#deps;
    for (const tree of await undo.trees(project, id)) await undo.release(project, tree, id);
    await sandbox.removeLayer(project, id);
  }

  async #stateOf(branch: OwnBranch): Promise<{ state: FilesState; stored: Resolutions; tree: string }> {
    const known = await this.#deps.store.files(branch.id);
    if (known !== null) return known;
    throw new ContextdError('NOT_FOUND', `branch ${branch.id} has no files of its own`, {
      remedy: '`ctxd branch list --all` shows which branches have.',
    });
  }

  async #list(policy: SandboxPolicy, heads: readonly string[] | null) {
    const { reply } = await this.#deps.sandbox.merge(policy, null, { do: 'list', heads });
    return { ...reply, listing: parseListing(reply.listing) };
  }
}

const NOTHING_MERGED: Merged = { changes: null, skipped: [], commits: [], quarantined: [] };
const NO_STATES = { open: new Map(), base: new Map(), view: new Map() };
const COPY_NOTICE = 'this machine can mount no overlay here, so the branch works on a copy of the project';

function parentView({ project, outer }: OwnBranch): WorkspaceView {
  return { path: project, layer: outer.length === 0 ? null : outer };
}

function ownView({ project, outer, id }: OwnBranch): WorkspaceView {
  return { path: project, layer: [...outer, id] };
}

function statesOf(paths: readonly RawPath[], found: readonly (string | null)[]): States {
  return new Map(paths.flatMap((path, i): [RawPath, string][] => (found[i] == null ? [] : [[path, found[i]]])));
}

/** `A`, `M` or `D`, and the path. */
export function describeOp({ path, now, want }: { path: RawPath; now: Entry | null; want: MergeOp['want'] }): string {
  return `${want.do === 'remove' ? 'D' : now === null ? 'A' : 'M'} ${toText(path)}`;
}

/** What undo did not see: it is off, or the files are those of a branch. Directories are not named, as there. */
function changesOf(ops: readonly MergeOp[]): FileChanges {
  const files = ops.filter(({ now, want }) => want.do !== 'mkdir' && now?.kind !== 'd');
  return {
    ref: null,
    files: files.slice(0, NAMED_MAX).map(describeOp),
    more: Math.max(0, files.length - NAMED_MAX),
    notCovered: [],
  };
}
