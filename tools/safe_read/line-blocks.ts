import { dropCutEnd } from '../../src/sdk/cut-text.ts';

/** The part of a longer line that is searched and shown. */
const LINE_MAX_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** Complete lines of a text, each with its newline; only the last line of the text may lack it. */
export interface LineBlock {
  text: string;
  lines: number;
  /** True if a line was longer than 1 MiB and only its beginning is here. */
  hasLongLines: boolean;
}

/** Splits UTF-8 text into blocks of complete lines. Holds at most one chunk and one line of the maximum length in memory. */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<LineBlock> {
  const rest = new UnfinishedLine();
  for await (const chunk of chunks) {
    const first = chunk.indexOf(NEWLINE);
    if (first === -1) {
      rest.add(chunk);
      continue;
    }
    rest.add(chunk.subarray(0, first));
    yield rest.take('\n');
    const last = chunk.lastIndexOf(NEWLINE);
    if (last > first) {
      const whole = chunk.subarray(first + 1, last + 1);
      yield { text: whole.toString(), lines: countNewlines(whole), hasLongLines: false };
    }
    rest.add(chunk.subarray(last + 1));
  }
  if (!rest.isEmpty) yield rest.take('');
}

/** The parts of one line. */
class UnfinishedLine {
  #parts: Buffer[] = [];
  #size = 0;
  #isCut = false;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** The memory of the part may be reused afterwards. */
  add(part: Buffer): void {
    const fitting = part.subarray(0, Math.max(0, LINE_MAX_BYTES - this.#size));
    this.#isCut ||= fitting.length < part.length;
    if (fitting.length > 0) this.#parts.push(Buffer.from(fitting));
    this.#size += part.length;
  }

  take(end: '\n' | ''): LineBlock {
    const bytes = Buffer.concat(this.#parts);
    const text = (this.#isCut ? dropCutEnd(bytes) : bytes).toString() + end;
    const block = { text, lines: 1, hasLongLines: this.#isCut };
    this.#parts = [];
    this.#size = 0;
    this.#isCut = false;
    return block;
  }
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) count += 1;
  return count;
}
