import { Alphabet, blobsOf, decodeDigits } from './blobs.ts';
import { countPrintable, putReadable } from './readable.ts';
import { type View, ViewBuilder } from './view.ts';

const ALPHABET = new Alphabet('0123456789abcdef', '0123456789ABCDEF');

/** Bytes in hex, over lines (`xxd -p`) or with bytes among them that are no text. */
export function hexDecoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const blob of blobsOf(text, ALPHABET, 24)) {
    const decoded = decodeDigits(blob, 4, 0);
    if (blob.isWrapped || countPrintable(decoded.bytes) < decoded.bytes.length) putReadable(builder, decoded);
  }
  return builder.isEmpty ? null : builder.build();
}
