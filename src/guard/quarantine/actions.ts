import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import { exactStatAt, identityOf, linkTextAt, statAt } from '../../fs/file-access.ts';
import { whenSettled } from '../../fs/file-time.ts';
import { below, nameOf, parentOf, type RawPath, toText } from '../../fs/raw-path.ts';
import { newestOf } from '../../fs/read-directory.ts';
import type { Answer } from '../contract/messages.ts';
import type { AcceptedContent, QuarantineAction, QuarantinedItem, QuarantineResult } from '../contract/quarantine.ts';
import { gitDirAround, programsIn } from '../git/judgement.ts';
import type { Runs } from '../index/runs.ts';
import type { WorkspaceIndex } from '../index/workspace-index.ts';
import { type DangerKind, dangerOfName, GIT_DANGERS, isSharedIndex } from '../table/protected-names.ts';
import {
  hasChanged,
  hasNoParent,
  isAmbiguous,
  isBusy,
  isInPlace,
  isTaken,
  notAccepted,
  notFound,
  notRemoved,
  notShown,
} from './action-errors.ts';
import { type Content, contentHash, examine } from './content-hash.ts';
import type { LedgerAcceptance, LedgerItem, QuarantineLedger } from './ledger.ts';
import { copyBeside, putBack, removeFile } from './set-aside.ts';
import { isInState, stateNow, stateOf } from './state.ts';

/** Bytes that one listing hashes; each name counts as some bytes. Items after that are listed without a hash. */
const LISTED_MAX_BYTES = 256 * 1024 * 1024;
const BYTES_PER_NAME = 4 * 1024;
/** The beginning of a hash, long enough to name it. */
const PREFIX = /^[0-9a-f]{8,64}$/;

export interface ActionParts {
  readonly index: WorkspaceIndex;
  readonly runs: Runs;
  readonly ledger: QuarantineLedger;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Called often during long work, so that others need not wait. */
  readonly pause: () => void;
}

/** An item with its content as it is now. */
interface Found {
  readonly item: LedgerItem;
  readonly content: Content;
}

/** What a person does with set-aside files: list, restore or remove them, accept their content, revoke an acceptance. */
export class QuarantineActions {
  readonly #parts: ActionParts;

  constructor(parts: ActionParts) {
    this.#parts = parts;
  }

  carryOut(action: QuarantineAction, answer: Answer<QuarantineResult>): void {
    try {
      if (action.kind === 'list') answer.resolve(this.#list(action.which, action.isShown ?? true));
      else if (action.kind === 'restore') this.#restore(this.#resolve(action.which), answer);
      else if (action.kind === 'accept') answer.resolve(this.#accept(this.#resolve(action.which), action.sha256));
      else if (action.kind === 'remove') answer.resolve(this.#remove(this.#resolve(action.which)));
      else answer.resolve(this.#revoke(action.which));
    } catch (cause) {
      answer.reject(cause);
    }
  }

  #list(which: string | null, isShown: boolean): QuarantineResult {
    const { ledger, pause } = this.#parts;
    const found = which === null ? this.#examine(ledger.items) : [this.#resolve(which)];
    for (const { item, content } of isShown ? found : []) {
      ledger.show(item, stateOf(ledger.absolute(item.moved), content, pause));
    }
    return { items: found.map(toItem), accepted: which === null ? ledger.accepted.map(toAccepted) : [] };
  }

  /**
   * Puts back once what a person was shown, and nothing that was written since. Refused while a command runs, which could
   * change it without a trace. Answers when a change by the next command will show in its ctime.
   */
  #restore({ item, content }: Found, answer: Answer<QuarantineResult>): void {
    const { runs, ledger, logger, clock, pause } = this.#parts;
    const path = ledger.absolute(item.path);
    if (item.moved === item.path) throw isInPlace(item);
    if (runs.isAnyActive) throw isBusy(item);
    if (item.shown === null) throw notShown(item);
    if (!isInState(ledger.absolute(item.moved), content, item.shown, pause)) throw hasChanged(item);
    if (content.sha256 === null) this.#rename(item);
    else this.#renameExactly(item, content.sha256);
    ledger.drop([item]);
    this.#acceptNow(path, Number.NaN);
    logger.info('quarantine.restored', { path: toText(path), id: item.id });
    const { begun } = runs;
    const result = { items: [toItem({ item: { ...item, moved: item.path }, content })], accepted: [] };
    whenSettled(this.#newestIn(path), clock, () => {
      try {
        const newestMs = this.#newestIn(path);
        if (runs.begun === begun) this.#acceptNow(path, newestMs);
        answer.resolve(result);
      } catch (cause) {
        answer.reject(cause);
      }
    });
  }

  /**
   * Puts it back if it has exactly this content, which is then accepted at its path. A command that still runs may change it,
   * so its content is compared again when the command has ended.
   */
  #accept({ item, content }: Found, sha256: string): QuarantineResult {
    const { ledger, logger } = this.#parts;
    const path = ledger.absolute(item.path);
    const isThere = contentHash(path) === sha256;
    const before = ledger.accepted;
    if (contentHash(ledger.absolute(item.moved)) !== sha256) throw hasChanged(item);
    const acceptance = ledger.accept(item, sha256);
    try {
      if (!isThere) this.#renameExactly(item, sha256);
    } catch (cause) {
      if (!before.includes(acceptance)) ledger.revoke([acceptance]);
      throw cause;
    }
    ledger.drop([item]);
    this.#acceptNow(path, Number.NaN);
    logger.info('quarantine.accepted', { path: toText(path), id: item.id, sha256 });
    const isLeft = isThere && !this.#discardStored(item);
    const moved = isLeft ? item.moved : item.path;
    return { items: [toItem({ item: { ...item, moved }, content })], accepted: [toAccepted(acceptance)] };
  }

  /** Returns false if it is not in the store. */
  #discardStored({ moved }: LedgerItem): boolean {
    const { ledger, pause } = this.#parts;
    if (!ledger.store.holds(moved)) return false;
    ledger.store.remove(moved, pause);
    return true;
  }

  /** Deletes what was set aside. What is in the project is moved into the store first: no command can change it there. */
  #remove({ item, content }: Found): QuarantineResult {
    const { ledger, logger } = this.#parts;
    if (item.moved === item.path) throw isInPlace(item);
    const stored = ledger.storeLate(item);
    if (stored === null && content.kind === 'directory') throw notRemoved(item, ledger.absolute(item.moved));
    if (stored === null) removeFile(ledger.absolute(item.moved));
    else this.#discardStored(stored);
    ledger.drop([stored ?? item]);
    logger.info('quarantine.removed', { path: toText(ledger.absolute(item.path)), id: item.id });
    return { items: [toItem({ item, content })], accepted: [] };
  }

  /** Leaves the file where it is. The same content is set aside if a run makes it again. */
  #revoke(which: string): QuarantineResult {
    const { ledger, logger } = this.#parts;
    const revoked = ledger.accepted.filter(
      ({ path, sha256 }) =>
        toText(path) === which ||
        toText(ledger.absolute(path)) === which ||
        (PREFIX.test(which) && sha256.startsWith(which)),
    );
    if (revoked.length === 0) throw notAccepted(which);
    ledger.revoke(revoked);
    for (const { path, sha256 } of revoked) logger.info('quarantine.revoked', { path: toText(path), sha256 });
    return { items: [], accepted: revoked.map(toAccepted) };
  }

  #resolve(which: string): Found {
    const { items } = this.#parts.ledger;
    const named = items.filter(({ id }) => id === which);
    const found =
      named.length > 0
        ? this.#examine(named)
        : PREFIX.test(which)
          ? this.#examine(items).filter(({ content }) => content.sha256?.startsWith(which) === true)
          : [];
    const [one, ...others] = found;
    if (one === undefined) throw notFound(which);
    if (others.length > 0)
      throw isAmbiguous(
        which,
        found.map(({ item }) => item),
      );
    return one;
  }

  /** The content of these items. Items that are gone are dropped from the ledger. */
  #examine(items: readonly LedgerItem[]): Found[] {
    const { ledger, pause } = this.#parts;
    const found: Found[] = [];
    const gone: LedgerItem[] = [];
    let bytesLeft = LISTED_MAX_BYTES;
    for (const item of [...items]) {
      const moved = ledger.absolute(item.moved);
      const content = bytesLeft > 0 ? examine(moved, pause) : unread(moved);
      if (content === null) gone.push(item);
      else found.push({ item, content });
      bytesLeft -= (content?.cost.bytes ?? 0) + BYTES_PER_NAME * (content?.cost.entries ?? 0);
    }
    ledger.drop(gone);
    for (const { moved } of gone) ledger.store.tidy(moved);
    return found;
  }

  #rename(item: LedgerItem): void {
    const { ledger } = this.#parts;
    const outcome = putBack(ledger.absolute(item.moved), ledger.absolute(item.path));
    if (outcome === 'taken') throw isTaken(item);
    if (outcome === 'gone') throw notFound(item.id);
    if (outcome === 'no_parent') throw hasNoParent(item, parentOf(ledger.absolute(item.path)));
    ledger.store.tidy(item.moved);
  }

  /**
   * Like `#rename`, but moves it aside again if a command changed it at the same moment. A file is put back as a copy: a
   * process that has the old one open cannot change the new one.
   */
  #renameExactly(item: LedgerItem, sha256: string): void {
    const { ledger, runs, pause } = this.#parts;
    const [path, old] = [ledger.absolute(item.path), ledger.absolute(item.moved)];
    const copy = ledger.store.holds(old) ? ledger.store.copy(old) : copyBeside(old);
    const discard = (one: RawPath | null) => {
      if (one === null) return;
      removeFile(one);
      ledger.store.tidy(one);
    };
    try {
      this.#rename(copy === null ? item : { ...item, moved: copy });
    } catch (cause) {
      discard(copy);
      throw cause;
    }
    if (contentHash(path) === sha256) {
      if (copy !== null) discard(old);
      return;
    }
    const moved = ledger.setAside(path, runs.isAnyActive);
    if (copy === null) ledger.drop([item]);
    if (moved !== null) ledger.note(path, moved, item.reason, stateNow(moved, pause));
    throw hasChanged(item);
  }

  /** Accepts the path as `Judge.decide` does, so that the next search leaves it alone. */
  #acceptNow(path: RawPath, stamp: number): void {
    const stats = exactStatAt(path);
    if (stats === null) return;
    const link = stats.isSymbolicLink() ? linkTextAt(path) : null;
    const kind = dangerAt(path, link !== null, this.#parts.index);
    const programs = programsIn(kind, path, this.#parts.index);
    this.#parts.index.accept(path, {
      kind,
      identity: identityOf(stats),
      link,
      stamp,
      ...(programs === undefined ? {} : { programs }),
    });
  }

  #newestIn(path: RawPath): number {
    const stats = statAt(path);
    return stats === null ? Number.NaN : newestOf(path, stats, () => false, this.#parts.pause).newestMs;
  }
}

/** For items beyond what one listing reads. */
function unread(path: RawPath): Content | null {
  const stats = statAt(path);
  if (stats === null) return null;
  const kind = stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'other';
  const noHashBecause = 'this list stopped hashing after 256 MiB; name its id to have it hashed';
  const sizeBytes = kind === 'file' ? stats.size : null;
  return { kind, sizeBytes, sha256: null, noHashBecause, preview: null, cost: { bytes: 0, entries: 0 } };
}

/** The kind of danger that a restored path is judged as from now on. */
function dangerAt(path: RawPath, isLink: boolean, index: WorkspaceIndex): DangerKind {
  const name = nameOf(path);
  const ofName = dangerOfName(below(index.rootOf(path), parentOf(path)), name);
  if (ofName !== null) return ofName;
  if (name === '.git') return 'pointer';
  if (isSharedIndex(name) && index.isGitDir(parentOf(path))) return 'paths';
  const isPartOf = (part: string) => path.endsWith(`/${part}`) && index.isGitDir(path.slice(0, -part.length - 1));
  const part = [...GIT_DANGERS].find(([one]) => isPartOf(one));
  if (part !== undefined) return part[1];
  if (index.isTarget(path)) return 'target';
  if (!isLink) return 'stray';
  return gitDirAround(path, index) === null ? 'exit' : 'link';
}

function toItem({ item, content }: Found): QuarantinedItem {
  const { id, reason, at } = item;
  const { kind, sizeBytes, sha256, noHashBecause, preview } = content;
  const names = { path: toText(item.path), moved: toText(item.moved) };
  return { id, ...names, reason, at, kind, sizeBytes, sha256, noHashBecause, preview };
}

function toAccepted({ path, sha256, at }: LedgerAcceptance): AcceptedContent {
  return { path: toText(path), sha256, at };
}
