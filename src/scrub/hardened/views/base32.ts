import { BASE32, countPrintable } from '../../../text/encodings.ts';
import { type View, ViewBuilder } from '../../../text/view.ts';
import { blobsOf, decodeDigits } from './blobs.ts';
import { putReadable } from './readable.ts';

/** Text in base32. */
export function base32Decoded(text: string): View | null {
  const builder = new ViewBuilder(text);
  for (const blob of blobsOf(text, BASE32, 24)) {
    const decoded = decodeDigits(blob, 5, 0);
    if (countPrintable(decoded.bytes) >= 0.9 * decoded.bytes.length) putReadable(builder, decoded);
  }
  return builder.isEmpty ? null : builder.build();
}
