import {
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isErrno } from '../core/errors.ts';
import { CHAIN_START, chainLine, follows, type Link, readChained } from './chain.ts';
import { type ChainPlaces, chainPlaces, createKey, type Head, HeadFile, linkOf, readHead, readKey } from './head.ts';
import { findRemovable } from './prune.ts';
import {
  type Break,
  type ChainedSegment,
  chainedSegment,
  dayOf,
  hashOf,
  listSegments,
  readFrom,
  readSeal,
  readStart,
  type Segment,
  type SegmentSeal,
  type SegmentStart,
  type SegmentsPruned,
  segmentName,
  tornOf,
} from './segments.ts';

const syncData = promisify(fdatasync);

/** Bytes at which a segment is closed. */
const SEGMENT_MAX_BYTES = 64 * 1024 * 1024;

interface OpenSegment {
  readonly fd: number;
  readonly segment: number;
  readonly day: string;
  readonly name: string;
  bytes: number;
}

/** How far the chain goes. */
interface Reached {
  readonly link: Link;
  readonly segment: number;
  readonly isSealed: boolean;
  readonly broken?: Break;
}

/**
 * The only writer of the segments: appends lines to the chain, and says when they are on disk. A file that was removed or changed
 * meanwhile is left behind, and the chain goes on in a new one, so that `verify` finds the place.
 */
export class SegmentWriter {
  readonly #dir: string;
  readonly #places: ChainPlaces;
  readonly #nowMs: () => number;
  readonly #maxBytes: number;
  #key: Buffer | null = null;
  #head: HeadFile | null = null;
  #open: OpenSegment | null = null;
  #link: Link = CHAIN_START;
  /** The UTC day of the newest segment. */
  #newestDay = '';

  constructor(dir: string, nowMs: () => number, maxBytes = SEGMENT_MAX_BYTES) {
    this.#dir = dir;
    this.#places = chainPlaces(dir);
    this.#nowMs = nowMs;
    this.#maxBytes = maxBytes;
  }

  /** Number of the segment that is open; 0 if none is. */
  get segment(): number {
    return this.#open?.segment ?? 0;
  }

  /** Goes on where the last writer stopped. Throws the error of the file system. */
  open(): Promise<void> {
    return this.#openLog(false);
  }

  /** `isRunning`: no loss of power can have torn a line. */
  async #openLog(isRunning: boolean): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const known = readKey(this.#places);
    const key = known ?? createKey(this.#places);
    const head = readHead(this.#places, key);
    this.#key = key;
    this.#head = new HeadFile(this.#places, key);
    const segments = await listSegments(this.#dir);
    const chained = segments.flatMap((segment) => chainedSegment(segment) ?? []);
    const last = chained.at(-1);
    this.#newestDay = segments.at(-1)?.day ?? '';
    if (last === undefined) await this.#beginAgain(segments, head);
    else if (known === null) {
      this.#link = CHAIN_START;
      this.#begin(segments, last.start.segment + 1, { why: 'no_key' });
    } else {
      // Whatever lies after the start of the chain belongs to it.
      const reached = goOn(key, segments.slice(segments.findIndex(({ name }) => name === chained[0]?.name)), head);
      const { broken } = reached;
      const isAdded = isRunning && broken?.why === 'torn';
      this.#goOn(segments, last, isAdded ? { ...reached, broken: { why: 'changed', name: broken.name } } : reached);
    }
  }

  #goOn(segments: readonly Segment[], last: ChainedSegment, { link, segment, isSealed, broken }: Reached): void {
    this.#link = link;
    if (broken !== undefined || isSealed) this.#begin(segments, Math.max(segment, last.start.segment) + 1, broken);
    else this.#resume(last);
  }

  /** The first segment of the log, or the next one if all of them are gone. */
  async #beginAgain(segments: readonly Segment[], head: Head | 'missing' | 'damaged'): Promise<void> {
    const { link, segment, broken } = withoutSegments(head);
    const unchained = segments.length === 0 ? undefined : await hashOf(segments);
    this.#link = link;
    this.#begin(segments, segment + 1, broken, unchained);
  }

  /**
   * Writes lines in one go. They are on disk when it resolves if `isDurable`. `onWritten` is called before that, once the lines
   * are in the file. Throws the error of the file system.
   */
  async append(records: readonly object[], isDurable: boolean, onWritten = (): void => {}): Promise<void> {
    const open = await this.#current();
    this.#write(open, records);
    onWritten();
    if (!isDurable) return;
    const reached = this.#reached(open);
    await syncData(open.fd);
    this.#head?.write(reached);
  }

  /**
   * Removes the segments of the days before `day`, which the log then says. Returns their names. Throws the error of the file system.
   */
  async prune(day: string): Promise<string[]> {
    const open = await this.#current();
    if (this.#key === null) throw new Error('the audit log is not open');
    const removed: string[] = [];
    for (const pruned of await findRemovable(this.#dir, this.#key, day, open.name)) {
      await this.append([{ pruned, time: this.#now() } satisfies SegmentsPruned], true);
      for (const name of pruned.names) rmSync(join(this.#dir, name));
      syncDirectory(this.#dir);
      removed.push(...pruned.names);
    }
    return removed;
  }

  /** Gives up what is open; `open` or the next line goes on from what is on disk. */
  drop(): void {
    if (this.#open !== null) closeSync(this.#open.fd);
    this.#head?.close();
    this.#open = null;
    this.#head = null;
  }

  /** Waits for the disk. Throws the error of the file system. */
  close(): void {
    if (this.#open !== null) {
      const reached = this.#reached(this.#open);
      fsyncSync(this.#open.fd);
      this.#head?.write(reached);
    }
    this.drop();
  }

  #reached({ segment, name, bytes }: OpenSegment): Head {
    return { ...this.#link, segment, name, bytes };
  }

  /** The segment for the next line. */
  async #current(): Promise<OpenSegment> {
    const open = this.#open;
    if (open === null) {
      await this.open();
      return this.#current();
    }
    const { nlink, size } = fstatSync(open.fd);
    if (nlink === 0 || size !== open.bytes) return this.#openAgain();
    if (open.day === this.#day() && size < this.#maxBytes) return open;
    this.#write(open, [{ sealed: open.segment, ended: this.#now() } satisfies SegmentSeal]);
    fsyncSync(open.fd);
    closeSync(open.fd);
    this.#open = null;
    this.#begin(await listSegments(this.#dir), open.segment + 1);
    return this.#current();
  }

  /** The segment was touched by something else. What it is now decides how the chain goes on. */
  async #openAgain(): Promise<OpenSegment> {
    const [before, open] = [this.#link, this.#open];
    this.drop();
    await this.#openLog(true);
    // What is on the disk may be older than what this writer wrote.
    if (this.#link.seq < before.seq && open !== null) {
      const segment = Math.max(open.segment, this.#open?.segment ?? 0) + 1;
      if (this.#open !== null) closeSync(this.#open.fd);
      this.#link = before;
      this.#begin(await listSegments(this.#dir), segment, { why: 'changed', name: open.name });
    }
    if (this.#open === null) throw new Error('the audit log is not open');
    return this.#open;
  }

  #begin(segments: readonly Segment[], segment: number, broken?: Break, unchained?: string): void {
    const [day, started] = [this.#day(), this.#now()];
    const { fd, name } = createSegment(this.#dir, day, segments.filter((one) => one.day === day).length + 1);
    syncDirectory(this.#dir);
    this.#newestDay = day;
    this.#open = { fd, segment, day, name, bytes: 0 };
    const start: SegmentStart = {
      segment,
      started,
      ...(started.startsWith(day) ? {} : { day }),
      previous: this.#link.mac,
      ...(broken === undefined ? {} : { break: broken }),
      ...(unchained === undefined ? {} : { unchained }),
    };
    this.#write(this.#open, [start]);
    if (broken === undefined) return;
    // What a segment says of the one before is said once: after a second loss of power the log goes on from here.
    fsyncSync(fd);
    this.#head?.write(this.#reached(this.#open));
  }

  #resume({ path, name, day, start }: ChainedSegment): void {
    const fd = openSync(path, constants.O_APPEND | constants.O_RDWR | constants.O_NOFOLLOW);
    const { size, mode } = fstatSync(fd);
    if ((mode & 0o077) !== 0) fchmodSync(fd, 0o600);
    this.#open = { fd, segment: start.segment, day, name, bytes: size };
  }

  /** Synchronous, because a write to the page cache is faster than handing it to another thread. */
  #write(open: OpenSegment, records: readonly object[]): void {
    const key = this.#key;
    if (key === null) throw new Error('the audit log is not open');
    let link = this.#link;
    const lines = records.map((record) => {
      const chained = chainLine(key, link, record);
      link = chained.link;
      return `${chained.line}\n`;
    });
    const bytes = Buffer.from(lines.join(''), 'utf8');
    const written = writeSync(open.fd, bytes);
    if (written < bytes.length) {
      ftruncateSync(open.fd, fstatSync(open.fd).size - written);
      throw new Error(`only ${written} of ${bytes.length} bytes were written: the disk is full`);
    }
    open.bytes = fstatSync(open.fd).size;
    this.#link = link;
  }

  /** Today, or the day of the newest segment if the clock went back. */
  #day(): string {
    const today = dayOf(this.#nowMs());
    return today < this.#newestDay ? this.#newestDay : today;
  }

  #now(): string {
    return new Date(this.#nowMs()).toISOString();
  }
}

function withoutSegments(head: Head | 'missing' | 'damaged'): Omit<Reached, 'isSealed'> {
  if (typeof head === 'string') return { link: CHAIN_START, segment: 0, broken: { why: 'no_head' } };
  const { segment, name } = head;
  return { link: linkOf(head), segment, ...(segment === 0 ? {} : { broken: { why: 'changed', name } }) };
}

/** The end of the chain, as far as it is whole, and what is wrong with what comes after. `segments`: from the first of the chain on. */
function goOn(key: Buffer, segments: readonly Segment[], head: Head | 'missing' | 'damaged'): Reached {
  if (typeof head === 'string') return lastOf(segments);
  const at = head.segment === 0 ? 0 : segments.findIndex(({ name }) => name === head.name);
  let reached: Reached = { link: linkOf(head), segment: head.segment, isSealed: false };
  if (at < 0) return { ...reached, broken: { why: 'changed', name: head.name } };
  for (const [index, { path, name }] of segments.slice(at).entries()) {
    const from = index === 0 ? head.bytes : 0;
    for (const [number, line] of (readFrom(path, from) ?? [null]).entries()) {
      if (line?.isTorn) return { ...reached, broken: { why: 'torn', name, ...tornOf(line) } };
      const chained = line === null ? null : readChained(line);
      const start = readStart(chained);
      const isBegin = from === 0 && number === 0;
      if (chained === null || isBegin !== (start !== null) || !follows(key, reached.link, chained)) {
        return { ...reached, broken: { why: 'changed', name } };
      }
      const segment = start?.segment ?? reached.segment;
      reached = { link: chained.link, segment, isSealed: readSeal(chained) !== null };
    }
  }
  return reached;
}

/** Without a head nothing says how far the log went. */
function lastOf(segments: readonly Segment[]): Reached {
  const reached: Reached = { link: CHAIN_START, segment: 0, isSealed: false, broken: { why: 'no_head' } };
  for (const { path } of segments.toReversed()) {
    const last = (readFrom(path, 0) ?? []).map(readChained).findLast((line) => line !== null);
    if (last !== undefined) return { ...reached, link: last.link };
  }
  return reached;
}

/** A new file for a day. Takes the next free part. */
function createSegment(dir: string, day: string, from: number): { fd: number; name: string } {
  for (let part = from; ; part++) {
    const name = segmentName(day, part);
    try {
      const { O_APPEND, O_RDWR, O_CREAT, O_EXCL } = constants;
      return { fd: openSync(join(dir, name), O_APPEND | O_RDWR | O_CREAT | O_EXCL, 0o600), name };
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
    }
  }
}

function syncDirectory(dir: string): void {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
