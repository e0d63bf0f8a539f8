import { setImmediate } from 'node:timers/promises';
import { dropCutEnd, dropCutStart } from '../../src/sdk/cut-text.ts';
import type { Span } from '../../src/sdk/file-bytes.ts';
import { AROUND_RANGE_BYTES, WHOLE_BYTES } from '../../src/sdk/secret-context.ts';
import type { JsonObject, ToolOutput, ToolStream } from '../../src/sdk/tool.ts';
import { findBytes } from './find-text.ts';
import { isCrlfThroughout, toCrlf } from './lines.ts';
import { findNearMiss } from './near-miss.ts';
import type { Hunk, HunkSide, Patch } from './parse-patch.ts';

/** The most hunks that are searched because they are not at the line in their header. */
const SEARCHES_MAX = 1_000;
/** The number of hunks after which other calls of this process get their turn. */
const HUNKS_A_TURN = 500;
const NEWLINE = 0x0a;

export interface Patched {
  content: Buffer;
  /** The changed spans of `content`. */
  changed: readonly Span[];
  /** Hunks found elsewhere: the number of lines below the line in their header; negative above it. */
  offsets: readonly { hunk: number; lines: number }[];
  /** True if newlines of the patch were converted to CRLF, as in the file. */
  toCrlf: boolean;
}

/**
 * Applies every hunk without fuzz: all lines of a hunk must be in the file. A hunk is expected at the line in its header,
 * shifted like the hunk before it. Otherwise it is applied where its lines occur exactly once after the hunk before it. If
 * a hunk does not fit, returns the tool's answer as `misfit`.
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
    // A search reads the whole file, so let other calls of this process run.
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
  /** The old file is processed up to this place. */
  #done: Place = { at: 0, line: 1 };
  #shift = 0;
  /** The number of hunks that were not at the line in their header. */
  searches = 0;

  constructor(before: Buffer, shown: string, newline: string) {
    this.#before = before;
    this.#shown = shown;
    this.#newline = newline;
  }

  /** Applies a hunk. Returns null if it fits, otherwise the tool's answer. */
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

  /** Up to two places after the previous hunk; null if too many hunks were searched already. */
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
    // The last line of a file may have no newline.
    const lacking = hunk.new.endsFile && context.after > 0 ? this.#newline.length : 0;
    const last = this.#lengthOf(lines.slice(lines.length - context.after)) - lacking;
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

/** Finds the start of a line, searching from a place before it. Null if the file has no such line. */
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

/** The most bytes shown of the line that is in the file instead. */
const SHOWN_MAX_BYTES = 300;

/** The answers for a hunk that does not fit: CONFLICT, with the line that is in the file instead as `data.found`. */
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
    return this.#conflict(`has no context lines, and it is not certain that it belongs at line ${this.#line}`, {
      remedy: 'Add three lines of context to the hunk.',
    });
  }

  ambiguous(lines: readonly number[]): ToolOutput {
    return this.#conflict(
      `is not at line ${this.#line} and fits in more than one place, such as lines ${lines.join(' and ')}`,
      {
        remedy: 'Correct the line number in its header, or add context.',
        details: { lines: [...lines] },
      },
    );
  }

  tooMany(limit: number): ToolOutput {
    return this.#conflict(
      `is not at line ${this.#line}, and ${limit} hunks before it were not at the line in their header either`,
      {},
    );
  }

  /** `old`: the bytes the hunk expects. `at`: offset of the expected line; null if the file ends before it. */
  nowhere(old: Buffer, at: number | null, done: number): ToolOutput {
    const near = findNearMiss(this.#file, old);
    const differs = near === null ? '' : `; the text at line ${near.line} differs only in ${near.differs}`;
    const details = near === null ? {} : { nearest_line: near.line };
    if (at === null) {
      const where = this.#line < done ? 'the hunk before it ends after this line' : 'the file ends before this line';
      return this.#conflict(`is expected at line ${this.#line}, but ${where}${differs}`, { details });
    }
    const end = this.#ending(old, at);
    if (end !== null) return this.#conflict(`does not fit: ${end}`, { details });
    const { line, found } = this.#firstOther(old, at);
    return this.#conflict(`does not fit: line ${line} is not the line it expects${differs}`, { details, found });
  }

  /** What is wrong if every line is there and only the end of the file differs; null otherwise. */
  #ending(old: Buffer, at: number): string | null {
    const { old: side } = this.#hunk;
    if (!side.endsFile && old.at(-1) === NEWLINE && this.#file.subarray(at).equals(old.subarray(0, -1)))
      return 'the file ends there without a newline; add "\\ No newline at end of file" below its last line';
    const isThere = this.#file.subarray(at, at + old.length).equals(old);
    return isThere ? 'it says that the file ends there without a newline, which is not true' : null;
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
        remedy: `${remedy ?? 'Read the file again and make the patch for its content.'} Nothing was written.`,
        details: { path: this.#shown, hunk: number, patch_line: patchLine, line: this.#line, ...details },
      },
    };
  }
}

/** Includes the text around the line as a margin, so that secrets are recognized by it. */
function excerpt(file: Buffer, start: number, end: number): ToolStream {
  const shown = dropCutEnd(file.subarray(start, Math.min(end, start + SHOWN_MAX_BYTES)));
  const shownEnd = start + shown.length;
  const margin = file.length <= WHOLE_BYTES ? file.length : AROUND_RANGE_BYTES;
  const before = dropCutStart(file.subarray(Math.max(0, start - margin), start)).toString();
  const after = dropCutEnd(file.subarray(shownEnd, shownEnd + margin)).toString();
  return {
    field: 'found',
    text: before + shown.toString() + after,
    margin: { before: before.length, after: after.length },
  };
}
