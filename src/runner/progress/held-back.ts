/** Most bytes of an unfinished line, or of lines that may be one value, that are held back. */
const HELD_BYTES = 8 * 1024;
const LINE_END = 10;
export const BLOCK_BEGIN = '-----BEGIN';
export const BLOCK_END = '-----END';
/** The end of a line whose value may continue on the next line. */
const MAY_CONTINUE = /[A-Za-z0-9_+/=.~-]{16}\\?\r?$/;
const CONTINUED_LINE = /[\\=]\r?$/;

/**
 * How much of an output that still grows may be shown: what may be part of a secret is held back. That is an unfinished
 * line, a value that may continue on the next line, and a key block without its end. `areLinesWhole`: no line is expected
 * to go on, so only a key block is held back.
 */
export function endOfShown(data: Buffer, areLinesWhole: boolean): number {
  const to = areLinesWhole ? data.length : endOfLines(data);
  const begin = lastIndexBefore(data, BLOCK_BEGIN, to);
  if (begin === -1 || data.subarray(begin, to).includes(BLOCK_END)) return to;
  return lineStartOf(data, begin);
}

/** Characters of secrets, and how many at the end of an unfinished line may be the beginning of one. */
const UNFINISHED_VALUE = /[A-Za-z0-9_+/=.~%-]{9,}$/;

/**
 * As `endOfShown`, for an output that has stopped for a moment: the last line may be a prompt, which has no end. A value at
 * its end may go on.
 */
export function endOfQuiet(data: Buffer): number {
  const to = endOfShown(data, true);
  const start = Math.max(to - HELD_BYTES, lineStartOf(data, to));
  const value = UNFINISHED_VALUE.exec(data.toString('latin1', start, to));
  return value === null ? to : start + value.index;
}

/** Of a line that is too long to be held back, all but its last HELD_BYTES. */
export function endOfLines(data: Buffer): number {
  const lines = data.lastIndexOf(LINE_END) + 1;
  if (data.length - lines > HELD_BYTES) return characterAt(data, data.length - HELD_BYTES);
  return startOfHeldLines(data, lines);
}

/** A value that was broken into lines has lines of one width, or lines that end with a continuation sign. */
function startOfHeldLines(data: Buffer, to: number): number {
  let start = to;
  for (let below: Buffer | null = null; start > 0 && to - start < HELD_BYTES; ) {
    const lineStart = lineStartOf(data, start - 1);
    const line = data.subarray(lineStart, start - 1);
    const end = line.toString('latin1', Math.max(0, line.length - 20));
    if (!MAY_CONTINUE.test(end) || (below !== null && line.length !== below.length && !CONTINUED_LINE.test(end))) break;
    below = line;
    start = lineStart;
  }
  return start;
}

function lineStartOf(data: Buffer, at: number): number {
  return at === 0 ? 0 : data.lastIndexOf(LINE_END, at - 1) + 1;
}

function lastIndexBefore(data: Buffer, word: string, to: number): number {
  return data.subarray(0, to).lastIndexOf(word);
}

/** Returns the start of the character that contains the byte at `at`. */
export function characterAt(data: Buffer, at: number): number {
  let start = at;
  while (start > 0 && at - start < 3 && ((data[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
