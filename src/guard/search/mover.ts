import { randomBytes } from 'node:crypto';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { exactStatAt, identityOf, linkTextAt } from '../../fs/file-access.ts';
import { nameOf, type RawPath, toText } from '../../fs/raw-path.ts';
import { isSpecial } from '../../fs/read-directory.ts';
import { excludeSetAside, repositoryAt } from '../git/exclude.ts';
import type { Access } from '../index/access.ts';
import type { Runs } from '../index/runs.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';
import type { QuarantineLedger } from '../quarantine/ledger.ts';
import { removeAt, removeEmpty, restoreLink } from '../quarantine/set-aside.ts';
import { stateNow } from '../quarantine/state.ts';
import { reasonFor } from '../table/protected-names.ts';

export interface MoverParts {
  readonly index: WorkspaceIndex;
  readonly runs: Runs;
  /** Whether a sandbox is being built with this path mounted: an empty file or directory there may be bubblewrap's. */
  readonly isBeingBuilt: (path: RawPath) => boolean;
  readonly ledger: QuarantineLedger;
  readonly logger: Logger;
  /** Called often during long work, so that others need not wait. */
  readonly pause: () => void;
}

/** Carries out what was decided about a dangerous path: moves it aside, removes it, puts it back or reports it. */
export class Mover {
  readonly #parts: MoverParts;
  readonly #access: Access;
  /** The new names of paths that were moved aside within the project. Their ctimes lie within the run. */
  readonly #setAside = new Set<RawPath>();
  /** Inodes that were moved aside. The move gave them a ctime after the run, which their other names share. */
  readonly #moved = new Set<string>();
  #failure: ContextdError | null = null;

  constructor(parts: MoverParts, access: Access) {
    this.#parts = parts;
    this.#access = access;
  }

  /** Whether this is the new name of something that was moved aside within the project. */
  isSetAside(path: RawPath): boolean {
    return this.#setAside.has(path);
  }

  /** Returns, once, the error that kept a dangerous path from being moved aside. */
  takeFailure(): ContextdError | null {
    const failure = this.#failure;
    this.#failure = null;
    return failure;
  }

  /** Whether this is another name of a file that was moved aside. */
  hasMoved(stats: { dev: number; ino: number }): boolean {
    return this.#moved.has(inodeOf(stats));
  }

  /** Leaves a path where it is, logs it, and reports it to the runs that may have made it. */
  report(path: RawPath, identity: string, reason: string): void {
    const { runs, ledger, logger } = this.#parts;
    runs.notice(path, identity, ledger.report(path, reason));
    logger.info('sandbox.reported', { path: toText(path), reason });
  }

  /** Moves a path aside, logs it, and reports it to the runs that may have made it. A pipe is removed: it holds nothing. */
  quarantine(path: RawPath, identity: string, reason: string): void {
    const { index, runs, ledger, logger, isBeingBuilt } = this.#parts;
    const found = this.#access.stat(path);
    if (found !== null && found !== 'closed' && isSpecial(found)) {
      this.remove(path, identity, 'special');
      return;
    }
    index.removeDanger(path);
    if (isBeingBuilt(path) && removeEmpty(path)) return;
    this.#change(path, () => {
      const stats = this.#access.exactStat(path);
      const moved = ledger.setAside(path, runs.isAnyActive);
      if (moved === null) return;
      const isStored = ledger.store.holds(moved);
      if (!isStored) this.#setAside.add(moved);
      if (stats !== null) this.#moved.add(inodeOf(stats));
      runs.report(path, identity, ledger.note(path, moved, reason, stateNow(moved, this.#parts.pause)));
      if (!isStored) this.#exclude(moved);
      logger.warn('sandbox.quarantined', { path: toText(path), moved: toText(moved), reason });
    });
  }

  remove(path: RawPath, identity: string, kind: 'special' | 'lock'): void {
    const { index, runs, logger } = this.#parts;
    index.removeDanger(path);
    this.#change(path, () => {
      const stats = this.#access.exactStat(path);
      if (stats === null || identityOf(stats) !== identity) return;
      if (!removeAt(path, ({ ino }) => BigInt(ino) === stats.ino)) return;
      const [id, reason] = [randomBytes(4).toString('hex'), reasonFor(kind)];
      const found = { path: toText(index.pathInProject(path)), id, reason, removed: true } as const;
      runs.report(path, identity, found);
      logger.warn('sandbox.removed', { path: toText(path), reason });
    });
  }

  /** What git of the host does not see is not committed by accident. */
  #exclude(moved: RawPath): void {
    const { index, logger } = this.#parts;
    try {
      const gitDir = repositoryAt(moved, index.roots, (path) => index.isGitDir(path));
      if (gitDir !== null) excludeSetAside(gitDir);
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      logger.warn('sandbox.not_excluded', { path: toText(moved), cause: String(cause) });
    }
  }

  /** Makes a protected link again after a run removed it. */
  putBack(path: RawPath, text: RawPath): void {
    this.#change(path, () => {
      restoreLink(path, text);
      const stats = exactStatAt(path);
      if (stats?.isSymbolicLink() !== true || linkTextAt(path) !== text) return;
      const kind = nameOf(path) === '.git' ? 'pointer' : 'name';
      this.#parts.index.accept(path, { kind, identity: identityOf(stats), link: text, stamp: Number.NaN });
    });
  }

  #change(path: RawPath, change: () => void): void {
    try {
      change();
    } catch (cause) {
      this.#failure = ContextdError.from(cause);
      this.#parts.logger.error('sandbox.quarantine.failed', { path: toText(path) }, cause);
    }
  }
}

function inodeOf({ dev, ino }: { dev: number | bigint; ino: number | bigint }): string {
  return `${dev}:${ino}`;
}
