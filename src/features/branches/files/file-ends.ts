import { ContextdError } from '../../../core/errors.ts';
import type { FilesEnd, FilesState, OpenBranch } from '../branch.ts';
import type { BranchStore, ListedBranch } from '../branch-store.ts';
import type { BranchFiles, MergeCall, Merged, OwnBranch } from './branch-files.ts';
import type { Resolutions } from './merge-plan.ts';

/** How to end the files of a branch and of its nested branches. */
export interface Settling {
  readonly end: FilesEnd;
  /** For the branch itself. Null: those of the merge already begun, or none. */
  readonly resolutions: Resolutions | null;
  readonly call: MergeCall;
}

/** A branch whose files are to be merged or discarded. */
export interface OwnFiles {
  readonly own: OwnBranch;
  setState(state: FilesState | null): void;
}

export interface FileEndDeps {
  store: Pick<BranchStore, 'files'>;
  files: Pick<BranchFiles, 'merge' | 'discard'>;
  /** Called when the files of a branch were merged or discarded. */
  onFilesEnd?(branch: { project: string; session: string }, end: FilesEnd): void;
}

/** Ends the files of branches, once no call works on them. */
export class FileEnds {
  readonly #deps: FileEndDeps;
  /** Branch id → number of calls now working on its files. */
  readonly #calls = new Map<string, number>();

  constructor(deps: FileEndDeps) {
    this.#deps = deps;
  }

  /** Blocks merging the files of a branch. The returned function unblocks it. */
  hold(id: string): () => void {
    this.#calls.set(id, (this.#calls.get(id) ?? 0) + 1);
    return () => {
      const left = (this.#calls.get(id) ?? 1) - 1;
      if (left === 0) this.#calls.delete(id);
      else this.#calls.set(id, left);
    };
  }

  /**
   * Merges or discards the files of branches, innermost first; no call may start in them. Returns the result of the
   * last one. Throws CONFLICT; files merged before that stay merged into the enclosing branch.
   */
  async settle(family: readonly OwnFiles[], { end, resolutions, call }: Settling): Promise<Merged | null> {
    const { files, store } = this.#deps;
    for (const { own } of family) {
      const count = this.#calls.get(own.id) ?? 0;
      if (end === 'merge' && count > 0) throw busy(own.id, count);
    }
    let merged: Merged | null = null;
    for (const one of family) {
      try {
        if (end === 'discard') await files.discard(one.own);
        else merged = await files.merge(one.own, one === family.at(-1) ? resolutions : null, call);
      } finally {
        one.setState((await store.files(one.own.id))?.state ?? null);
      }
      this.#deps.onFilesEnd?.(one.own, end);
    }
    return merged;
  }
}

/** A branch, and those of its nested branches whose files are kept, innermost first. Throws NOT_FOUND. */
export function keptFamily(
  branches: readonly ListedBranch[],
  id: string,
  opened: ReadonlyMap<string, OpenBranch>,
): OwnFiles[] {
  const all = new Map(branches.map((one) => [one.id, one]));
  const around = (from: string | null): string[] => {
    const branch = from === null ? undefined : all.get(from);
    return branch === undefined ? [] : [...around(branch.parent), branch.id];
  };
  if (!all.has(id)) {
    throw new ContextdError('NOT_FOUND', `the project has no branch ${JSON.stringify(id.slice(0, 40))}`, {
      remedy: '`ctxd branch list --all` shows those of the last two weeks.',
    });
  }
  const isKept = (one: string): boolean => ['open', 'merging'].includes(all.get(one)?.filesState ?? '');
  const family = [...all.values()].filter((one) => around(one.id).includes(id) && (one.id === id || isKept(one.id)));
  const depth = (one: ListedBranch): number => around(one.id).length;
  return family
    .sort((a, b) => depth(b) - depth(a))
    .map((one) => ({
      own: { ...one, outer: around(one.parent).filter(isKept) },
      setState: (state) => {
        const open = opened.get(one.id);
        if (open !== undefined) open.filesState = state;
      },
    }));
}

function busy(id: string, count: number): ContextdError {
  const calls = count === 1 ? '1 call still works' : `${count} calls still work`;
  return new ContextdError('CONFLICT', `${calls} on the files of branch ${id}, so they are not merged`, {
    remedy: 'Wait for the answer, then return again.',
  });
}
