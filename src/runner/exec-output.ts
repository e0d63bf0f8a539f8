import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { OutputGap } from '../core/gap.ts';
import type { CapturedStream } from '../sandbox/sandbox.ts';
import { dropCutEnd, dropCutStart, joinAroundGap } from '../sdk/cut-text.ts';
import { describeBinary } from '../sdk/file-bytes.ts';

export interface StreamText {
  text: string;
  /** Bytes of the stream that are not in the text. */
  droppedBytes: number;
  /** The part that is missing; null if nothing is. */
  gap: OutputGap | null;
  /** True if bytes that are not UTF-8 became U+FFFD. */
  replaced: boolean;
}

/**
 * The text of what a command printed. If the stream was not kept whole, a line between head and tail says how much is
 * missing. Binary output is withheld: one line gives its kind, size and sha256.
 */
export function decodeStream(stream: CapturedStream): StreamText {
  // Cut at a byte: the command did not cut the character, so this is no encoding fault.
  const cut = stream.droppedBytes === 0 ? stream.head : dropCutEnd(stream.head);
  const kind = describeBinary(cut);
  if (kind !== null) return { text: withheld(kind, stream), droppedBytes: 0, gap: null, replaced: false };
  if (stream.droppedBytes === 0) return decode(Buffer.concat([stream.head, stream.tail]));
  const head = decode(cut);
  const tail = decode(dropCutStart(stream.tail));
  const missing = { bytes: stream.droppedBytes, newlines: stream.droppedNewlines };
  const { text, gap } = joinAroundGap(head.text, tail.text, missing);
  return { text, droppedBytes: gap.bytes, gap, replaced: head.replaced || tail.replaced };
}

/** Equal hashes mean equal outputs; a stream that was not kept whole has no hash. */
function withheld(kind: string, { head, tail, totalBytes, droppedBytes }: CapturedStream): string {
  const hash = droppedBytes > 0 ? '' : `, sha256 ${createHash('sha256').update(head).update(tail).digest('hex')}`;
  return `[contextd: ${kind}, ${totalBytes} bytes${hash}, withheld]\n`;
}

function decode(bytes: Buffer): StreamText {
  return { text: bytes.toString('utf8'), droppedBytes: 0, gap: null, replaced: !isUtf8(bytes) };
}
