import type { FileChanges } from '../../call/outcome.ts';
import type { RawPath } from '../../fs/raw-path.ts';
import type { CallFiles } from '../branches/branch-runner.ts';
import type { Branches } from '../branches/branches.ts';
import type { CallId, UndoState, Watched } from '../undo/call-changes.ts';
import type { Undo } from '../undo/undo.ts';
import type { Relocation } from './relocation.ts';

type WatchedUndo = Pick<Undo, 'before' | 'after' | 'changesOf'>;

/** What is written about the files of calls, wherever the calls run. */
export class RelocatedUndo implements WatchedUndo {
  readonly changesOf: WatchedUndo['changesOf'];
  readonly #undo: WatchedUndo & Pick<Undo, 'adopt'>;
  /** By request id: calls of the daemon before. */
  readonly #watched = new Map<string, { readonly project: string; readonly watched: Watched }>();
  readonly #before: (project: string, call: CallId, input: string) => Promise<Watched | null>;
  readonly #after: (
    project: string,
    requestId: string,
  ) => Promise<{ fileChanges: FileChanges | null; changed: readonly RawPath[] }>;

  constructor(undo: WatchedUndo & Pick<Undo, 'adopt'>, relocation: Relocation) {
    this.#undo = undo;
    this.changesOf = relocation.work('undo.changesOf', (project: string, requestId: string) =>
      undo.changesOf(project, requestId),
    );
    this.#before = relocation.work('undo.before', async (project: string, call: CallId, input: string) => {
      const watched = await undo.before(project, call, input);
      if (watched !== null) this.#watched.set(call.requestId, { project, watched });
      return watched;
    });
    this.#after = relocation.work('undo.after', async (project: string, requestId: string) => {
      const known = this.#watched.get(requestId);
      this.#watched.delete(requestId);
      const fileChanges = known === undefined ? null : await undo.after(project, known.watched);
      return { fileChanges, changed: known?.watched.changed ?? [] };
    });
  }

  before(project: string, call: CallId, input = ''): Promise<Watched | null> {
    return this.#before(project, call, input);
  }

  async after(project: string, watched: Watched): Promise<FileChanges | null> {
    const { fileChanges, changed } = await this.#after(project, watched.call.requestId);
    watched.changed = changed;
    return fileChanges;
  }

  adopt(state: UndoState): void {
    for (const watched of this.#undo.adopt(state)) {
      const project = state.find(({ calls }) => calls.includes(watched))?.project;
      if (project !== undefined) this.#watched.set(watched.call.requestId, { project, watched });
    }
  }

  /** Ends a call whose daemon is gone. */
  async cutShort(requestId: string): Promise<FileChanges | null> {
    const known = this.#watched.get(requestId);
    return known === undefined ? null : (await this.#after(known.project, requestId)).fileChanges;
  }
}

/** The changes of a merge, by whichever daemon made it. */
export function relocatedChanges(branches: Pick<Branches, 'hold' | 'takeChanges'>, relocation: Relocation): CallFiles {
  const changesThere = relocation.work('branches.takeChanges', async (requestId: string) =>
    branches.takeChanges(requestId),
  );
  return {
    hold: (session, requestId) => branches.hold(session, requestId),
    takeChanges: async (requestId) => branches.takeChanges(requestId) ?? changesThere(requestId),
  };
}
