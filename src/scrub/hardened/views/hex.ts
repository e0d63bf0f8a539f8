import { countPrintable, HEX } from '../../../text/encodings.ts';
import { type View, ViewBuilder } from '../../../text/view.ts';
import { blobsOf, decodeDigits } from './blobs.ts';
import { putReadable } from './readable.ts';

/** Bytes in hex, over lines (`xxd -p`) or with bytes among them that are no text. */
export function hexDecoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const blob of blobsOf(text, HEX, 24)) {
    const decoded = decodeDigits(blob, 4, 0);
    if (blob.isWrapped || countPrintable(decoded.bytes) < decoded.bytes.length) putReadable(builder, decoded);
  }
  return builder.isEmpty ? null : builder.build();
}
