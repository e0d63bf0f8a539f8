import { setImmediate } from 'node:timers/promises';
import { dropCutEnd, dropCutStart } from '../../src/sdk/cut-text.ts';
import type { Span } from '../../src/sdk/file-bytes.ts';
import type { JsonObject, ToolOutput, ToolStream } from '../../src/sdk/tool.ts';
import { findBytes, findNearMiss } from './find-text.ts';
import { isCrlfThroughout, toCrlf } from './lines.ts';
import type { Hunk, HunkSide, Patch } from './parse-patch.ts';

/** Hunks that are looked for because they do not stand where the patch says. */
const SEARCHES_MAX = 1_000;
/** Hunks between two turns of others. */
const HUNKS_A_TURN = 500;
const NEWLINE = 0x0a;

export interface Patched {
  content: Buffer;
  /** What changed, in `content`. */
  changed: readonly Span[];
  /** Hunks that stood so many lines below where the patch says; above it, less than 0. */
  offsets: readonly { hunk: number; lines: number }[];
  /** True when newlines of the patch became CRLF, as the file has it. */
  toCrlf: boolean;
}

/**
 * The file with every hunk applied, without fuzz: all lines that a hunk knows must stand there. A hunk that does not
 * stand where its header says, shifted as the one before it, is taken where it stands once after that one. The answer
 * to give when one does not fit comes back as `misfit`.
 */
export async function applyPatch(
  before: Buffer,
  { hunks }: Patch,
  { shown, signal }: { shown: string; signal: AbortSignal },
): Promise<Patched | { misfit: ToolOutput }> {
  const isCrlf = isCrlfThroughout(before) && !hunks.some(hasReturn);
  const work = new Patching(before, shown, isCrlf ? '\r\n' : '\n');
  for (const hunk of hunks) {
    const { searches } = work;
    const misfit = work.apply(hunk);
    if (misfit !== null) return { misfit };
    // A search reads the whole file: others of this process get their turn.
    if (work.searches > searches || hunk.number % HUNKS_A_TURN === 0) await setImmediate();
    signal.throwIfAborted();
  }
  return { ...work.finish(), toCrlf: isCrlf };
}

function hasReturn({ old, new: next }: Hunk): boolean {
  return [...old.lines, ...next.lines].some((line) => line.includes('\r'));
}

interface Place {
  /** Byte offset. */
  at: number;
  /** Counted from 1. */
  line: number;
}

class Patching {
  readonly #before: Buffer;
  readonly #shown: string;
  readonly #newline: string;
  readonly #parts: Buffer[] = [];
  readonly #changed: Span[] = [];
  readonly #offsets: { hunk: number; lines: number }[] = [];
  #size = 0;
  /** Up to here the old file is dealt with. */
  #done: Place = { at: 0, line: 1 };
  #shift = 0;
  /** How many hunks were not where the patch says. */
  searches = 0;

  constructor(before: Buffer, shown: string, newline: string) {
    this.#before = before;
    this.#shown = shown;
    this.#newline = newline;
  }

  /** Null when it fits. */
  apply(hunk: Hunk): ToolOutput | null {
    const old = this.#bytesOf(hunk.old);
    const stated = hunk.old.start + (hunk.old.lines.length === 0 ? 1 : 0);
    const expected = Math.max(1, stated + this.#shift);
    const there = findLine(this.#before, this.#done, expected);
    const isThere = there !== null && this.#fits(hunk, old, there.at);
    const misfit = new HunkMisfit(this.#before, this.#shown, hunk, expected);
    if (old.length === 0 && (!isThere || this.#shift !== 0)) return misfit.withoutContext();
    const places = isThere ? [there] : this.#search(hunk, old);
    if (places === null) return misfit.tooMany(SEARCHES_MAX);
    const [place, second] = places;
    if (place === undefined) return misfit.nowhere(old, there?.at ?? null, this.#done.line);
    if (second !== undefined) return misfit.ambiguous(places.map(({ line }) => line));
    this.#shift = place.line - stated;
    if (this.#shift !== 0) this.#offsets.push({ hunk: hunk.number, lines: this.#shift });
    this.#replace(hunk, place, old.length);
    return null;
  }

  finish(): Omit<Patched, 'toCrlf'> {
    const rest = this.#before.subarray(this.#done.at);
    const content = Buffer.concat([...this.#parts, rest], this.#size + rest.length);
    return { content, changed: this.#changed, offsets: this.#offsets };
  }

  #fits({ old: side, new: next }: Hunk, old: Buffer, at: number): boolean {
    const end = at + old.length;
    if (at > 0 && this.#before[at - 1] !== NEWLINE) return false;
    if ((side.endsFile || next.endsFile) && end !== this.#before.length) return false;
    return end <= this.#before.length && this.#before.subarray(at, end).equals(old);
  }

  /** Up to two places after the hunk before it; null when too many were looked for. */
  #search(hunk: Hunk, old: Buffer): Place[] | null {
    this.searches += 1;
    if (this.searches > SEARCHES_MAX) return null;
    const places: Place[] = [];
    let known = this.#done;
    for (const found of findBytes(this.#before.subarray(this.#done.at), old, { overlapping: true })) {
      const at = this.#done.at + found;
      if (!this.#fits(hunk, old, at)) continue;
      known = { at, line: known.line + countNewlines(this.#before, known.at, at) };
      places.push(known);
      if (places.length === 2) break;
    }
    return places;
  }

  #replace(hunk: Hunk, { at, line }: Place, oldLength: number): void {
    const { context } = hunk;
    const next = this.#bytesOf(hunk.new);
    this.#push(this.#before.subarray(this.#done.at, at));
    const { lines } = hunk.new;
    const first = this.#lengthOf(lines.slice(0, context.before));
    const last = this.#lengthOf(lines.slice(lines.length - context.after));
    const start = this.#size + Math.min(first, next.length);
    this.#push(next);
    if (lines.length !== context.before || hunk.old.lines.length !== context.before)
      this.#changed.push({ start, end: Math.max(start, this.#size - last) });
    this.#done = { at: at + oldLength, line: line + hunk.old.lines.length };
  }

  #push(part: Buffer): void {
    this.#parts.push(part);
    this.#size += part.length;
  }

  #bytesOf({ lines, endsFile }: HunkSide): Buffer {
    const text = lines.map((line, index) => (endsFile && index === lines.length - 1 ? line : `${line}\n`)).join('');
    return Buffer.from(this.#newline === '\n' ? text : toCrlf(text));
  }

  #lengthOf(lines: readonly string[]): number {
    return lines.reduce((sum, line) => sum + Buffer.byteLength(line) + this.#newline.length, 0);
  }
}

/** Where a line begins, from a place before it; also the one after the last newline. Null when there is none. */
function findLine(bytes: Buffer, from: Place, line: number): Place | null {
  if (line < from.line) return null;
  let { at } = from;
  for (let left = line - from.line; left > 0; left--) {
    const newline = bytes.indexOf(NEWLINE, at);
    if (newline === -1) return null;
    at = newline + 1;
  }
  return { at, line };
}

function countNewlines(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE, start); at !== -1 && at < end; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** Of the line that stands in the place of another, this much is shown, bytes. */
const SHOWN_MAX_BYTES = 300;
/** Searched for secrets on both sides of what is shown. */
const MARGIN_BYTES = 8 * 1024;

/** What to answer when a hunk does not fit: CONFLICT, and as `data.found` the line that stands there instead. */
class HunkMisfit {
  readonly #file: Buffer;
  readonly #shown: string;
  readonly #hunk: Hunk;
  readonly #line: number;

  /** `line`: where the hunk was expected, counted from 1. */
  constructor(file: Buffer, shown: string, hunk: Hunk, line: number) {
    this.#file = file;
    this.#shown = shown;
    this.#hunk = hunk;
    this.#line = line;
  }

  withoutContext(): ToolOutput {
    return this.#conflict(`has no lines to know its place by, and line ${this.#line} is not sure to be it`, {
      remedy: 'Give the hunk three lines of context.',
    });
  }

  ambiguous(lines: readonly number[]): ToolOutput {
    return this.#conflict(
      `is not at line ${this.#line} and fits in more than one place, as at ${lines.join(' and ')}`,
      {
        remedy: 'Correct the line in its header, or give it more context.',
        details: { lines: [...lines] },
      },
    );
  }

  tooMany(limit: number): ToolOutput {
    return this.#conflict(`is not at line ${this.#line}, as ${limit} before it were not where the patch says`, {});
  }

  /** `old`: what it expects. `at`: offset of the expected line, null when the file ends before it. */
  nowhere(old: Buffer, at: number | null, done: number): ToolOutput {
    const near = findNearMiss(this.#file, old);
    const differs =
      near === null ? '' : `; what stands at line ${near.line} differs in white space alone: ${near.differs}`;
    const details = near === null ? {} : { nearest_line: near.line };
    if (at === null) {
      const where = this.#line < done ? 'the hunk before it ends behind that line' : 'the file ends before that line';
      return this.#conflict(`is expected at line ${this.#line}, but ${where}${differs}`, { details });
    }
    const end = this.#ending(old, at);
    if (end !== null) return this.#conflict(`does not fit: ${end}`, { details });
    const { line, found } = this.#firstOther(old, at);
    return this.#conflict(`does not fit: line ${line} is not what it expects${differs}`, { details, found });
  }

  /** What is wrong when every line stands there, and only the end of the file is another. */
  #ending(old: Buffer, at: number): string | null {
    const { old: side } = this.#hunk;
    if (!side.endsFile && old.at(-1) === NEWLINE && this.#file.subarray(at).equals(old.subarray(0, -1)))
      return 'the file ends without a newline there, which takes "\\ No newline at end of file" below its last line';
    const isThere = this.#file.subarray(at, at + old.length).equals(old);
    return isThere ? 'it says that the file ends there without a newline, and it does not' : null;
  }

  #firstOther(old: Buffer, at: number): { line: number; found: ToolStream } {
    let same = 0;
    while (same < old.length && this.#file[at + same] === old[same]) same += 1;
    const before = old.subarray(0, same);
    const start = at + before.lastIndexOf(NEWLINE) + 1;
    const newline = this.#file.indexOf(NEWLINE, start);
    const line = this.#line + countNewlines(before, 0, before.length);
    return { line, found: excerpt(this.#file, start, newline === -1 ? this.#file.length : newline) };
  }

  #conflict(
    what: string,
    { remedy, details = {}, found }: { remedy?: string; details?: JsonObject; found?: ToolStream },
  ): ToolOutput {
    const { number, patchLine } = this.#hunk;
    const message = `in ${this.#shown}, hunk ${number} (line ${patchLine} of the patch) ${what}`;
    return {
      data: { path: this.#shown },
      ...(found === undefined ? {} : { streams: [found] }),
      failure: {
        code: 'CONFLICT',
        message,
        remedy: `${remedy ?? 'Read the file again and make the patch for what stands there.'} Nothing was written.`,
        details: { path: this.#shown, hunk: number, patch_line: patchLine, line: this.#line, ...details },
      },
    };
  }
}

/** A secret that is cut, or known by what stands before it, is found with the text around it. */
function excerpt(file: Buffer, start: number, end: number): ToolStream {
  const shown = dropCutEnd(file.subarray(start, Math.min(end, start + SHOWN_MAX_BYTES)));
  const shownEnd = start + shown.length;
  const before = dropCutStart(file.subarray(Math.max(0, start - MARGIN_BYTES), start)).toString();
  const after = dropCutEnd(file.subarray(shownEnd, shownEnd + MARGIN_BYTES)).toString();
  return {
    field: 'found',
    text: before + shown.toString() + after,
    margin: { before: before.length, after: after.length },
  };
}
