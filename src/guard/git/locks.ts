import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import { isErrno } from '../../core/errors.ts';
import { earliestFileTime, mayChangeUnseen } from '../../fs/file-time.ts';
import type { RawPath } from '../../fs/raw-path.ts';
import { gitDirOf } from './git-dir.ts';

interface Look {
  readonly atMs: number;
  readonly round: number;
  /** Whether a git works in the trees, or in a place that cannot be seen. */
  readonly hasGit: boolean;
  readonly openFiles: ReadonlySet<RawPath>;
}

/**
 * Whether a running program may hold a lock of git: a git in one of its worktrees, even if it has closed the lock, as
 * `git commit` does while an editor is open; or any program that has the lock open.
 *
 * A command can leave many locks, and a look at all processes takes some milliseconds. So one look serves all locks that are
 * older: those that nothing held then for good, and the others for this round.
 */
export class GitLocks {
  readonly #clock: Clock;
  readonly #isInTrees: (path: RawPath) => boolean;
  #last: Look | null = null;

  /** `isInTrees`: whether a path is in the trees that are searched. */
  constructor(clock: Clock, isInTrees: (path: RawPath) => boolean) {
    this.#clock = clock;
    this.#isInTrees = isInTrees;
  }

  /** `round`: any number that changes from time to time. */
  mayBeHeld(lock: RawPath, ctimeMs: number, round: number): boolean {
    const last = this.#last;
    const isOlder = last !== null && !mayChangeUnseen(ctimeMs, last.atMs);
    if (isOlder && (last.round === round || !isHeldIn(last, lock))) return isHeldIn(last, lock);
    return isHeldIn(this.#look(round), lock);
  }

  #look(round: number): Look {
    const atMs = earliestFileTime(this.#clock);
    const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name));
    this.#last = {
      atMs,
      round,
      hasGit: pids.some((pid) => this.#isGitHere(pid)),
      openFiles: new Set(pids.flatMap(openFilesOf)),
    };
    return this.#last;
  }

  #isGitHere(pid: string): boolean {
    if (!textOf(`/proc/${pid}/comm`).startsWith('git')) return false;
    const isTold = textOf(`/proc/${pid}/cmdline`).includes('--git-dir');
    if (isTold || textOf(`/proc/${pid}/environ`).includes('GIT_DIR=')) return true;
    try {
      const cwd = readlinkSync(`/proc/${pid}/cwd`, 'latin1');
      return this.#isInTrees(cwd) || this.#isInTrees(repositoryOf(cwd));
    } catch (cause) {
      // It has ended, or it is another user's.
      if (isErrno(cause)) return !isErrno(cause, 'ENOENT', 'ESRCH');
      throw cause;
    }
  }
}

function isHeldIn({ hasGit, openFiles }: Look, lock: RawPath): boolean {
  return hasGit || openFiles.has(lock);
}

function repositoryOf(dir: RawPath): RawPath {
  try {
    return gitDirOf(dir) ?? '/';
  } catch (cause) {
    if (isErrno(cause)) return '/';
    throw cause;
  }
}

/** Files of processes of other users cannot be seen. */
function openFilesOf(pid: string): RawPath[] {
  const dir = `/proc/${pid}/fd`;
  return namesIn(dir).flatMap((fd) => orElse([], () => [readlinkSync(`${dir}/${fd}`, 'latin1')]));
}

function namesIn(dir: string): string[] {
  return orElse([], () => readdirSync(dir));
}

function textOf(file: string): string {
  return orElse('', () => readFileSync(file, 'latin1'));
}

/** A process may end at any time. */
function orElse<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (isErrno(cause)) return otherwise;
    throw cause;
  }
}
