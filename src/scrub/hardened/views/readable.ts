import { countPrintable, isPrintable } from '../../../text/encodings.ts';
import type { ViewBuilder } from '../../../text/view.ts';

/** Bytes that a text stands for, and where in it each comes from. */
export interface Decoded {
  bytes: Uint8Array;
  /** Offset of the first character that says something of a byte. */
  from: Int32Array;
  /** Offset after the last one. */
  to: Int32Array;
}

/** Bytes in a row that are text by chance once in 100,000 places of noise. */
const MIN_STRETCH = 12;
/** Share of text in something that is text with other characters in it. */
const TEXT_SHARE = 0.9;

/** Puts what can be read: all of it (as Latin-1) where nearly all is text, else each stretch of text. */
export function putReadable(builder: ViewBuilder, decoded: Decoded): void {
  const { bytes } = decoded;
  if (bytes.length >= MIN_STRETCH && countPrintable(bytes) >= TEXT_SHARE * bytes.length) {
    putBytes(builder, decoded, 0, bytes.length);
    return;
  }
  let start = 0;
  for (let at = 0; at <= bytes.length; at++) {
    if (at < bytes.length && isPrintable(bytes[at] ?? 0)) continue;
    if (at - start >= MIN_STRETCH) putBytes(builder, decoded, start, at);
    start = at + 1;
  }
}

function putBytes(builder: ViewBuilder, { bytes, from, to }: Decoded, start: number, end: number): void {
  builder.cut();
  for (let at = start; at < end; at++) builder.put(String.fromCharCode(bytes[at] ?? 0), from[at] ?? 0, to[at] ?? 0);
}
