import { inflate, isCompressed } from '../../../text/encodings.ts';
import { type View, ViewBuilder } from '../../../text/view.ts';
import { base64Blobs } from './base64.ts';
import { decodeDigits } from './blobs.ts';

/** Bytes inflated of one blob, at most. */
const MAX_BYTES = 1_048_576;
/** Blobs of one text that are inflated: each may come to a thousand times its size. */
const MAX_BLOBS = 8;

/** What was compressed by gzip or zlib and then put in base64. A finding in it stands for the whole blob. */
export function inflated(text: string): View | null {
  if (!/H4sI|eJ[wx]|eNq|eN[op]|eAE/.test(text)) return null;
  const builder = new ViewBuilder(text);
  let blobs = 0;
  for (const blob of base64Blobs(text)) {
    const { bytes } = decodeDigits(blob, 6, 0);
    if (!isCompressed(bytes) || blobs++ >= MAX_BLOBS) continue;
    const content = inflate(bytes, MAX_BYTES);
    builder.cut();
    if (content instanceof Buffer) builder.put(content.toString('latin1'), blob.at[0] ?? 0, (blob.at.at(-1) ?? 0) + 1);
  }
  return builder.isEmpty ? null : builder.build();
}
