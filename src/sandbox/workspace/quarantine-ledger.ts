import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { contentHash } from './content-hash.ts';
import { keepUnusable, type LedgerAcceptance, type LedgerItem, readLedger, writeLedger } from './ledger-file.ts';
import { below, isWithin, nameOf, type RawPath, toRaw, toText } from './raw-path.ts';

/** Items that are kept; beyond that the oldest go. */
const ITEMS_MAX = 10_000;
const ACCEPTED_MAX = 10_000;
/** A pause before the next write, in durations of the last one: however much is noted, writing takes a twentieth of the time. */
const PAUSE_PER_WRITE = 20;

/** Where the ledger of a workspace is. */
export function ledgerFile(quarantineDir: string, workspace: string): string {
  return join(quarantineDir, `${createHash('sha256').update(workspace).digest('hex').slice(0, 16)}.json`);
}

/**
 * What was set aside in one workspace, and which content a person accepted at which path. A ledger that cannot be read
 * counts as empty, which is logged: then nothing is accepted, and what was set aside is found by its name.
 */
export class QuarantineLedger {
  readonly #file: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #workspace: RawPath;
  #items: LedgerItem[] = [];
  #accepted: LedgerAcceptance[] = [];
  /** By path, the accepted hashes. */
  #hashes = new Map<RawPath, Set<string>>();
  #timer: NodeJS.Timeout | null = null;
  #pauseMs = 0;

  /** `workspace`: its absolute real path. */
  constructor(file: string, logger: Logger, clock: Clock, workspace: string) {
    this.#file = file;
    this.#logger = logger;
    this.#clock = clock;
    this.#workspace = toRaw(workspace);
    this.#read();
  }

  /** Oldest first. */
  get items(): readonly LedgerItem[] {
    return this.#items;
  }

  get accepted(): readonly LedgerAcceptance[] {
    return this.#accepted;
  }

  /** Remembers that `path` is now called `moved`. It is written right after; a large ledger with a pause. */
  note(path: RawPath, moved: RawPath, reason: string): SetAside {
    const id = nameOf(moved).slice(-8);
    const own = this.#relative(path);
    this.#items.push({ id, path: own, moved: this.#relative(moved), reason, at: this.#clock.now() });
    if (this.#items.length > ITEMS_MAX) this.#items.splice(0, this.#items.length - ITEMS_MAX);
    this.#writeSoon();
    return { path: toText(own), id, reason };
  }

  /** Whether any content is accepted at this path. */
  accepts(path: RawPath): boolean {
    return this.#hashes.size > 0 && this.#hashes.has(this.#relative(path));
  }

  /** Whether what is at this path now was accepted there. Reads and hashes it. */
  acceptsContent(path: RawPath): boolean {
    const sha256 = contentHash(path);
    return sha256 !== null && this.#hashes.get(this.#relative(path))?.has(sha256) === true;
  }

  /** The path of an item or an acceptance, absolute. */
  absolute(path: RawPath): RawPath {
    return path.startsWith('/') ? path : `${this.#workspace}/${path}`;
  }

  drop(items: readonly LedgerItem[]): void {
    if (items.length === 0) return;
    const dropped = new Set(items);
    this.#items = this.#items.filter((item) => !dropped.has(item));
    this.#writeSoon();
  }

  /** Accepts this content at the path of an item. Throws if that cannot be written: an acceptance must last. */
  accept({ path }: LedgerItem, sha256: string): LedgerAcceptance {
    const known = this.#accepted.find((one) => one.path === path && one.sha256 === sha256);
    if (known !== undefined) return known;
    if (this.#accepted.length >= ACCEPTED_MAX) throw tooMany();
    const acceptance = { path, sha256, at: this.#clock.now() };
    this.#replaceAccepted([...this.#accepted, acceptance]);
    return acceptance;
  }

  /** Takes acceptances back. Throws if that cannot be written. */
  revoke(revoked: readonly LedgerAcceptance[]): void {
    const gone = new Set(revoked);
    this.#replaceAccepted(this.#accepted.filter((one) => !gone.has(one)));
  }

  /** Writes what is not written yet. */
  flush(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    const startedAt = this.#clock.monotonic();
    try {
      this.#writeNow();
      this.#pauseMs = PAUSE_PER_WRITE * (this.#clock.monotonic() - startedAt);
    } catch (cause) {
      this.#logger.error('quarantine.ledger_not_written', { file: this.#file }, cause);
    }
  }

  #replaceAccepted(accepted: LedgerAcceptance[]): void {
    const before = this.#accepted;
    this.#setAccepted(accepted);
    try {
      this.#writeNow();
    } catch (cause) {
      this.#setAccepted(before);
      throw ContextdError.from(cause);
    }
  }

  #setAccepted(accepted: LedgerAcceptance[]): void {
    this.#accepted = accepted;
    this.#hashes = new Map();
    for (const { path, sha256 } of accepted) {
      const hashes = this.#hashes.get(path) ?? new Set();
      this.#hashes.set(path, hashes.add(sha256));
    }
  }

  #read(): void {
    try {
      const content = readLedger(this.#file);
      if (content === null) return;
      this.#items = content.items.slice(-ITEMS_MAX);
      this.#setAccepted(content.accepted.slice(-ACCEPTED_MAX));
    } catch (cause) {
      this.#logger.error('quarantine.ledger_not_read', { file: this.#file }, cause);
      keepUnusable(this.#file);
    }
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => this.flush(), this.#pauseMs).unref();
  }

  #writeNow(): void {
    writeLedger(this.#file, this.#workspace, { items: this.#items, accepted: this.#accepted });
  }

  #relative(path: RawPath): RawPath {
    return isWithin(this.#workspace, path) ? below(this.#workspace, path) : path;
  }
}

function tooMany(): ContextdError {
  return new ContextdError(
    'RESOURCE_LIMIT',
    `${ACCEPTED_MAX} contents are accepted in this project, which is the most`,
    {
      remedy: 'Take back what is not needed: `ctxd quarantine accept --revoke PATH`.',
    },
  );
}
