import { dropCutEnd, dropCutStart } from '../../sdk/cut-text.ts';
import { BLOCK_BEGIN, BLOCK_END, characterAt, endOfShown } from './held-back.ts';

/** Bytes of a stream that are remembered: the part that is shown, and what is searched around it. */
const WINDOW_BYTES = 64 * 1024;
/** Bytes on both sides of the shown part that are searched with it. */
const CONTEXT_BYTES = 8 * 1024;
/** Most bytes shown at once: the newest lines. */
const SHOWN_BYTES = 6_400;
const LINE_END = 10;

/** Text to show, and the text around it that is only searched. */
export interface Release {
  before: string;
  text: string;
  after: string;
  /** Bytes before `text` that are never shown. */
  skippedBytes: number;
}

/**
 * The latest bytes of one stream, released in whole lines. What may be part of a secret is held back: an unfinished
 * line, a value that may continue, a key block without its end.
 */
export class ProgressWindow {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes of the stream so far, and how many of them were shown or skipped. */
  #end = 0;
  #done = 0;
  /** Whether the bytes that left the window end inside a key block. */
  #isBlockCut = false;

  /** Keeps the chunk itself; holds at most the window and one chunk. */
  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#end += chunk.length;
    for (let oldest = this.#chunks[0]; oldest !== undefined; oldest = this.#chunks[0]) {
      if (this.#bytes - oldest.length < WINDOW_BYTES) return;
      this.#chunks.shift();
      this.#leave(oldest);
      this.#bytes -= oldest.length;
    }
  }

  /** The word that begins a block may span two chunks. */
  #leave(chunk: Buffer): void {
    const left = Buffer.concat([chunk, this.#chunks[0]?.subarray(0, BLOCK_BEGIN.length) ?? Buffer.alloc(0)]);
    const [begin, end] = [left.lastIndexOf(BLOCK_BEGIN), left.lastIndexOf(BLOCK_END)];
    if (begin !== end) this.#isBlockCut = begin > end;
  }

  /** Returns the next lines; null if there are no new ones. `isOver`: the stream has ended, so nothing is held back. */
  take(isOver: boolean): Release | null {
    const data = Buffer.concat(this.#chunks);
    this.#chunks = [data];
    if (this.#isBlockCut && !data.includes(BLOCK_END)) return null;
    const from = this.#end - data.length;
    const to = endOfShown(data, isOver);
    const start = startOfShown(data, Math.max(this.#done, from === 0 ? 0 : from + CONTEXT_BYTES) - from, to);
    if (start >= to) return null;
    const skippedBytes = from + start - this.#done;
    this.#done = from + to;
    return {
      before: dropCutStart(data.subarray(Math.max(0, start - CONTEXT_BYTES), start)).toString(),
      text: data.toString('utf8', start, to),
      after: dropCutEnd(data.subarray(to, to + CONTEXT_BYTES)).toString(),
      skippedBytes,
    };
  }
}

function startOfShown(data: Buffer, from: number, to: number): number {
  let start = from;
  if (to - start > SHOWN_BYTES) {
    const line = data.indexOf(LINE_END, to - SHOWN_BYTES) + 1;
    start = line > 0 && line < to ? line : characterAt(data, to - SHOWN_BYTES);
  }
  return afterCutBlock(data, start, to);
}

/** Returns the place after the end of a key block whose beginning is not in the window. */
function afterCutBlock(data: Buffer, start: number, to: number): number {
  const end = data.lastIndexOf(BLOCK_END, to);
  if (end < start) return start;
  const begin = data.indexOf(BLOCK_BEGIN, Math.max(0, start - CONTEXT_BYTES));
  const first = data.indexOf(BLOCK_END, start);
  if (begin !== -1 && begin < first) return start;
  const line = data.indexOf(LINE_END, first) + 1;
  return line === 0 ? to : afterCutBlock(data, line, to);
}
