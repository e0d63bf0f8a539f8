import { type Alphabet, runEnd, runsOf } from '../../../text/encodings.ts';
import type { Decoded } from './readable.ts';

/** Characters of one encoding that belong together although line ends and prefixes stand between. */
export interface Blob {
  /** Digits of the encoding, in order. */
  digits: Uint8Array;
  /** Where in the text each of them stands. */
  at: Int32Array;
  isWrapped: boolean;
}

/** A line end in a wrapped blob, and what grep, diff, a quote or JSON put around it. */
const BREAK = /(?:\\?\r?\n|\\+[nr])[ \t]*(?:[0-9]{1,6}[:-]|[+>|] ?)?/y;
/** Shorter lines were not made by wrapping. */
const MIN_LINE = 32;

/** The blobs that begin with at least `min` digits on a line, and go on while the lines get no longer. */
export function* blobsOf(text: string, alphabet: Alphabet, min: number): Generator<Blob> {
  let done = 0;
  for (const { start, end } of runsOf(text, alphabet.digits, min)) {
    if (start < done) continue;
    const lines = [start, end];
    while (continues(text, lines, alphabet.digits));
    done = lines.at(-1) ?? end;
    yield gather(text, lines, alphabet.values);
  }
}

/** Adds start and end of the next line when the blob goes on there. */
function continues(text: string, lines: number[], digits: Uint8Array): boolean {
  const [start = 0, end = 0] = lines.slice(-2);
  if (end - start < MIN_LINE) return false;
  BREAK.lastIndex = end;
  if (!BREAK.test(text)) return false;
  const from = BREAK.lastIndex;
  const to = runEnd(text, digits, from);
  if (to === from || to - from > end - start) return false;
  lines.push(from, to);
  return true;
}

function gather(text: string, lines: readonly number[], values: Uint8Array): Blob {
  let length = 0;
  for (let i = 0; i < lines.length; i += 2) length += (lines[i + 1] ?? 0) - (lines[i] ?? 0);
  const digits = new Uint8Array(length);
  const at = new Int32Array(length);
  let count = 0;
  for (let i = 0; i < lines.length; i += 2)
    for (let place = lines[i] ?? 0; place < (lines[i + 1] ?? 0); place++) {
      digits[count] = values[text.charCodeAt(place)] ?? 0;
      at[count++] = place;
    }
  return { digits, at, isWrapped: lines.length > 2 };
}

/** Up to so many digits a finding takes in the whole blob: half a blob is of no use to anyone. */
const WHOLE_DIGITS = 1024;

/** The bytes that digits of `bits` bits stand for, from the digit `skip` on. An incomplete last byte is left out. */
export function decodeDigits({ digits, at }: Blob, bits: number, skip: number): Decoded {
  const length = Math.max(0, Math.floor(((digits.length - skip) * bits) / 8));
  const from = new Int32Array(length).fill(at[0] ?? 0);
  const to = new Int32Array(length).fill((at.at(-1) ?? -1) + 1);
  const bytes = new Uint8Array(length);
  const isWhole = digits.length <= WHOLE_DIGITS;
  let buffer = 0;
  for (let byte = 0, place = skip, held = 0; byte < length; place++) {
    buffer = ((buffer << bits) | (digits[place] ?? 0)) & 0xffff;
    held += bits;
    if (held < 8) continue;
    held -= 8;
    bytes[byte] = buffer >> held;
    if (!isWhole) from[byte] = at[skip + Math.floor((byte * 8) / bits)] ?? 0;
    if (!isWhole) to[byte] = (at[place] ?? 0) + 1;
    byte++;
  }
  return { bytes, from, to };
}
