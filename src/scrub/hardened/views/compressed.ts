import { constants, unzipSync } from 'node:zlib';
import { base64Blobs } from './base64.ts';
import { decodeDigits } from './blobs.ts';
import { type View, ViewBuilder } from './view.ts';

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
    const content = inflate(bytes);
    builder.cut();
    builder.put(content, blob.at[0] ?? 0, (blob.at.at(-1) ?? 0) + 1);
  }
  return builder.isEmpty ? null : builder.build();
}

function isCompressed(bytes: Uint8Array): boolean {
  const [first, second = 0, third] = bytes;
  if (first === 0x1f) return second === 0x8b && third === 8;
  return first === 0x78 && ((first << 8) | second) % 31 === 0;
}

/** As text, cut at the limit; nothing where it does not inflate. */
function inflate(bytes: Uint8Array): string {
  try {
    const options = { maxOutputLength: MAX_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
    return unzipSync(bytes, options).toString('latin1');
  } catch {
    return '';
  }
}
