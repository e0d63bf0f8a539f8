import { isWithin, parentOf, type RawPath, toText } from '../../../fs/raw-path.ts';
import { isProtectedIn } from '../../../guard/table/protected-names.ts';
import { isSameEntry, isUntouched } from '../../../sandbox/contract/merge-listing.ts';
import {
  type Entry,
  type Listing,
  type MergeOp,
  type Refused,
  STAGE,
  type Want,
} from '../../../sandbox/contract/merge-messages.ts';
import type { FileState } from '../../../sandbox/contract/snapshot-messages.ts';

/** Who decides a path that both sides changed. A path speaks for everything below it. */
export interface Resolutions {
  readonly keepBase: readonly RawPath[];
  readonly takeBranch: readonly RawPath[];
  readonly mergeText: readonly RawPath[];
}

export const NO_RESOLUTIONS: Resolutions = { keepBase: [], takeBranch: [], mergeText: [] };

/** What a merge compares. */
export interface MergeInput {
  /** The base when the branch was opened. */
  readonly open: Listing;
  /** The base now. */
  readonly base: Listing;
  /** What the branch sees. */
  readonly view: Listing;
  /** What the branch saw when it was opened, if it is a copy: a copy of a file is no change. Null for an overlay. */
  readonly copied: Listing | null;
  /** Paths that the branch never saw, although the base has them. */
  readonly hidden: ReadonlySet<RawPath>;
  /** What files of `candidatesOf` hold; a missing one is not known. */
  readonly states: { readonly open: States; readonly base: States; readonly view: States };
  readonly resolutions: Resolutions;
  /** True if a merge of the branch has begun before. */
  readonly isResumed: boolean;
}

export type States = ReadonlyMap<RawPath, FileState>;

export interface MergePlan {
  readonly ops: readonly MergeOp[];
  /** If there is any, nothing may be written. */
  readonly conflicts: readonly Refused[];
  /** What the branch changed and a merge never carries over. */
  readonly skipped: readonly Refused[];
  /** What the base has already as the branch wants it: a merge that was killed did it, or both sides made the same change. */
  readonly done: readonly RawPath[];
}

/** Why a path is left out of every merge; null if it is not. */
export function whyNever(path: RawPath): string | null {
  const names = path.split('/');
  if (names[0] === STAGE) return 'the name is used by merges';
  for (const [index, name] of names.entries()) {
    if (name.toLowerCase() === '.git') return 'git repositories are not merged';
    if (isProtectedIn(names.slice(0, index).join('/'), name)) return 'a program on the host would run or trust it';
  }
  return null;
}

/** Files whose content decides. */
export function candidatesOf(input: Pick<MergeInput, 'base' | 'view' | 'copied' | 'hidden'>): RawPath[] {
  return changedPaths(input).filter((path) => input.view.get(path)?.kind === 'f' || input.base.get(path)?.kind === 'f');
}

/** What the branch changed: an unchanged file of an overlay has the times of its base. */
function changedPaths({ base, view, copied, hidden }: Pick<MergeInput, 'base' | 'view' | 'copied' | 'hidden'>) {
  const before = copied ?? base;
  const changed: RawPath[] = [];
  for (const [path, entry] of view) {
    const was = before.get(path);
    if (was === undefined || !isSameEntry(was, entry)) changed.push(path);
  }
  for (const path of before.keys()) if (!view.has(path) && !hidden.has(path)) changed.push(path);
  return changed;
}

function isLeaf(entry: Entry | undefined): boolean {
  return entry !== undefined && entry.kind !== 'd';
}

/** Three-way, by path, by the table of docs/branches.md. */
export function planMerge(input: MergeInput): MergePlan {
  return new Planner(input).plan();
}

class Planner {
  readonly #input: MergeInput;
  readonly #ops = new Map<RawPath, MergeOp>();
  readonly #conflicts = new Map<RawPath, string>();
  readonly #skipped = new Map<RawPath, string>();
  readonly #done: RawPath[] = [];
  readonly #closed: readonly RawPath[];

  constructor(input: MergeInput) {
    this.#input = input;
    const listings = [input.open, input.base, input.view];
    this.#closed = listings.flatMap((listing) => [...listing].flatMap(([path, one]) => (one.isClosed ? [path] : [])));
  }

  plan(): MergePlan {
    const { open, base, view } = this.#input;
    for (const path of changedPaths(this.#input)) this.#decide(path);
    for (const path of open.keys()) if (!isLeaf(base.get(path)) && !isLeaf(view.get(path))) this.#done.push(path);
    this.#makeParents();
    this.#keepWhole();
    const listOf = (found: ReadonlyMap<RawPath, string>): Refused[] =>
      Array.from(found, ([path, why]) => ({ path, why })).sort((a, b) => (a.path < b.path ? -1 : 1));
    const ops = [...this.#ops.values()].filter(({ path }) => !this.#conflicts.has(path));
    return {
      ops: ops.sort((a, b) => (a.path < b.path ? -1 : 1)),
      conflicts: listOf(this.#conflicts),
      skipped: listOf(this.#skipped),
      done: this.#done,
    };
  }

  #decide(path: RawPath): void {
    const { open, base, view } = this.#input;
    const [was, now, own] = [open.get(path), base.get(path), view.get(path)];
    if (this.#isAsNow(path, now, own)) {
      this.#done.push(path);
      if (own !== undefined && hasSpecialBits(own, now)) this.#skipped.set(path, SPECIAL_BITS);
      return;
    }
    const never = whyNever(path) ?? this.#whyUnknown(path) ?? whySpecial(own ?? now);
    if (never !== null) {
      this.#skipped.set(path, never);
      return;
    }
    const choice = this.#choiceFor(path);
    if (choice === 'keep') return;
    if (own !== undefined && this.#isUnchanged(path, was, own)) return;
    if (choice === 'take' || this.#isUnchanged(path, was, now) || this.#isHalfReplaced(was, now, own))
      this.#put(path, now, own);
    else if (isHalfMade(was, now, own)) this.#put(path, now, own);
    else if (choice === 'text') this.#mergeText(path, was, now, own);
    else this.#conflicts.set(path, whyConflict(was, now, own));
  }

  /** Whether the base already is as the branch wants it. */
  #isAsNow(path: RawPath, now: Entry | undefined, own: Entry | undefined): boolean {
    if (now === undefined || own === undefined) return now === own;
    if (now.kind !== own.kind || now.kind === 's') return false;
    if (now.kind === 'l') return now.target === own.target;
    if (now.kind === 'd') return bitsOf(now) === bitsOf(own);
    const { base, view } = this.#input.states;
    return base.has(path) && base.get(path) === view.get(path);
  }

  /** Whether one side is as the base was when the branch was opened. */
  #isUnchanged(path: RawPath, was: Entry | undefined, one: Entry | undefined): boolean {
    if (was === undefined || one === undefined) return was === one;
    if (was.kind !== one.kind) return false;
    if (was.kind === 'l') return was.target === one.target;
    if (was.kind !== 'f') return bitsOf(was) === bitsOf(one);
    const { open, base, view } = this.#input.states;
    const state = (one === this.#input.view.get(path) ? view : base).get(path);
    const opened = open.get(path);
    if (state !== undefined && opened !== undefined) return state === opened;
    if (!isUntouched(was, one)) return false;
    return was.id === '' || idIn(state) === was.id;
  }

  /** A merge that was killed has removed it, and had not yet written what comes in its place. */
  #isHalfReplaced(was: Entry | undefined, now: Entry | undefined, own: Entry | undefined): boolean {
    return (
      this.#input.isResumed && now === undefined && was !== undefined && own !== undefined && was.kind !== own.kind
    );
  }

  #put(path: RawPath, now: Entry | undefined, own: Entry | undefined): void {
    const want = this.#wantOf(path, now, own);
    if (want === null) this.#conflicts.set(path, 'the file of the branch cannot be read');
    else this.#ops.set(path, { path, now: now ?? null, want });
    if (own !== undefined && hasSpecialBits(own, now)) this.#skipped.set(path, SPECIAL_BITS);
  }

  /** Null if the content of the branch is not known. */
  #wantOf(path: RawPath, now: Entry | undefined, own: Entry | undefined): Want | null {
    if (own === undefined) return { do: 'remove' };
    const mode = bitsOf(own);
    if (own.kind === 'l') return { do: 'link' };
    if (own.kind === 'd') {
      return now?.kind === 'd' ? { do: 'chmod', mode: (now.mode & SPECIAL) | mode } : { do: 'mkdir', mode };
    }
    // Also if only the mode differs: a chmod would reach the other names of the file.
    return this.#input.states.view.has(path) ? { do: 'put', mode } : null;
  }

  #mergeText(path: RawPath, was: Entry | undefined, now: Entry | undefined, own: Entry | undefined): void {
    const opened = this.#input.states.open.get(path);
    if (now?.kind !== 'f' || own?.kind !== 'f' || was?.kind !== 'f') {
      this.#conflicts.set(path, `${whyConflict(was, now, own)}; only a file that both changed can be merged as text`);
    } else if (opened === undefined) {
      this.#conflicts.set(path, `${whyConflict(was, now, own)}; its content at the opening is not kept`);
    } else {
      const mode = bitsOf(own) === bitsOf(was) ? bitsOf(now) : bitsOf(own);
      this.#ops.set(path, { path, now, want: { do: 'text', mode, open: idIn(opened) ?? '' } });
    }
  }

  /** What a person takes from the branch gets the directories that the base has not any more. */
  #makeParents(): void {
    const { base, view } = this.#input;
    for (const path of [...this.#ops.keys()]) {
      if (this.#choiceFor(path) !== 'take' || !view.has(path)) continue;
      for (let above = aboveOf(path); above !== ''; above = aboveOf(above)) {
        const isGone = !base.has(above) || this.#choiceFor(above) === 'take';
        if (!isGone || this.#ops.has(above) || base.get(above)?.kind === 'd') continue;
        this.#put(above, base.get(above), view.get(above));
      }
    }
  }

  /**
   * Nothing may be left without its directory. A directory that must keep something stays; a file of the branch in a
   * directory that the base has no more is a conflict.
   */
  #keepWhole(): void {
    const { base, hidden } = this.#input;
    const staying = new Set<RawPath>();
    const paths = [...new Set([...base.keys(), ...this.#ops.keys()])];
    for (const path of paths.sort((a, b) => b.length - a.length)) {
      const above = aboveOf(path);
      if (above === '' || !this.#isThere(path) || this.#isDirectory(above)) continue;
      if (this.#ops.has(path)) {
        const what = base.has(above) && !this.#ops.has(above) ? 'is no directory any more' : 'was deleted';
        this.#conflicts.set(path, `the branch wrote it, and ${toText(above)} ${what} in the workspace`);
        continue;
      }
      const never = whyNever(path) ?? (hidden.has(path) ? 'the branch never saw it' : null);
      const choice = this.#choiceFor(path);
      if (choice === 'take' && never === null && !this.#skipped.has(path) && !staying.has(path)) {
        this.#put(path, base.get(path), undefined);
        continue;
      }
      if (never !== null) this.#skipped.set(path, never);
      const isKept = this.#skipped.has(path) || staying.has(path) || choice === 'keep' || this.#conflicts.has(path);
      if (!isKept) this.#conflicts.set(path, 'it is new in the workspace, and the branch deleted its directory');
      const op = this.#ops.get(above);
      if (op !== undefined && op.want.do !== 'remove')
        this.#conflicts.set(above, `the branch replaced the directory, and ${toText(path)} stays in it`);
      this.#ops.delete(above);
      staying.add(above);
    }
  }

  /** After the merge. */
  #isThere(path: RawPath): boolean {
    const op = this.#ops.get(path);
    return op === undefined ? this.#input.base.has(path) : op.want.do !== 'remove';
  }

  #isDirectory(path: RawPath): boolean {
    const op = this.#ops.get(path);
    if (op === undefined) return this.#input.base.get(path)?.kind === 'd';
    return op.want.do === 'mkdir' || (op.want.do === 'chmod' && op.now?.kind === 'd');
  }

  #whyUnknown(path: RawPath): string | null {
    const above = this.#closed.find((one) => isWithin(one, path));
    return above === undefined ? null : `${toText(above)} cannot be read`;
  }

  #choiceFor(path: RawPath): 'keep' | 'take' | 'text' | null {
    const { keepBase, takeBranch, mergeText } = this.#input.resolutions;
    const names = (paths: readonly RawPath[]): boolean => paths.some((one) => one === '' || isWithin(one, path));
    if (names(keepBase)) return 'keep';
    if (names(takeBranch)) return 'take';
    return names(mergeText) ? 'text' : null;
  }
}

const SPECIAL = 0o7000;
const SPECIAL_BITS = 'setuid, setgid and sticky are left out';

function bitsOf({ mode }: Entry): number {
  return mode & 0o777;
}

function hasSpecialBits(own: Entry, now: Entry | undefined): boolean {
  return own.kind !== 'l' && (own.mode & SPECIAL & ~(now?.mode ?? 0)) !== 0;
}

function idIn(state: FileState | undefined): string | undefined {
  return state?.split(' ')[1];
}

/** A directory that a merge made, which was killed before the directory got its rights. */
function isHalfMade(was: Entry | undefined, now: Entry | undefined, own: Entry | undefined): boolean {
  if (was !== undefined || now?.kind !== 'd' || own?.kind !== 'd') return false;
  return bitsOf(now) === (bitsOf(own) | 0o300);
}

function whySpecial(entry: Entry | undefined): string | null {
  return entry?.kind === 's' ? 'it is a socket, pipe or device' : null;
}

function whyConflict(was: Entry | undefined, now: Entry | undefined, own: Entry | undefined): string {
  if (was === undefined) return own === undefined ? 'new in the workspace, and deleted in the branch' : 'made in both';
  if (now === undefined) return 'deleted in the workspace, and changed in the branch';
  return own === undefined ? 'changed in the workspace, and deleted in the branch' : 'changed in both';
}

/** '' for a path at the top. */
function aboveOf(path: RawPath): RawPath {
  return path.includes('/') ? parentOf(path) : '';
}
