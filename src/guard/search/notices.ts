import { identityOf } from '../../fs/file-access.ts';
import { parentOf, type RawPath } from '../../fs/raw-path.ts';
import { passes } from '../git/judgement.ts';
import type { Access } from '../index/access.ts';
import type { ReportedName } from '../table/protected-names.ts';
import type { Judge, JudgeParts } from './judge.ts';
import type { Mover } from './mover.ts';

/** A path whose name is one of settings or of instructions for agents. */
export interface Noticed extends ReportedName {
  readonly name: RawPath;
}

interface NoticeParts extends Pick<JudgeParts, 'runs' | 'ledger' | 'pause'> {
  readonly judge: Judge;
  readonly mover: Mover;
  readonly access: Access;
}

/**
 * Reports what stays where it is and only a person can judge: settings that a run creates, and instructions for agents that
 * it creates or changes.
 */
export class Notices {
  readonly #parts: NoticeParts;
  /** The names of settings in each directory, as it was read last. */
  readonly #settings = new Map<RawPath, ReadonlySet<RawPath>>();
  /** What was reported: the inode and ctime of each path. */
  readonly #reported = new Map<RawPath, string>();

  constructor(parts: NoticeParts) {
    this.#parts = parts;
  }

  /** For a directory that was read as a whole. `isFresh`: a run may have made or moved it. */
  take(dir: RawPath, found: readonly Noticed[], isFresh: boolean): void {
    const before = isFresh ? undefined : this.#settings.get(dir);
    for (const one of found) {
      if (one.action === 'instructions' || before?.has(one.name) !== true) this.#judge(dir, one, isFresh);
    }
    const names = found.filter(({ action }) => action === 'settings').map(({ name }) => name);
    if (names.length > 0) this.#settings.set(dir, new Set(names));
    else this.#settings.delete(dir);
  }

  /** For a directory that did not change itself: instructions may have been written in place. */
  sweep(dir: RawPath, found: readonly Noticed[]): void {
    for (const one of found) if (one.action === 'instructions') this.#judge(dir, one, false);
  }

  /** For a directory that is gone. */
  forget(dir: RawPath): void {
    this.#settings.delete(dir);
  }

  #judge(dir: RawPath, { name, action, reason, content }: Noticed, isFresh: boolean): void {
    const { judge, mover, access, runs, ledger, pause } = this.#parts;
    pause();
    const path = `${dir}/${name}`;
    const stats = access.stat(path);
    if (stats === null || stats === 'closed' || mover.isSetAside(path)) return;
    if (!isFresh && !judge.mayBeRuns(stats, stats.ctimeMs)) return;
    const exact = access.exactStat(path);
    const identity = exact === null ? '' : identityOf(exact);
    const state = `${identity} ${stats.ctimeMs}`;
    if (exact === null || this.#reported.get(path) === state || runs.areAllShutOut(path, identity)) return;
    this.#reported.set(path, state);
    if (action === 'settings' && this.#isInNamed(dir)) return;
    if (ledger.accepts(path) && ledger.acceptsContent(path)) return;
    if (judge.isCopy(path) || (content !== null && passes(content, path))) return;
    mover.report(path, identity, reason);
  }

  /** What is in a directory that was itself reported or set aside is not named too. */
  #isInNamed(dir: RawPath): boolean {
    for (let at = dir; at !== ''; at = parentOf(at)) {
      if (this.#reported.has(at) || this.#parts.mover.isSetAside(at)) return true;
    }
    return false;
  }
}
