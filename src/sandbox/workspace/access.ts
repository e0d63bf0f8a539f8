import type { BigIntStats, Stats } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { exactStatAt, statAt } from './inode.ts';
import { reopenDirectory } from './quarantine.ts';
import { parentsBetween, type RawPath } from './raw-path.ts';
import type { Runs } from './runs.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** lstat for the scan, which opens what a run closed in order to hide it. A person's closed directory stays closed. */
export class Access {
  readonly #index: WorkspaceIndex;
  readonly #runs: Runs;
  readonly #devices = new Map<RawPath, number>();

  constructor(index: WorkspaceIndex, runs: Runs) {
    this.#index = index;
    this.#runs = runs;
  }

  /** Null when nothing is there; `closed` when it cannot be known. */
  stat(path: RawPath): Stats | null | 'closed' {
    try {
      return statAt(path);
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      if (cause.code === 'EACCES' && this.#reopenAbove(path)) return this.stat(path);
      return 'closed';
    }
  }

  /** After `stat`, with exact numbers. */
  exactStat(path: RawPath): BigIntStats | null {
    try {
      return exactStatAt(path);
    } catch (cause) {
      if (isErrno(cause)) return null;
      throw cause;
    }
  }

  /** Of the tree that holds `path`: on another device nothing is looked for. */
  deviceOf(path: RawPath): number | null {
    const root = this.#index.rootOf(path);
    const device = this.#devices.get(root) ?? statAt(root)?.dev ?? null;
    if (device !== null) this.#devices.set(root, device);
    return device;
  }

  /** True when the directory was closed, by a run, and is open now. */
  reopen(path: RawPath): boolean {
    try {
      const stats = statAt(path);
      if (stats === null || (stats.mode & 0o500) === 0o500) return false;
      if (stats.uid !== process.getuid?.() || !this.#runs.mayHaveStamped(stats.ctimeMs)) return false;
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
