import { Alphabet, blobsOf, decodeDigits } from './blobs.ts';
import { countPrintable, putReadable } from './readable.ts';
import { type View, ViewBuilder } from './view.ts';

const ALPHABET = new Alphabet('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');

/** Text in base32. */
export function base32Decoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const blob of blobsOf(text, ALPHABET, 24)) {
    const decoded = decodeDigits(blob, 5, 0);
    if (countPrintable(decoded.bytes) >= 0.9 * decoded.bytes.length) putReadable(builder, decoded);
  }
  return builder.isEmpty ? null : builder.build();
}
