import { isJsonObject, type JsonObject } from '../core/json.ts';
import { CHAIN_START, type ChainedLine, follows, type Link, readChained } from './chain.ts';
import type { Head } from './head.ts';
import { type Line, linesForwards } from './lines.ts';
import {
  type Break,
  dayOfName,
  dayOfStart,
  type PrunedTo,
  readPruned,
  readSeal,
  readStart,
  type Segment,
  type SegmentStart,
  tornOf,
} from './segments.ts';
import { UnchainedStates } from './unchained.ts';

/** A place at which the log is not what was written. */
export interface AuditFault {
  /** File name; "" if it is about the whole log. */
  readonly file: string;
  /** From 1; 0 for the end of the file. */
  readonly line: number;
  readonly what: string;
  /** True if the log itself says so, at the place where it went on. */
  readonly isNoted?: true;
}

export interface AuditReport {
  /** Lines of the chain that are not about segments. */
  readonly records: number;
  readonly segments: number;
  /** Start of the oldest segment, ISO 8601; "" without a chain. */
  readonly since: string;
  /** Lines from before there was a chain, which nothing proves. */
  readonly unchained: number;
  /** At most `FAULTS_MAX`, in the order of the log. */
  readonly faults: readonly AuditFault[];
  readonly moreFaults: number;
  /** What happened and is no fault, such as a line that a loss of power tore. */
  readonly notes: readonly string[];
  /** The last line that is on disk. Null without a chain. */
  readonly head: Link | null;
}

/** A head that was kept elsewhere. */
export interface KeptHead extends Link {
  /** Where it was kept, for a message. */
  readonly from: string;
}

const FAULTS_MAX = 100;
export const OWN_HEAD = 'audit.head';

interface CheckOptions {
  /** What came before is not looked at. */
  readonly isPart?: boolean;
  /** Called for each line that the key proves, at its place. */
  onProven?(line: ChainedLine): void;
}

/**
 * Reads segments in their order, and finds lines that were changed, removed, added or moved. `verify` reports what it finds, and what
 * it finds false is never removed because it is old (prune.ts).
 */
export class ChainCheck {
  readonly #isPart: boolean;
  readonly #onProven: (line: ChainedLine) => void;
  readonly #key: Buffer;
  readonly #heads: ReadonlyMap<number, readonly KeptHead[]>;
  readonly #faults: AuditFault[] = [];
  readonly #notes: string[] = [];
  /** Lines without an end, by file, until the next segment says that it knows of them. */
  readonly #torn = new Map<string, { line: number; sha256: string; isForged: boolean }>();
  readonly #seen = new Set<KeptHead>();
  #moreFaults = 0;
  #link: Link = CHAIN_START;
  /** The link before `#link`, if the line of `#link` did not follow it: it may have been put in. */
  #before: Link | null = null;
  #segments = 0;
  #since = '';
  #records = 0;
  /** Lines from before there was a chain, by file. */
  readonly unchained = new Map<string, number>();
  readonly #unchainedStates = new UnchainedStates();
  /** The last line of what was removed because it was old, as the log says. */
  #prunedTo = 0;
  /** The first line, if it is not the first of the chain. */
  #startsAt: { seq: number; file: string } | null = null;

  constructor(
    key: Buffer,
    heads: readonly KeptHead[] = [],
    { isPart = false, onProven = () => {} }: CheckOptions = {},
  ) {
    this.#isPart = isPart;
    this.#onProven = onProven;
    this.#key = key;
    this.#heads = new Map(heads.map(({ seq }) => [seq, heads.filter((one) => one.seq === seq)]));
  }

  /** The next segment. */
  async segment({ path, name }: Segment): Promise<void> {
    let at = 0;
    for await (const line of linesForwards(path)) {
      at += 1;
      this.#line(line, name, at);
    }
  }

  /** Only the first line of the next segment. */
  async firstLine({ path, name }: Segment): Promise<void> {
    for await (const line of linesForwards(path)) {
      this.#line(line, name, 1);
      return;
    }
  }

  #line(line: Line, file: string, at: number): void {
    const chained = readChained(line);
    if (chained !== null) this.#chained(chained, file, at);
    else if (this.#segments === 0) this.#addUnchained(file, line.isTorn ? 0 : 1);
    else if (line.isTorn) this.#tornLine(line, file, at);
    else this.fault(file, at, 'is a line that the log did not write');
  }

  /** Only a whole line is a whole object: what looks like a record and has no newline must be one that the log wrote. */
  #tornLine(line: Line, file: string, at: number): void {
    const whole = { ...line, isTorn: false };
    const chained = readChained(whole);
    const isProven = chained !== null && follows(this.#key, this.#link, chained);
    const isForged = !isProven && parseObject(whole) !== null;
    if (isForged) this.fault(file, at, 'is a record without a line end, which the log did not write');
    this.#torn.set(file, { line: at, sha256: tornOf(line).sha256, isForged });
  }

  #chained(line: ChainedLine, file: string, at: number): void {
    const start = readStart(line);
    // What a line says of the log counts only if the key proves the line.
    if (start?.break?.why === 'no_key' && follows(this.#key, CHAIN_START, line)) this.#newKey(file, at);
    const isProven = this.#follow(line, file, at, start?.previous);
    if (isProven) this.#onProven(line);
    if (start !== null) this.#start(start, file, at, isProven);
    else if (this.#segments === 0 || at === 1) this.fault(file, at, 'comes before the start of a segment');
    else {
      const pruned = readPruned(line);
      if (pruned !== null && isProven && pruned.seq < line.link.seq) this.pruned(pruned);
      if (pruned === null && readSeal(line) === null) this.#records += 1;
    }
    for (const kept of this.#heads.get(line.link.seq) ?? []) {
      this.#seen.add(kept);
      if (kept.mac !== line.link.mac) {
        this.fault(file, at, `is not record ${kept.seq} as ${kept.from} has it: the log was written again`);
      }
    }
  }

  #start(start: SegmentStart, file: string, at: number, isProven: boolean): void {
    if (at > 1) this.fault(file, at, 'begins a segment in the middle of a file');
    if (this.#segments === 0) this.#unchainedStates.started(start);
    this.#segments += 1;
    this.#since ||= start.started;
    if (dayOfStart(start) !== dayOfName(file)) this.fault(file, at, 'has the name of another day');
    if (start.break !== undefined && isProven) this.#broken(start.break, file, at);
  }

  /** What the log says of segments that were removed because they were old. In the order of the log. */
  pruned(pruned: PrunedTo): void {
    this.#unchainedStates.pruned(pruned);
    this.#prunedTo = Math.max(this.#prunedTo, pruned.seq);
  }

  /** `previous`: what the line says of the code before it. Returns true if the key proves the line. */
  #follow(line: ChainedLine, file: string, at: number, previous: string | undefined): boolean {
    const { link } = line;
    // If it follows the line before the last one, that one was put in.
    if ([this.#link, this.#before].some((before) => before !== null && follows(this.#key, before, line))) {
      this.#before = null;
      this.#link = link;
      return true;
    }
    if (link.seq <= this.#link.seq) {
      this.fault(file, at, `says that it is record ${link.seq}, and is not at its place`);
      return false;
    }
    if (link.seq === this.#link.seq + 1) {
      this.fault(file, at, `is not record ${link.seq} as it was written`);
      this.#before = this.#link;
      this.#link = link;
      return false;
    }
    if (this.#link.seq === 0) this.#startsAt = { seq: link.seq, file };
    else this.fault(file, at, `comes after ${missing(this.#link.seq + 1, link.seq - 1)}`);
    const isProven = previous !== undefined && follows(this.#key, { seq: link.seq - 1, mac: previous }, line);
    if (!isProven) this.fault(file, at, 'cannot be proven, because the line before it is missing');
    this.#before = null;
    this.#link = link;
    return isProven;
  }

  #broken(broken: Break, file: string, at: number): void {
    switch (broken.why) {
      case 'torn':
        this.#knownTorn(broken);
        break;
      case 'changed':
        this.fault(file, at, `begins a segment because ${broken.name} was not as it was written`, true);
        break;
      case 'no_head':
        this.fault(file, at, 'begins a segment because the file audit.head was gone or changed', true);
        break;
      case 'no_key':
        // Said before the line was checked (#newKey).
        break;
    }
  }

  #newKey(file: string, at: number): void {
    this.#link = CHAIN_START;
    this.#before = null;
    const what = 'begins a chain with a new key: the old one was gone, and proves nothing before it';
    this.#onlyFault(file, at, what, true);
  }

  #knownTorn({ name, sha256 }: Extract<Break, { why: 'torn' }>): void {
    if (this.#isPart) return;
    const torn = this.#torn.get(name);
    if (torn?.sha256 === sha256) {
      this.#torn.delete(name);
      if (!torn.isForged)
        this.#notes.push(`${name}:${torn.line} was not written whole when the computer or the daemon stopped`);
    } else this.fault(name, 0, 'lacks what was there of its last line');
  }

  /** `unchainedHash` is that of the files in `unchained`. */
  report(head: Head | 'missing' | 'damaged', hasKey: boolean, unchainedHash: string): AuditReport {
    if (!this.#isPart) for (const { file, line, what } of this.beginFaults(unchainedHash)) this.fault(file, line, what);
    for (const [file, { line, isForged }] of this.#torn) if (!isForged) this.fault(file, line, 'is not a whole line');
    if (!hasKey && this.#segments > 0) this.#onlyFault('', 0, 'the key audit.key is gone: nothing can be proven');
    else if (head === 'damaged') this.fault('', 0, 'the file audit.head is not as it was written');
    else if (head !== 'missing') this.#end(head);
    else if (hasKey) this.fault('', 0, 'the file audit.head is gone: records at the end may be missing');
    for (const kept of [...this.#heads.values()].flat()) {
      const isPruned = kept.seq <= this.#prunedTo && kept.seq < (this.#startsAt?.seq ?? 0);
      if (!this.#seen.has(kept) && !isPruned && kept.from !== OWN_HEAD)
        this.fault('', 0, `record ${kept.seq}, which ${kept.from} has, is missing`);
    }
    const isEmpty = this.#link.seq === 0;
    return {
      records: this.#records,
      segments: this.#segments,
      since: this.#since,
      unchained: [...this.unchained.values()].reduce((sum, lines) => sum + lines, 0),
      faults: this.#faults,
      moreFaults: this.#moreFaults,
      notes: this.#notes,
      head: isEmpty ? null : this.#link,
    };
  }

  /** What is wrong with how the log begins. `unchainedHash` is that of the files in `unchained`. */
  beginFaults(unchainedHash: string): AuditFault[] {
    if (this.#segments === 0) return [];
    if (this.#startsAt === null) {
      const what = this.#unchainedStates.fault(unchainedHash);
      return what === null ? [] : [{ file: '', line: 0, what }];
    }
    const { seq, file } = this.#startsAt;
    const added = [...this.unchained.keys()].map((name) => {
      const what =
        'was added: the files from before there was a chain were removed before the first lines of the chain';
      return { file: name, line: 0, what };
    });
    if (seq <= this.#prunedTo + 1) return added;
    return [...added, { file, line: 1, what: `comes after ${missing(this.#prunedTo + 1, seq - 1)}` }];
  }

  /** What the caller of `beginFaults` must know of the log. */
  get beginning(): { isLater: boolean; hadUnchained: boolean; isUnchainedUnknown: boolean; prunedTo: number } {
    const { hadFiles: hadUnchained, isUnknown: isUnchainedUnknown } = this.#unchainedStates;
    return { isLater: this.#startsAt !== null, hadUnchained, isUnchainedUnknown, prunedTo: this.#prunedTo };
  }

  /** The last line that was read, and the starts of segments so far. */
  get reached(): { seq: number; segments: number } {
    return { seq: this.#link.seq, segments: this.#segments };
  }

  /** False if something was found that the log does not say itself. `last`: the end of what was read. */
  isAsWritten(last: Segment): boolean {
    if ([...this.#torn.keys()].some((file) => file !== last.name)) return false;
    return this.#moreFaults === 0 && this.#faults.every(({ isNoted }) => isNoted === true);
  }

  #end({ seq, name }: Head): void {
    if (seq > this.#link.seq) this.fault(name, 0, `lacks ${missing(this.#link.seq + 1, seq)} at its end`);
  }

  #addUnchained(file: string, lines: number): void {
    this.unchained.set(file, (this.unchained.get(file) ?? 0) + lines);
  }

  /** Of each line so far nothing can be said but this. */
  #onlyFault(...fault: Parameters<ChainCheck['fault']>): void {
    this.#faults.length = 0;
    this.#moreFaults = 0;
    this.fault(...fault);
  }

  /** `isNoted`: see AuditFault. */
  fault(file: string, line: number, what: string, isNoted = false): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push({ file, line, what, ...(isNoted && { isNoted }) });
    else this.#moreFaults += 1;
  }
}

function missing(from: number, to: number): string {
  return from === to ? `record ${from}, which is missing` : `records ${from} to ${to}, which are missing`;
}

function parseObject({ bytes }: Line): JsonObject | null {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
