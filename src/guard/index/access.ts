import type { BigIntStats, Stats } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { exactStatAt, reopenDirectory, statAt } from '../../fs/file-access.ts';
import { parentsBetween, type RawPath } from '../../fs/raw-path.ts';
import type { Runs } from './runs.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** lstat for the search. It opens a directory that a run closed to hide something; a directory that a person closed stays closed. */
export class Access {
  readonly #index: WorkspaceIndex;
  readonly #runs: Runs;
  readonly #devices = new Map<RawPath, number>();

  constructor(index: WorkspaceIndex, runs: Runs) {
    this.#index = index;
    this.#runs = runs;
  }

  /** Null if nothing is there; `closed` if it cannot be read. */
  stat(path: RawPath): Stats | null | 'closed' {
    try {
      return statAt(path);
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      if (cause.code === 'EACCES' && this.#reopenAbove(path)) return this.stat(path);
      return 'closed';
    }
  }

  /** Call `stat` first. Null if nothing is there or it cannot be read. */
  exactStat(path: RawPath): BigIntStats | null {
    try {
      return exactStatAt(path);
    } catch (cause) {
      if (isErrno(cause)) return null;
      throw cause;
    }
  }

  /** The device of the tree around `path`. Other devices are not searched. */
  deviceOf(path: RawPath): number | null {
    const root = this.#index.rootOf(path);
    const device = this.#devices.get(root) ?? statAt(root)?.dev ?? null;
    if (device !== null) this.#devices.set(root, device);
    return device;
  }

  /** Opens a directory that a run closed. Returns whether it did. */
  reopen(path: RawPath): boolean {
    try {
      const stats = statAt(path);
      if (stats === null || (stats.mode & 0o500) === 0o500) return false;
      const own = process.getuid?.();
      if ((own !== 0 && stats.uid !== own) || !this.#runs.mayHaveStamped(stats.ctimeMs)) return false;
      return reopenDirectory(path);
    } catch (cause) {
      if (isErrno(cause)) return false;
      throw cause;
    }
  }

  #reopenAbove(path: RawPath): boolean {
    const root = this.#index.rootOf(path);
    return [root, ...parentsBetween(root, path)].some((parent) => this.reopen(parent));
  }
}
