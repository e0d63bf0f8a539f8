import { CHAIN_START, type ChainedLine, follows, type Link, readChained } from './chain.ts';
import { chainPlaces, type Head, readHead, readKey } from './head.ts';
import {
  type Break,
  dayOfName,
  dayOfStart,
  hashOf,
  listFalseSegments,
  listSegments,
  readPruned,
  readSeal,
  readStart,
  type Segment,
  tornOf,
} from './segments.ts';
import { linesForwards } from './tail.ts';

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
const OWN_HEAD = 'audit.head';

/**
 * Reads the whole log and checks every line against the key. Finds lines that were changed, removed, added or moved, files that
 * are missing, and a tail that was cut; and whether it holds what `heads` say. It proves nothing against a person who has the
 * key. Throws the error of the file system, and Error if the key is unusable.
 */
export async function verifyAuditLog(dir: string, heads: readonly KeptHead[] = []): Promise<AuditReport> {
  const places = chainPlaces(dir);
  // The head is read first: a log that grows meanwhile goes beyond it.
  const key = readKey(places);
  const head = key === null ? 'missing' : readHead(places, key);
  const ownHead = typeof head === 'string' ? [] : [{ ...head, from: OWN_HEAD }];
  const check = new Check(key ?? Buffer.alloc(0), [...ownHead, ...heads]);
  const segments = await listSegments(dir);
  for (const name of await listFalseSegments(dir)) check.fault(name, 0, 'is no regular file');
  for (const segment of segments) await check.segment(segment);
  return check.report(head, key !== null, await hashOf(segments.filter(({ name }) => check.unchained.has(name))));
}

/**
 * The same for the newest segment only, which is quick on a long log: that it is whole and as it was written, and that it goes as
 * far as audit.head says.
 */
export async function verifyNewest(dir: string): Promise<AuditReport> {
  const places = chainPlaces(dir);
  const key = readKey(places);
  const head = key === null ? 'missing' : readHead(places, key);
  const check = new Check(key ?? Buffer.alloc(0), typeof head === 'string' ? [] : [{ ...head, from: OWN_HEAD }], true);
  for (const segment of (await listSegments(dir)).slice(-1)) await check.segment(segment);
  return check.report(head, key !== null, '');
}

class Check {
  readonly #isPart: boolean;
  readonly #key: Buffer;
  readonly #heads: ReadonlyMap<number, readonly KeptHead[]>;
  readonly #faults: AuditFault[] = [];
  readonly #notes: string[] = [];
  /** Lines without an end, by file, until the next segment says that it knows of them. */
  readonly #torn = new Map<string, { line: number; sha256: string }>();
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
  #unchainedHash: string | null = null;
  /** The last line of what was removed because it was old, as the log says. */
  #prunedTo = 0;
  #hasPruned = false;
  /** The first line, if it is not the first of the chain. */
  #startsAt: { seq: number; file: string } | null = null;

  /** `isPart`: what came before is not looked at. */
  constructor(key: Buffer, heads: readonly KeptHead[], isPart = false) {
    this.#isPart = isPart;
    this.#key = key;
    this.#heads = new Map(heads.map(({ seq }) => [seq, heads.filter((one) => one.seq === seq)]));
  }

  async segment({ path, name }: Segment): Promise<void> {
    let at = 0;
    for await (const { bytes, isTorn } of linesForwards(path)) {
      at += 1;
      const text = bytes.toString('utf8');
      const chained = isTorn ? null : readChained(text);
      if (chained !== null) this.#chained(chained, text, name, at);
      else if (this.#segments === 0) this.#addUnchained(name);
      else if (isTorn) this.#torn.set(name, { line: at, sha256: tornOf(bytes)?.sha256 ?? '' });
      else this.fault(name, at, 'is a line that the log did not write');
    }
  }

  #chained(line: ChainedLine, text: string, file: string, at: number): void {
    const start = readStart(text);
    if (start?.break !== undefined) this.#broken(start.break, file, at);
    const isProven = this.#follow(line, file, at, start?.previous);
    if (start === null && this.#segments === 0) this.fault(file, at, 'comes before the start of a segment');
    else if (start !== null) {
      if (at > 1) this.fault(file, at, 'begins a segment in the middle of a file');
      if (this.#segments === 0) this.#unchainedHash = start.unchained ?? null;
      this.#segments += 1;
      this.#since ||= start.started;
      if (dayOfStart(start) !== dayOfName(file)) this.fault(file, at, 'has the name of another day');
    } else {
      const pruned = readPruned(text);
      if (pruned !== null && isProven && pruned.seq < line.link.seq) {
        this.#hasPruned = true;
        this.#prunedTo = Math.max(this.#prunedTo, pruned.seq);
      }
      if (pruned === null && readSeal(text) === null) this.#records += 1;
    }
    for (const kept of this.#heads.get(line.link.seq) ?? []) {
      this.#seen.add(kept);
      if (kept.mac !== line.link.mac) {
        this.fault(file, at, `is not record ${kept.seq} as ${kept.from} has it: the log was written again`);
      }
    }
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
        this.#link = CHAIN_START;
        this.#onlyFault(
          file,
          at,
          'begins a chain with a new key: the old one was gone, and proves nothing before it',
          true,
        );
    }
  }

  #knownTorn({ name, sha256 }: Extract<Break, { why: 'torn' }>): void {
    const torn = this.#torn.get(name);
    if (torn?.sha256 === sha256) {
      this.#torn.delete(name);
      this.#notes.push(`${name}:${torn.line} was not written whole when the computer or the daemon stopped`);
    } else this.fault(name, 0, 'lacks what was there of its last line');
  }

  /** `unchainedHash` is that of the files in `unchained`. */
  report(head: Head | 'missing' | 'damaged', hasKey: boolean, unchainedHash: string): AuditReport {
    const isOfBefore = this.#unchainedHash === null ? this.unchained.size === 0 : this.#unchainedHash === unchainedHash;
    if (this.#segments > 0 && !this.#hasPruned && !isOfBefore && !this.#isPart) {
      this.fault('', 0, 'the records from before there was a chain are not as they were when it began');
    }
    if (this.#startsAt !== null && !this.#isPart && this.#startsAt.seq > this.#prunedTo + 1) {
      this.fault(this.#startsAt.file, 1, `comes after ${missing(this.#prunedTo + 1, this.#startsAt.seq - 1)}`);
    }
    for (const [file, { line }] of this.#torn) this.fault(file, line, 'is not a whole line');
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

  #end({ seq, name }: Head): void {
    if (seq > this.#link.seq) this.fault(name, 0, `lacks ${missing(this.#link.seq + 1, seq)} at its end`);
  }

  #addUnchained(file: string): void {
    this.unchained.set(file, (this.unchained.get(file) ?? 0) + 1);
  }

  /** Of each line so far nothing can be said but this. */
  #onlyFault(...fault: Parameters<Check['fault']>): void {
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
