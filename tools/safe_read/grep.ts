import { invalid } from '../../src/sdk/input.ts';
import { compileLinePattern, type LinePattern } from '../../src/sdk/line-pattern.ts';
import { AROUND_LATER_LINE, AROUND_LINE, WHOLE_BYTES, WIDE_MAX_CHARS } from '../../src/sdk/secret-context.ts';
import { MAX_PARTS, type ShownPart } from '../../src/sdk/tool.ts';
import { type LineBlock, splitLines } from './line-blocks.ts';

/** At least so much text around the matches is searched, however little may be returned. */
const AROUND_LEAST_CHARS = WHOLE_BYTES;
/** The number of texts joined at a time: many short strings take more memory than one long string. */
const JOINED_TEXTS = 4096;

export interface GrepOptions {
  pattern: string;
  /** Lines to print around each match. */
  before: number;
  after: number;
  /** The size of the file. */
  fileBytes: number;
  maxBytes: number;
}

export interface GrepResult {
  /** The lines of the file that are printed, and the text around them, which is searched for secrets. */
  text: string;
  /** The printed lines: `12:text` for a line that matches, `13-text` for one around it, `--` between groups. */
  parts: readonly ShownPart[];
  matches: number;
  droppedBytes: number;
  /** True if of lines above 1 MiB only the beginning was searched, because of anchors in the pattern. */
  isSearchCut: boolean;
}

/** Finds the lines that match an RE2 pattern, with lines around each. Linear in the text for every pattern. */
export async function grepText(chunks: AsyncIterable<Buffer>, options: GrepOptions): Promise<GrepResult> {
  const found = new GrepOutput(compile(options.pattern), options);
  for await (const block of splitLines(chunks)) found.add(block);
  return found.finish();
}

function compile(pattern: string): LinePattern {
  try {
    return compileLinePattern(pattern);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'it does not parse';
    throw invalid('grep', `is not a pattern: ${reason}`, 'Use RE2 syntax: no look-around, no back-references.');
  }
}

/** A line of the current window without its newline, or a part of a long one. Offsets count all characters of the file. */
interface Line {
  start: number;
  length: number;
  /** What marks that the line goes on before and after the part. Default: nothing. */
  cut?: { before: string; after: string };
}

/** Collects matching lines with the lines around them, in the format of `grep -n -C`. */
class GrepOutput {
  readonly #pattern: LinePattern;
  readonly #options: GrepOptions;
  readonly #around: Collected;
  readonly #parts: ShownPart[] = [];
  /** Where the last part of the collected surroundings begins in them, and in the file. */
  #segment = { at: 0, fileStart: 0 };
  /** What is printed before the next line. */
  #pending = '';
  #printedBytes = 0;
  #droppedBytes = 0;
  #isClosed = false;
  /** The current block and the end of the text before it, and the offset at which it begins. */
  #window = '';
  #windowStart = 0;
  #before: Line[] = [];
  #number = 0;
  #lastPrinted = 0;
  #afterLeft = 0;
  #matches = 0;
  /** The surroundings are collected up to `#aroundEnd` and wanted up to `#aroundWanted`: offsets. */
  #aroundEnd = 0;
  #aroundWanted = 0;
  /** True if the long line whose pieces arrive was printed. */
  #isLineDone = false;
  #isSearchCut = false;

  constructor(pattern: LinePattern, options: GrepOptions) {
    this.#pattern = pattern;
    this.#options = options;
    this.#around = new Collected();
    if (options.fileBytes <= WHOLE_BYTES) this.#aroundWanted = Number.POSITIVE_INFINITY;
  }

  add({ text, lines, piece }: LineBlock): void {
    const from = this.#window.length;
    this.#window += text;
    const { literal } = this.#pattern;
    if (piece !== null) {
      this.#searchPiece(text, { start: this.#windowStart + from, piece, isLast: lines > 0 });
      this.#collectAround();
      this.#shrink();
      return;
    }
    const isQuiet = literal !== null && this.#afterLeft === 0 && !text.includes(literal);
    if (isQuiet) this.#skip(text, from, lines);
    else this.#search(from);
    this.#collectAround();
    this.#shrink();
  }

  finish(): GrepResult {
    const { chars } = this.#around;
    if (this.#pending !== '') this.#parts.push({ start: chars, end: chars, label: this.#pending });
    return {
      text: this.#around.finish(),
      parts: this.#parts,
      matches: this.#matches,
      droppedBytes: this.#droppedBytes,
      isSearchCut: this.#isSearchCut,
    };
  }

  /** No line of the block can match, and none is printed after an earlier match. */
  #skip(text: string, from: number, lines: number): void {
    this.#number += lines;
    for (const line of lastLines(text, this.#options.before)) {
      this.#before.push({ ...line, start: this.#windowStart + from + line.start });
    }
    this.#before.splice(0, this.#before.length - this.#options.before);
  }

  #search(from: number): void {
    const window = this.#window;
    for (let start = from; start < window.length; ) {
      const newline = window.indexOf('\n', start);
      const end = newline === -1 ? window.length : newline;
      this.#addLine({ start: this.#windowStart + start, length: end - start }, window.slice(start, end));
      start = end + 1;
    }
  }

  /** Of a long line the first match is printed, with a little of the line around it. */
  #searchPiece(text: string, { start, piece, isLast }: { start: number; piece: number; isLast: boolean }): void {
    if (piece === 0) {
      this.#number += 1;
      this.#isLineDone = false;
    }
    if (piece > 0 && this.#pattern.looksAround) this.#isSearchCut = true;
    const mayMatch = !this.#isLineDone && (piece === 0 || !this.#pattern.looksAround);
    const match = mayMatch ? this.#pattern.find(text) : null;
    if (match !== null) {
      const shown = partAround(text, match);
      this.#addMatch({ ...shown, start: start + shown.start });
      this.#isLineDone = true;
    } else if (isLast && !this.#isLineDone) {
      const length = Math.min(SHOWN_CHARS, text.length);
      this.#addOther({ start, length, cut: { before: '', after: '…' } });
    }
  }

  #addLine(line: Line, text: string): void {
    this.#number += 1;
    if (this.#pattern.matches(text)) this.#addMatch(line);
    else this.#addOther(line);
  }

  /** A line that does not match. */
  #addOther(line: Line): void {
    if (this.#afterLeft > 0) {
      this.#afterLeft -= 1;
      this.#print(this.#number, '-', line);
    } else if (this.#options.before > 0) {
      this.#before.push(line);
      if (this.#before.length > this.#options.before) this.#before.shift();
    }
  }

  #addMatch(line: Line): void {
    this.#matches += 1;
    const { before, after } = this.#options;
    const first = this.#number - this.#before.length;
    const hasGroups = before > 0 || after > 0;
    if (hasGroups && !this.#isClosed && this.#lastPrinted > 0 && first > this.#lastPrinted + 1) this.#pending += '--\n';
    this.#before.forEach((other, index) => {
      this.#print(first + index, '-', other);
    });
    this.#before = [];
    this.#print(this.#number, ':', line);
    this.#afterLeft = after;
  }

  #print(number: number, mark: string, { start, length, cut = { before: '', after: '' } }: Line): void {
    this.#lastPrinted = number;
    const label = `${this.#pending}${number}${mark}${cut.before}`;
    const from = start - this.#windowStart;
    const bytes = Buffer.byteLength(label) + Buffer.byteLength(this.#window.slice(from, from + length)) + 1;
    const isFull = this.#printedBytes + bytes > this.#options.maxBytes || this.#parts.length >= MAX_PARTS - 1;
    // What cannot be searched together with its surroundings is not shown.
    if (isFull || this.#around.chars >= Math.max(this.#options.maxBytes, AROUND_LEAST_CHARS)) this.#isClosed = true;
    if (this.#isClosed) {
      this.#droppedBytes += bytes;
      return;
    }
    this.#printedBytes += bytes;
    this.#wantAround(start, length);
    const at = this.#segment.at + start - this.#segment.fileStart;
    this.#parts.push({ start: at, end: at + length, label });
    this.#pending = `${cut.after}\n`;
  }

  #wantAround(start: number, length: number): void {
    const { before, after } = this.#around.chars < WIDE_MAX_CHARS ? AROUND_LINE : AROUND_LATER_LINE;
    if (this.#aroundWanted < Number.POSITIVE_INFINITY && start - before > this.#aroundEnd) {
      this.#around.add('\n');
      this.#aroundEnd = Math.max(this.#windowStart, start - before);
      this.#segment = { at: this.#around.chars, fileStart: this.#aroundEnd };
    }
    this.#aroundWanted = Math.max(this.#aroundWanted, start + length + after);
    this.#collectAround();
  }

  /** Collects what is wanted and there. */
  #collectAround(): void {
    const end = Math.min(this.#aroundWanted, this.#windowStart + this.#window.length);
    if (end <= this.#aroundEnd) return;
    this.#around.add(this.#window.slice(this.#aroundEnd - this.#windowStart, end - this.#windowStart));
    this.#aroundEnd = end;
  }

  /** Keeps only what may be printed or collected later. */
  #shrink(): void {
    const end = this.#windowStart + this.#window.length;
    const from = Math.max(this.#windowStart, (this.#before[0]?.start ?? end) - AROUND_LINE.before);
    this.#window = this.#window.slice(from - this.#windowStart);
    this.#windowStart = from;
  }
}

/** How much of a long line is shown on both sides of a match, and of the match itself. */
const SHOWN_CHARS = 240;
const MATCH_MAX_CHARS = 1_000;

/** Characters that occur in secrets: a cut between two of them could leave half of a secret. */
const TOKEN = /[A-Za-z0-9_+/=.~%-]/;

function partAround(text: string, match: { start: number; end: number }): Line {
  const matchEnd = Math.min(match.end, match.start + MATCH_MAX_CHARS);
  let start = Math.max(0, match.start - SHOWN_CHARS);
  let end = Math.min(text.length, matchEnd + SHOWN_CHARS);
  const cutsToken = (at: number): boolean => TOKEN.test(text[at - 1] ?? '') && TOKEN.test(text[at] ?? '');
  while (start < match.start && cutsToken(start)) start += 1;
  while (end > matchEnd && cutsToken(end)) end -= 1;
  const length = end - start - (text[end - 1] === '\n' ? 1 : 0);
  return { start, length, cut: { before: '…', after: '…' } };
}

/** The last lines of a text that ends with a newline, in their order. */
function lastLines(text: string, count: number): Line[] {
  const lines: Line[] = [];
  for (let end = text.length - 1; lines.length < count && end >= 0; ) {
    const start = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    lines.unshift({ start, length: end - start });
    end = start - 1;
  }
  return lines;
}

/** Texts one after another. */
class Collected {
  readonly #joined: string[] = [];
  #parts: string[] = [];
  chars = 0;

  add(text: string): void {
    this.chars += text.length;
    this.#parts.push(text);
    if (this.#parts.length < JOINED_TEXTS) return;
    this.#joined.push(this.#parts.join(''));
    this.#parts = [];
  }

  finish(): string {
    return this.#joined.join('') + this.#parts.join('');
  }
}
