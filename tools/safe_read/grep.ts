import type { FileHandle } from 'node:fs/promises';
import { RE2JS } from 're2js';
import { readSpan } from '../../src/sdk/file-bytes.ts';
import { invalid } from '../../src/sdk/input.ts';

/** The part of a longer line that is searched and shown. */
const LINE_MAX_BYTES = 1024 * 1024;
/** The number of texts joined at a time: many short strings take more memory than one long string. */
const JOINED_TEXTS = 4096;
const NEWLINE = 0x0a;

export interface GrepResult {
  /** `12:text` for a line that matches, `13-text` for one around it, `--` between groups. */
  text: string;
  matches: number;
  droppedBytes: number;
  hasLongLines: boolean;
}

/** Finds the lines that match an RE2 pattern, with `context` lines around each. Linear in the file for every pattern. */
export async function grepFile(
  file: FileHandle,
  options: { pattern: string; context: number; maxBytes: number },
  signal: AbortSignal,
): Promise<GrepResult> {
  const isMatch = compile(options.pattern);
  const found = new GrepOutput(options.context, options.maxBytes);
  const lines = new LineSplitter((line) => found.add(line, isMatch(line)));
  for await (const chunk of readSpan(file, { start: 0, end: Number.MAX_SAFE_INTEGER }, signal)) lines.add(chunk);
  lines.finish();
  return { ...found.finish(), hasLongLines: lines.hasLongLines };
}

function compile(pattern: string): (line: string) => boolean {
  if (!/[\\^$.|?*+()[\]{}]/.test(pattern)) return (line) => line.includes(pattern);
  try {
    const compiled = RE2JS.compile(pattern);
    return (line) => compiled.test(line);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'it does not parse';
    throw invalid('grep', `is not a pattern: ${reason}`, 'Use RE2 syntax: no look-around, no back-references.');
  }
}

/** Splits chunks into lines without their newline. Holds at most one line of the maximum length in memory. */
class LineSplitter {
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #size = 0;
  hasLongLines = false;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, at));
      this.#emit();
      from = at + 1;
    }
    // The memory of the chunk is reused for the next chunk.
    this.#keep(Buffer.from(chunk.subarray(from)));
  }

  finish(): void {
    if (this.#size > 0) this.#emit();
  }

  #keep(part: Buffer): void {
    const fitting = part.subarray(0, Math.max(0, LINE_MAX_BYTES - this.#size));
    if (fitting.length < part.length) this.hasLongLines = true;
    if (fitting.length > 0) this.#parts.push(fitting);
    this.#size += fitting.length;
  }

  #emit(): void {
    const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    this.#onLine(line?.toString('utf8') ?? '');
  }
}

/** Collects matching lines with the lines around them, in the format of `grep -n -C`. */
class GrepOutput {
  readonly #context: number;
  readonly #maxBytes: number;
  readonly #joined: string[] = [];
  #out: string[] = [];
  #before: string[] = [];
  #number = 0;
  #lastPrinted = 0;
  #afterLeft = 0;
  #bytes = 0;
  #matches = 0;
  #droppedBytes = 0;

  constructor(context: number, maxBytes: number) {
    this.#context = context;
    this.#maxBytes = maxBytes;
  }

  add(line: string, isMatch: boolean): void {
    this.#number += 1;
    if (isMatch) this.#addMatch(line);
    else if (this.#afterLeft > 0) {
      this.#afterLeft -= 1;
      this.#print(this.#number, '-', line);
    } else if (this.#context > 0) {
      this.#before.push(line);
      if (this.#before.length > this.#context) this.#before.shift();
    }
  }

  finish(): { text: string; matches: number; droppedBytes: number } {
    return {
      text: this.#joined.join('') + this.#out.join(''),
      matches: this.#matches,
      droppedBytes: this.#droppedBytes,
    };
  }

  #addMatch(line: string): void {
    this.#matches += 1;
    const first = this.#number - this.#before.length;
    if (this.#context > 0 && this.#lastPrinted > 0 && first > this.#lastPrinted + 1) this.#write('--\n');
    this.#before.forEach((text, index) => {
      this.#print(first + index, '-', text);
    });
    this.#before = [];
    this.#print(this.#number, ':', line);
    this.#afterLeft = this.#context;
  }

  #print(number: number, mark: string, line: string): void {
    this.#write(`${number}${mark}${line}\n`);
    this.#lastPrinted = number;
  }

  #write(text: string): void {
    const size = Buffer.byteLength(text);
    if (this.#droppedBytes > 0 || this.#bytes + size > this.#maxBytes) this.#droppedBytes += size;
    else {
      this.#bytes += size;
      this.#out.push(text);
      if (this.#out.length < JOINED_TEXTS) return;
      this.#joined.push(this.#out.join(''));
      this.#out = [];
    }
  }
}
