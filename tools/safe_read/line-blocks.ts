import { dropCutEnd, dropCutStart } from '../../src/sdk/cut-text.ts';

/** A longer line comes in pieces. */
const PIECE_MAX_BYTES = 1024 * 1024;
/** A piece begins with the end of the piece before it: a match of up to this length lies in one of them. */
const OVERLAP_BYTES = 16 * 1024;
const NEWLINE = 0x0a;

/** Complete lines, each with its newline, or a piece of a long line; only the end of the text may lack its newline. */
export interface LineBlock {
  text: string;
  /** The number of lines that end in it. */
  lines: number;
  /** Which piece of a long line it is, counted from 0; null: complete lines. */
  piece: number | null;
}

/** Splits UTF-8 text into blocks. Holds at most one chunk and one piece in memory. */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<LineBlock> {
  const rest = new UnfinishedLine();
  for await (const chunk of chunks) {
    const first = chunk.indexOf(NEWLINE);
    if (first === -1) {
      rest.add(chunk);
      if (rest.isLong) yield rest.takePiece();
      continue;
    }
    rest.add(chunk.subarray(0, first));
    yield rest.finish('\n');
    const last = chunk.lastIndexOf(NEWLINE);
    if (last > first) {
      const whole = chunk.subarray(first + 1, last + 1);
      yield { text: whole.toString(), lines: countNewlines(whole), piece: null };
    }
    rest.add(chunk.subarray(last + 1));
  }
  if (!rest.isEmpty) yield rest.finish('');
}

/** The parts of one line. */
class UnfinishedLine {
  #parts: Buffer[] = [];
  #size = 0;
  #pieces = 0;

  get isEmpty(): boolean {
    return this.#size === 0 && this.#pieces === 0;
  }

  get isLong(): boolean {
    return this.#size >= PIECE_MAX_BYTES;
  }

  /** The memory of the part may be reused afterwards. */
  add(part: Buffer): void {
    if (part.length > 0) this.#parts.push(Buffer.from(part));
    this.#size += part.length;
  }

  takePiece(): LineBlock {
    const bytes = dropCutStart(Buffer.concat(this.#parts));
    const block = { text: dropCutEnd(bytes).toString(), lines: 0, piece: this.#pieces };
    const overlap = Buffer.from(bytes.subarray(-OVERLAP_BYTES));
    this.#parts = [overlap];
    this.#size = overlap.length;
    this.#pieces += 1;
    return block;
  }

  finish(end: '\n' | ''): LineBlock {
    const bytes = Buffer.concat(this.#parts);
    const isLast = this.#pieces > 0;
    const text = (isLast ? dropCutStart(bytes) : bytes).toString() + end;
    const block = { text, lines: 1, piece: isLast ? this.#pieces : null };
    this.#parts = [];
    this.#size = 0;
    this.#pieces = 0;
    return block;
  }
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) count += 1;
  return count;
}
