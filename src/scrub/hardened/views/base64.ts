import { BASE64, countPrintable } from '../../../text/encodings.ts';
import { type View, ViewBuilder } from '../../../text/view.ts';
import { type Blob, blobsOf, decodeDigits } from './blobs.ts';
import { putReadable } from './readable.ts';

const MIN_DIGITS = 16;

/** Base64, either alphabet, of any length, over line ends. */
export function* base64Blobs(text: string): Generator<Blob> {
  for (const blob of blobsOf(text, BASE64, MIN_DIGITS)) if (isMixed(blob)) yield blob;
}

/**
 * What is written in base64 that the rules' own decoder does not take: over lines, without padding, beginning in the
 * middle, or with bytes among it that are no text.
 */
export function base64Decoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const blob of base64Blobs(text))
    for (let skip = 0; skip < 4; skip++) {
      const decoded = decodeDigits(blob, 6, skip);
      const isOrdinary = skip === 0 && !blob.isWrapped && blob.digits.length % 4 === 0;
      if (!isOrdinary || countPrintable(decoded.bytes) < decoded.bytes.length) putReadable(builder, decoded);
    }
  return builder.isEmpty ? null : builder.build();
}

/** Capitals and small letters, as base64 of any text has them among its first digits. */
function isMixed({ digits }: Blob): boolean {
  let capitals = 0;
  let small = 0;
  for (let at = 0; at < Math.min(digits.length, 256); at++) {
    const digit = digits[at] ?? 0;
    if (digit < 26) capitals++;
    else if (digit < 52) small++;
  }
  return capitals > 1 && small > 1;
}
