import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/log.ts';
import { below, isWithin, nameOf, parentOf, type RawPath, toRaw, toText } from '../../fs/raw-path.ts';
import { contentHash } from './content-hash.ts';
import { moveAside } from './set-aside.ts';
import { QuarantineStore } from './store.ts';

/** Items that are kept. Past this number nothing is stored, and the oldest items that are still in the project are dropped. */
const ITEMS_MAX = 10_000;
const ACCEPTED_MAX = 10_000;
/** Pause before the next write, as a multiple of the time that the last write took: writing takes at most a twentieth of the time. */
const PAUSE_PER_WRITE = 20;

/** A path that was set aside or reported. Paths are relative to the workspace, or absolute outside it. */
export interface LedgerItem {
  readonly id: string;
  readonly path: RawPath;
  /** Its path now: `path` itself if it was only reported. */
  readonly moved: RawPath;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /**
   * The state of the content when it was set aside, or when a list showed it last (see `stateOf`). Only this is restored.
   * Null: it was set aside by a version that did not record it.
   */
  readonly shown: string | null;
}

export interface LedgerAcceptance {
  readonly path: RawPath;
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface LedgerContent {
  readonly items: readonly LedgerItem[];
  readonly accepted: readonly LedgerAcceptance[];
}

const ID = /^[0-9a-f]{8}$/;
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * The paths that were set aside in one workspace, and the content that a person accepted at a path. A ledger file that
 * cannot be read counts as empty and is logged: nothing is accepted then, and set-aside files stay where they are, which the
 * log names.
 */
export class QuarantineLedger {
  readonly store: QuarantineStore;
  readonly #file: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #workspace: RawPath;
  #items: LedgerItem[] = [];
  #accepted: LedgerAcceptance[] = [];
  /** The accepted hashes by path. */
  #hashes = new Map<RawPath, Set<string>>();
  #timer: NodeJS.Timeout | null = null;
  #pauseMs = 0;

  /** `workspace`: its absolute real path. */
  constructor(file: string, logger: Logger, clock: Clock, workspace: string) {
    this.store = new QuarantineStore(file.replace(/\.json$/, ''), logger);
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

  /**
   * Moves a path into the store, or aside in its directory if the store cannot take it. Null if it is gone. `mayBeOpen`: a run
   * is active, which may have it open. Throws what `moveAside` throws.
   */
  setAside(path: RawPath, mayBeOpen: boolean): RawPath | null {
    const isFull = this.#items.length >= ITEMS_MAX;
    return (isFull ? null : this.store.take(path, mayBeOpen)) ?? moveAside(path);
  }

  /** Records that `path` is now called `moved`, and the state of its content. The file is written in the next turn of the event loop; a large ledger is written less often. */
  note(path: RawPath, moved: RawPath, reason: string, shown: string | null): SetAside {
    const id = this.store.holds(moved) ? nameOf(parentOf(moved)) : nameOf(moved).slice(-8);
    const own = this.#relative(path);
    this.#add({ id, path: own, moved: this.#relative(moved), reason, at: this.#clock.now(), shown });
    return { path: toText(own), id, reason };
  }

  #add(item: LedgerItem): void {
    this.#items.push(item);
    // What is in the store would be found by nobody without its item.
    if (this.#items.length > ITEMS_MAX)
      this.#items.splice(
        this.#items.findIndex((one) => !this.#isStored(one)),
        1,
      );
    this.#writeSoon();
  }

  /** Records a path that stays where it is until a person judges it. One that is recorded already keeps its id. */
  report(path: RawPath, reason: string): SetAside {
    const own = this.#relative(path);
    const known = this.#items.find((item) => item.path === own && item.moved === own);
    const id = known?.id ?? randomBytes(4).toString('hex');
    this.#items = this.#items.filter((item) => item !== known);
    this.#add({ id, path: own, moved: own, reason, at: this.#clock.now(), shown: null });
    return { path: toText(own), id, reason, stays: true };
  }

  /** Whether any content is accepted at this path. */
  accepts(path: RawPath): boolean {
    return this.#hashes.size > 0 && this.#hashes.has(this.#relative(path));
  }

  /** Whether the content at this path was accepted there. Reads and hashes the content. */
  acceptsContent(path: RawPath): boolean {
    const sha256 = contentHash(path);
    return sha256 !== null && this.#hashes.get(this.#relative(path))?.has(sha256) === true;
  }

  /** The absolute path of an item or an acceptance. */
  absolute(path: RawPath): RawPath {
    return path.startsWith('/') ? path : `${this.#workspace}/${path}`;
  }

  drop(items: readonly LedgerItem[]): void {
    if (items.length === 0) return;
    const dropped = new Set(items);
    this.#items = this.#items.filter((item) => !dropped.has(item));
    this.#writeSoon();
  }

  /** Records the state in which a person was shown an item. */
  show(item: LedgerItem, shown: string): void {
    if (item.shown !== shown) this.#replace(item, { ...item, shown });
  }

  /** Moves an item that was set aside in the project into the store. Returns null if that is impossible. */
  storeLate(item: LedgerItem): LedgerItem | null {
    if (this.#isStored(item)) return item;
    const moved = this.store.take(this.absolute(item.moved), false);
    return moved === null ? null : this.#replace(item, { ...item, moved });
  }

  #replace(old: LedgerItem, item: LedgerItem): LedgerItem {
    this.#items = this.#items.map((one) => (one === old ? item : one));
    this.#writeSoon();
    return item;
  }

  #isStored({ moved }: LedgerItem): boolean {
    return this.store.holds(moved);
  }

  /** Accepts this content at the path of an item. Throws if the acceptance cannot be written: it must last. */
  accept({ path }: LedgerItem, sha256: string): LedgerAcceptance {
    const known = this.#accepted.find((one) => one.path === path && one.sha256 === sha256);
    if (known !== undefined) return known;
    if (this.#accepted.length >= ACCEPTED_MAX) throw tooMany();
    const acceptance = { path, sha256, at: this.#clock.now() };
    this.#replaceAccepted([...this.#accepted, acceptance]);
    return acceptance;
  }

  /** Takes acceptances back. Throws if the change cannot be written. */
  revoke(revoked: readonly LedgerAcceptance[]): void {
    const gone = new Set(revoked);
    this.#replaceAccepted(this.#accepted.filter((one) => !gone.has(one)));
  }

  /** Writes any pending changes. */
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
    `${ACCEPTED_MAX} contents are accepted in this project, which is the maximum`,
    {
      remedy: 'Revoke acceptances that are no longer needed: `ctxd quarantine accept --revoke PATH`.',
    },
  );
}

/** Returns null if the file does not exist. Throws if it cannot be read or does not have exactly the shape that `writeLedger` gives it. */
function readLedger(file: string): LedgerContent | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return null;
    throw cause;
  }
  const value: unknown = JSON.parse(text);
  if (!hasKeys(value, ['workspace', 'items', 'accepted']) || typeof value.workspace !== 'string') throw wrongShape();
  return { items: listOf(value.items, toItem), accepted: listOf(value.accepted, toAcceptance) };
}

/** Writes a draft beside the file and renames it. Mode 0600 in a directory of mode 0700, whatever the umask is. */
function writeLedger(file: string, workspace: RawPath, { items, accepted }: LedgerContent): void {
  const directory = dirname(file);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  const draft = `${file}.new`;
  const fd = openSync(draft, 'w', 0o600);
  try {
    fchmodSync(fd, 0o600);
    writeFileSync(fd, JSON.stringify({ workspace, items, accepted }));
  } finally {
    closeSync(fd);
  }
  renameSync(draft, file);
}

/** Renames a file that cannot be used, so that a person can look at it. */
function keepUnusable(file: string): void {
  try {
    renameSync(file, `${file}.unusable`);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
}

function toItem(value: unknown): LedgerItem {
  const keys = ['id', 'path', 'moved', 'reason', 'at'];
  if (!hasKeys(value, keys) && !hasKeys(value, [...keys, 'shown'])) throw wrongShape();
  const { id, path, moved, reason, at, shown = null } = value;
  if (typeof id !== 'string' || !ID.test(id) || !isRawPath(path) || !isRawPath(moved)) throw wrongShape();
  if (typeof reason !== 'string' || typeof at !== 'number') throw wrongShape();
  if (shown !== null && typeof shown !== 'string') throw wrongShape();
  return { id, path, moved, reason, at, shown };
}

function toAcceptance(value: unknown): LedgerAcceptance {
  if (!hasKeys(value, ['path', 'sha256', 'at'])) throw wrongShape();
  const { path, sha256, at } = value;
  if (!isRawPath(path) || typeof sha256 !== 'string' || !SHA256.test(sha256) || typeof at !== 'number')
    throw wrongShape();
  return { path, sha256, at };
}

function listOf<T>(value: unknown, convert: (one: unknown) => T): T[] {
  if (!Array.isArray(value)) throw wrongShape();
  return value.map(convert);
}

function hasKeys(value: unknown, keys: readonly string[]): value is Record<string, unknown> {
  return isJsonObject(value) && Object.keys(value).length === keys.length && keys.every((key) => key in value);
}

/** One character per byte, without NUL and without `..`. */
function isRawPath(value: unknown): value is RawPath {
  if (typeof value !== 'string' || value === '' || /[\u0100-\uffff]/.test(value)) return false;
  return !value.includes('\0') && !value.split('/').includes('..');
}

function wrongShape(): Error {
  return new Error('the file does not have the shape of a quarantine ledger');
}
