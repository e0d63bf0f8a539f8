import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import type { AcceptedContent, QuarantineAction, QuarantinedItem, QuarantineResult } from '../quarantine.ts';
import { type Content, contentHash, examine } from './content-hash.ts';
import { exactStatAt, identityOf, linkTextAt, statAt } from './inode.ts';
import type { LedgerAcceptance, LedgerItem } from './ledger-file.ts';
import { type DangerKind, GIT_DANGERS, isProtectedName } from './protected-names.ts';
import { moveAside, putBack } from './quarantine.ts';
import { hasChanged, isAmbiguous, isBusy, isTaken, notAccepted, notFound } from './quarantine-faults.ts';
import type { QuarantineLedger } from './quarantine-ledger.ts';
import { nameOf, type RawPath, toText } from './raw-path.ts';
import { newestOf } from './read-directory.ts';
import type { Runs } from './runs.ts';
import { runsInSheet } from './verdict.ts';
import type { WorkspaceIndex } from './workspace-index.ts';

/** Milliseconds after which the time of a rename is in the past for every later change (`Scan`). */
const TICK_MS = 25;
/** Milliseconds of reading before others may go on. */
const SLICE_MS = 4;
/** Bytes that one listing hashes; a name costs as much as some of them. Items after that have no hash in it. */
const LISTED_MAX_BYTES = 256 * 1024 * 1024;
const BYTES_PER_NAME = 4 * 1024;
/** Digits by which a hash can be named. */
const PREFIX = /^[0-9a-f]{8,64}$/;

export interface ActionParts {
  readonly index: WorkspaceIndex;
  readonly runs: Runs;
  readonly ledger: QuarantineLedger;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** An item with what it holds now. */
interface Found {
  readonly item: LedgerItem;
  readonly content: Content;
}

/** What a person does with set-aside files: lists them, puts them back, accepts their content, takes that back. */
export class QuarantineActions {
  readonly #parts: ActionParts;

  constructor(parts: ActionParts) {
    this.#parts = parts;
  }

  async carryOut(action: QuarantineAction): Promise<QuarantineResult> {
    switch (action.kind) {
      case 'list':
        return this.#list(action.which);
      case 'restore':
        return this.#restore(await this.#resolve(action.which));
      case 'accept':
        return this.#accept(await this.#resolve(action.which), action.sha256);
      case 'revoke':
        return this.#revoke(action.which);
    }
  }

  async #list(which: string | null): Promise<QuarantineResult> {
    if (which !== null) return { items: [toItem(await this.#resolve(which))], accepted: [] };
    const items = (await this.#examine(this.#parts.ledger.items)).map(toItem);
    return { items, accepted: this.#parts.ledger.accepted.map(toAccepted) };
  }

  /** Renames it back once. A command that still runs could change it unseen, so none may. */
  async #restore({ item, content }: Found): Promise<QuarantineResult> {
    const { runs, ledger, logger } = this.#parts;
    const path = ledger.absolute(item.path);
    if (runs.active > 0) throw isBusy(item);
    this.#rename(item);
    ledger.drop([item]);
    this.#acceptNow(path, Number.NaN);
    logger.info('quarantine.restored', { path: toText(path), id: item.id });
    const { begun } = runs;
    await setTimeout(TICK_MS);
    const newestMs = await this.#newestIn(path);
    if (runs.begun === begun) this.#acceptNow(path, newestMs);
    return { items: [toItem({ item: { ...item, moved: item.path }, content })], accepted: [] };
  }

  /**
   * Puts it back if it holds exactly this content, which is then accepted at its path. A command that still runs may change
   * it: without a stamp its content is compared again when that command has ended.
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
    const moved = isThere ? item.moved : item.path;
    return { items: [toItem({ item: { ...item, moved }, content })], accepted: [toAccepted(acceptance)] };
  }

  /** What is there stays; the same content is set aside if a run makes it again. */
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

  async #resolve(which: string): Promise<Found> {
    const { items } = this.#parts.ledger;
    const named = items.filter(({ id }) => id === which);
    const found =
      named.length > 0
        ? await this.#examine(named)
        : PREFIX.test(which)
          ? (await this.#examine(items)).filter(({ content }) => content.sha256?.startsWith(which) === true)
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

  /** What these items hold now. Those that are gone are dropped from the ledger. */
  async #examine(items: readonly LedgerItem[]): Promise<Found[]> {
    const { ledger } = this.#parts;
    const found: Found[] = [];
    const gone: LedgerItem[] = [];
    let bytesLeft = LISTED_MAX_BYTES;
    for (const item of [...items]) {
      const moved = ledger.absolute(item.moved);
      const content = bytesLeft > 0 ? await this.#slowly(examine(moved)) : unread(moved);
      if (content === null) gone.push(item);
      else found.push({ item, content });
      bytesLeft -= (content?.cost.bytes ?? 0) + BYTES_PER_NAME * (content?.cost.entries ?? 0);
    }
    ledger.drop(gone);
    return found;
  }

  #rename(item: LedgerItem): void {
    const { ledger } = this.#parts;
    const outcome = putBack(ledger.absolute(item.moved), ledger.absolute(item.path));
    if (outcome === 'taken') throw isTaken(item);
    if (outcome === 'gone') throw notFound(item.id);
  }

  /** As `#rename`; what a command changed in that very moment is moved aside again. */
  #renameExactly(item: LedgerItem, sha256: string): void {
    const { ledger } = this.#parts;
    this.#rename(item);
    const path = ledger.absolute(item.path);
    if (contentHash(path) === sha256) return;
    const moved = moveAside(path);
    ledger.drop([item]);
    if (moved !== null) ledger.note(path, moved, item.reason);
    throw hasChanged(item);
  }

  /** As `Judge.decide` accepts, so that the next search leaves it. */
  #acceptNow(path: RawPath, stamp: number): void {
    const stats = exactStatAt(path);
    if (stats === null) return;
    const link = stats.isSymbolicLink() ? linkTextAt(path) : null;
    const kind = dangerAt(path, link !== null, this.#parts.index);
    const runs = kind === 'state' ? runsInSheet(path) : undefined;
    this.#parts.index.accept(path, {
      ...{ kind, identity: identityOf(stats), link, stamp },
      ...(runs === undefined ? {} : { runs }),
    });
  }

  async #newestIn(path: RawPath): Promise<number> {
    const stats = statAt(path);
    if (stats === null) return Number.NaN;
    return (await this.#slowly(newestOf(path, stats, () => false))).newestMs;
  }

  async #slowly<T>(work: Generator<void, T>): Promise<T> {
    const { clock } = this.#parts;
    let until = clock.monotonic() + SLICE_MS;
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      if (clock.monotonic() < until) continue;
      await setImmediate();
      until = clock.monotonic() + SLICE_MS;
    }
  }
}

/** Past what one listing reads. */
function unread(path: RawPath): Content | null {
  const stats = statAt(path);
  if (stats === null) return null;
  const kind = stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'other';
  const noHashBecause = 'this list stopped hashing after 256 MiB; name its id to have it hashed';
  const sizeBytes = kind === 'file' ? stats.size : null;
  return { kind, sizeBytes, sha256: null, noHashBecause, preview: null, cost: { bytes: 0, entries: 0 } };
}

/** As what a path is judged from now on. */
function dangerAt(path: RawPath, isLink: boolean, index: WorkspaceIndex): DangerKind {
  const name = nameOf(path);
  if (isProtectedName(name)) return 'name';
  if (name === '.git') return 'pointer';
  const isPartOf = (part: string) => path.endsWith(`/${part}`) && index.isGitDir(path.slice(0, -part.length - 1));
  const part = [...GIT_DANGERS].find(([one]) => isPartOf(one));
  if (part !== undefined) return part[1];
  if (index.isTarget(path)) return 'target';
  return isLink ? 'link' : 'stray';
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
