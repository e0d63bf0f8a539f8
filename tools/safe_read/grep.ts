import { invalid } from '../../src/sdk/input.ts';
import { compileLinePattern, type LinePattern } from '../../src/sdk/line-pattern.ts';
import type { TextMargin } from '../../src/sdk/tool.ts';
import { type LineBlock, splitLines } from './line-blocks.ts';

/**
 * The text before and after a printed line that is searched for secrets with it: a private key is recognized by its first
 * line. There may be many matches, so it is less than around a range.
 */
const BEFORE_CHARS = 4 * 1024;
const AFTER_CHARS = 1024;
/** At least so much text around the matches is searched, however little may be returned. */
const AROUND_LEAST_BYTES = 128 * 1024;
/** The shortest run of letters and digits that may be a piece of a secret of several lines. */
const PIECE_CHARS = 12;
/** The number of texts joined at a time: many short strings take more memory than one long string. */
const JOINED_TEXTS = 4096;

export interface GrepOptions {
  pattern: string;
  /** Lines to print around each match. */
  before: number;
  after: number;
  maxBytes: number;
}

export interface GrepResult {
  /** The text around the matches, then `12:text` for a line that matches, `13-text` for one around it, `--` between groups. */
  text: string;
  /** The text around the matches is searched for secrets and not shown. */
  margin: TextMargin;
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

/** A line of the current window, without its newline. Offsets count all characters of the file. */
interface Line {
  start: number;
  text: string;
}

/** Collects matching lines with the lines around them, in the format of `grep -n -C`. */
class GrepOutput {
  readonly #pattern: LinePattern;
  readonly #options: GrepOptions;
  readonly #numbered: Collected;
  readonly #around: Collected;
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
    this.#numbered = new Collected(options.maxBytes);
    // Everything around a printed line is collected, so the last line may exceed the limit by its surroundings.
    this.#around = new Collected(Number.POSITIVE_INFINITY);
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
    const around = this.#around.finish();
    // A newline keeps the surroundings apart from the first line.
    const hidden = around === '' ? '' : `${around}\n`;
    return {
      text: hidden + this.#numbered.finish(),
      margin: { before: hidden.length, after: 0 },
      matches: this.#matches,
      droppedBytes: this.#numbered.droppedBytes,
      isSearchCut: this.#isSearchCut,
    };
  }

  /** No line of the block can match, and none is printed after an earlier match. */
  #skip(text: string, from: number, lines: number): void {
    this.#number += lines;
    for (const line of lastLines(text, this.#options.before)) {
      this.#before.push({ start: this.#windowStart + from + line.start, text: line.text });
    }
    this.#before.splice(0, this.#before.length - this.#options.before);
  }

  #search(from: number): void {
    const window = this.#window;
    for (let start = from; start < window.length; ) {
      const newline = window.indexOf('\n', start);
      const end = newline === -1 ? window.length : newline;
      this.#addLine({ start: this.#windowStart + start, text: window.slice(start, end) });
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
      this.#addMatch({ start: start + shown.start, text: shown.text });
      this.#isLineDone = true;
    } else if (isLast && !this.#isLineDone) {
      this.#addOther({ start, text: `${text.slice(0, SHOWN_CHARS)}…` });
    }
  }

  #addLine(line: Line): void {
    this.#number += 1;
    if (this.#pattern.matches(line.text)) this.#addMatch(line);
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
    if (hasGroups && this.#lastPrinted > 0 && first > this.#lastPrinted + 1) this.#numbered.add('--\n');
    this.#before.forEach((other, index) => {
      this.#print(first + index, '-', other);
    });
    this.#before = [];
    this.#print(this.#number, ':', line);
    this.#afterLeft = after;
  }

  #print(number: number, mark: string, { start, text }: Line): void {
    if (mayHoldPiece(text)) this.#wantAround(start, text.length);
    this.#numbered.add(`${number}${mark}${text}\n`);
    this.#lastPrinted = number;
  }

  #wantAround(start: number, length: number): void {
    // What cannot be searched together with its surroundings is not shown.
    if (this.#around.bytes >= Math.max(this.#options.maxBytes, AROUND_LEAST_BYTES)) this.#numbered.close();
    if (start - BEFORE_CHARS > this.#aroundEnd) {
      this.#around.add('\n');
      this.#aroundEnd = Math.max(this.#windowStart, start - BEFORE_CHARS);
    }
    this.#aroundWanted = start + length + AFTER_CHARS;
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
    const from = Math.max(this.#windowStart, (this.#before[0]?.start ?? end) - BEFORE_CHARS);
    this.#window = this.#window.slice(from - this.#windowStart);
    this.#windowStart = from;
  }
}

/** True if a line has a run of letters and digits that is long and mixed enough to be a piece of a secret. Linear. */
function mayHoldPiece(line: string): boolean {
  let [letters, others] = [0, 0];
  for (let at = 0; at < line.length; at++) {
    const kind = PIECE_KINDS[line.charCodeAt(at)] ?? 0;
    if (kind === 0) [letters, others] = [0, 0];
    else if (kind === 1) letters += 1;
    else others += 1;
    if (letters > 0 && others > 0 && letters + others >= PIECE_CHARS) return true;
  }
  return false;
}

/** By character code: 1 for a letter, 2 for a digit or sign of base64, 0 for anything else. */
const PIECE_KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return 1;
  return /[0-9+/=_-]/.test(character) ? 2 : 0;
});

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
  const part = text.slice(start, end).replace(/\n$/, '').toWellFormed();
  return { start, text: `…${part}…` };
}

/** The last lines of a text that ends with a newline, in their order. */
function lastLines(text: string, count: number): Line[] {
  const lines: Line[] = [];
  for (let end = text.length - 1; lines.length < count && end >= 0; ) {
    const start = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    lines.unshift({ start, text: text.slice(start, end) });
    end = start - 1;
  }
  return lines;
}

/** Texts one after another, up to a number of bytes. */
class Collected {
  readonly #maxBytes: number;
  readonly #joined: string[] = [];
  #parts: string[] = [];
  #isClosed = false;
  bytes = 0;
  droppedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Drops everything from now on. */
  close(): void {
    this.#isClosed = true;
  }

  add(text: string): void {
    const size = Buffer.byteLength(text);
    if (this.bytes + size > this.#maxBytes) this.#isClosed = true;
    if (this.#isClosed) {
      this.droppedBytes += size;
      return;
    }
    this.bytes += size;
    this.#parts.push(text);
    if (this.#parts.length < JOINED_TEXTS) return;
    this.#joined.push(this.#parts.join(''));
    this.#parts = [];
  }

  finish(): string {
    return this.#joined.join('') + this.#parts.join('');
  }
}
