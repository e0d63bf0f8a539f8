import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Undo } from '../undo/undo.ts';
import { nameOfChange, type UndoFile, worthShowing } from '../undo/undo-plan.ts';
import type { Checkpoint, SavedFiles } from './checkpoint.ts';

/** Names that are kept of what is not covered. */
const UNCOVERED_MAX = 20;
/** Names the act in records, whether a tool or a person asked for it. */
export const RESTORED_BY = 'checkpoint_restore';
/** For whom the undo store keeps the lists. */
const HOLDER = 'checkpoints';
/** Files that an answer can name. */
const NAMED_MAX = 2_000;

export interface CheckpointFilesDeps {
  undo: Pick<Undo, 'save' | 'release' | 'trees' | 'planTree' | 'restoreTree'>;
  /** False if a person has turned `undo.enabled` off. */
  isEnabled: boolean;
  /** Whether what a session and branch sees is not the project itself. */
  hasOwnFiles(session: SessionRef): boolean;
  /** Masks names of files. Throws SCRUB_FAILED. */
  mask(session: SessionRef, texts: readonly string[]): Promise<readonly string[]>;
}

/** How the files differ from those of a checkpoint, or what was done about it. Names are masked. */
export interface FilesReport {
  /** Such as `restore src/a.ts`, those that stay first; at most 2,000. */
  readonly files: readonly { readonly action: UndoFile['action']; readonly path: string; readonly why: string }[];
  /** How many were, or would be, put back or removed, and how many stay as they are. */
  readonly changed: number;
  readonly stay: number;
  /** What the checkpoint does not hold, as `path: why`; at most 20 of `uncoveredCount`. */
  readonly uncovered: readonly string[];
  readonly uncoveredCount: number;
  /** Null for a report: nothing was done. */
  readonly applied: { readonly savedFirst: string; readonly undo: string } | null;
}

/** The files of a project as checkpoints hold them: lists in its undo store. */
export class CheckpointFiles {
  readonly #deps: CheckpointFilesDeps;

  constructor(deps: CheckpointFilesDeps) {
    this.#deps = deps;
  }

  /** Never throws for files that cannot be kept, or not within `maxMs`: the result says why. */
  async save(session: SessionRef, maxMs: number): Promise<SavedFiles> {
    const { undo, mask } = this.#deps;
    try {
      const whyNot = this.#whyNot(session);
      if (whyNot !== null) return notKept(whyNot);
      const { tree, uncovered, uncoveredCount } = await undo.save(session.project, HOLDER, maxMs);
      const names = await mask(session, uncovered.slice(0, UNCOVERED_MAX));
      return { tree, why: '', uncovered: names, uncoveredCount };
    } catch (thrown) {
      return notKept(ContextdError.from(thrown).message);
    }
  }

  /** Forgets the lists of a project that no checkpoint needs. */
  async keepOnly(project: string, trees: ReadonlySet<string>): Promise<void> {
    const { undo } = this.#deps;
    for (const tree of await undo.trees(project, HOLDER))
      if (!trees.has(tree)) await undo.release(project, tree, HOLDER);
  }

  /** What `apply` would do. Throws NOT_FOUND if the checkpoint holds no files, or none on this machine. */
  async plan({ id, session, createdMs, body: { files } }: Checkpoint): Promise<readonly UndoFile[]> {
    const { undo } = this.#deps;
    const whyNot = this.#whyNot(session);
    if (whyNot !== null) throw noFiles(id, whyNot);
    if (files.tree === null) throw noFiles(id, files.why);
    const held = await undo.trees(session.project, HOLDER);
    if (!held.includes(files.tree)) throw noFiles(id, 'they are not kept any more');
    return undo.planTree(session.project, files.tree, createdMs);
  }

  /** Puts back what `plan` says, and nothing if a file stays. Throws CONFLICT, and what `plan` throws. */
  async apply(
    { id, session, createdMs, body: { files } }: Checkpoint,
    requestId: string,
  ): Promise<{ files: readonly UndoFile[]; undo: string }> {
    if (files.tree === null) throw noFiles(id, files.why);
    const by = { tool: RESTORED_BY, session: session.session, isPartial: false };
    const call = requestId === '' ? by : { ...by, requestId };
    const done = await this.#deps.undo.restoreTree(session.project, files.tree, createdMs, call);
    return { files: done.files, undo: done.undone?.ref ?? '' };
  }

  async report(
    { session, body }: Checkpoint,
    files: readonly UndoFile[],
    applied: FilesReport['applied'],
  ): Promise<FilesReport> {
    const shown = worthShowing(files);
    const stay = shown.filter(({ action }) => action === 'keep');
    const named = [...stay, ...shown.filter(({ action }) => action !== 'keep')].slice(0, NAMED_MAX);
    const masked = await this.#deps.mask(
      session,
      named.flatMap(({ change, why }) => [nameOfChange(change), why]),
    );
    return {
      files: named.map(({ action }, i) => ({ action, path: masked[2 * i] ?? '', why: masked[2 * i + 1] ?? '' })),
      changed: shown.length - stay.length,
      stay: stay.length,
      uncovered: body.files.uncovered,
      uncoveredCount: body.files.uncoveredCount,
      applied,
    };
  }

  /** Throws CONFLICT if a file would stay as it is. */
  async checkAll(checkpoint: Checkpoint, files: readonly UndoFile[]): Promise<void> {
    const kept = files.filter(({ action }) => action === 'keep');
    if (kept.length === 0) return;
    const names = await this.#deps.mask(
      checkpoint.session,
      kept.slice(0, CONFLICTS_MAX).map(({ change }) => nameOfChange(change)),
    );
    const more = kept.length > CONFLICTS_NAMED ? ` and ${kept.length - CONFLICTS_NAMED} more` : '';
    const named = names.slice(0, CONFLICTS_NAMED).map((name) => JSON.stringify(name));
    throw new ContextdError(
      'CONFLICT',
      `the files of ${checkpoint.id} are not put back: not only calls have changed ${named.join(', ')}${more} since`,
      {
        remedy: `Nothing was written. The differences: ctxd checkpoint restore ${checkpoint.id} --files report (for an agent: checkpoint_restore '{"id":"${checkpoint.id}","files":"report"}'). Undo single calls: \`ctxd undo undo_…\`.`,
        details: { paths: names },
      },
    );
  }

  #whyNot(session: SessionRef): string | null {
    if (!this.#deps.isEnabled) return 'undo.enabled is off';
    return this.#deps.hasOwnFiles(session) ? 'the branch has files of its own' : null;
  }
}

const CONFLICTS_MAX = 50;
const CONFLICTS_NAMED = 5;

export function notKept(why: string): SavedFiles {
  return { tree: null, why, uncovered: [], uncoveredCount: 0 };
}

function noFiles(id: string, why: string): ContextdError {
  return new ContextdError('NOT_FOUND', `the files of checkpoint ${id} cannot be compared: ${why}`, {
    remedy: 'Restore it without `files`. What single calls changed is taken back with `ctxd undo`.',
  });
}
