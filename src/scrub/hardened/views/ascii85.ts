import { characterTable, countPrintable, runsOf } from '../../../text/encodings.ts';
import { type View, ViewBuilder } from '../../../text/view.ts';
import { type Decoded, putReadable } from './readable.ts';

const DIGITS = characterTable((character) => /[!-u]/.test(character));
const MIN_DIGITS = 40;
/** Groups looked at before the rest is decoded. */
const PROBE_CHARS = 20;

/** Text in Ascii85: a run without blanks, with or without the signs <~ and ~> around it, which are no digits. */
export function ascii85Decoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const { start, end } of runsOf(text, DIGITS, MIN_DIGITS)) {
    const probe = decode(text.slice(start, start + PROBE_CHARS), 0);
    if (countPrintable(probe.bytes) < probe.bytes.length) continue;
    putReadable(builder, decode(text.slice(start, end), start));
  }
  return builder.isEmpty ? null : builder.build();
}

/** Five digits are four bytes; two to four at the end are one byte less. A number too large ends it. */
function decode(run: string, offset: number): Decoded {
  const bytes: number[] = [];
  const groups: number[] = [];
  for (let at = 0; at + 1 < run.length; at += 5) {
    const digits = run.slice(at, at + 5);
    let number = 0;
    for (let i = 0; i < 5; i++) number = number * 85 + (i < digits.length ? digits.charCodeAt(i) - 33 : 84);
    if (number > 0xffffffff) break;
    for (let i = 0; i < digits.length - 1; i++) {
      bytes.push(Math.floor(number / 2 ** (24 - 8 * i)) % 256);
      groups.push(offset + at);
    }
  }
  const from = Int32Array.from(groups);
  return { bytes: Uint8Array.from(bytes), from, to: from.map((start) => Math.min(start + 5, offset + run.length)) };
}
