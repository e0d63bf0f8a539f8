import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { OutputGap } from '../core/gap.ts';
import type { CapturedStream } from '../sandbox/contract/command.ts';
import { dropCutEnd, dropCutStart, joinAroundGap } from '../sdk/cut-text.ts';
import { nameBinary } from '../sdk/file-bytes.ts';
import { type Charset, decodeBytes } from '../text/charset.ts';
import { detectCharset } from '../text/charset-detector.ts';
import { withheldLine } from '../text/withheld.ts';

export interface StreamText {
  text: string;
  /** Bytes of the stream that are not in the text. */
  droppedBytes: number;
  /** The missing part, or null. */
  gap: OutputGap | null;
  /** Encoding from which the text was decoded; empty means UTF-8. */
  encoding: string;
  /** True if bytes that are invalid in the encoding became U+FFFD. */
  replaced: boolean;
}

/**
 * The text that a command printed, decoded from the encoding that its bytes suggest. If part of the stream was dropped,
 * a line between head and tail says what is missing. Binary output is withheld: one line gives its kind, size and
 * sha256.
 */
export function decodeStream(stream: CapturedStream): StreamText {
  // Cut at a byte: the cut split the character, not the command, so this is not an encoding fault.
  const start = stream.droppedBytes === 0 ? stream.head : dropCutEnd(stream.head);
  const charset = detectCharset(start);
  if (charset === null) return { ...WHOLE, encoding: '', text: withheld(nameBinary(start), stream), replaced: false };
  const encoding = charset.name === 'utf-8' ? '' : charset.name;
  if (stream.droppedBytes === 0) return { ...WHOLE, encoding, ...decode(start, charset, true) };
  const head = decode(charset.label === 'utf-8' ? start : wholeUnits(stream.head, charset), charset, true);
  const tail = decode(fromCharacter(stream, charset), charset, false);
  const missing = { bytes: stream.droppedBytes, newlines: droppedNewlines(stream, charset) };
  const { text, gap } = joinAroundGap(head.text, tail.text, missing);
  return { text, droppedBytes: gap.bytes, gap, encoding, replaced: head.replaced || tail.replaced };
}

const WHOLE = { droppedBytes: 0, gap: null };

/** Drops half a character at the end. */
function wholeUnits(head: Buffer, { unitBytes }: Charset): Buffer {
  return head.subarray(0, head.length - (head.length % unitBytes));
}

function droppedNewlines({ droppedNewlines, droppedWideNewlines: wide }: CapturedStream, { label }: Charset): number {
  if (label === 'utf-16le') return wide?.lowFirst ?? droppedNewlines;
  return label === 'utf-16be' ? (wide?.highFirst ?? droppedNewlines) : droppedNewlines;
}

/** The tail from its first whole character, as far as the encoding marks where characters begin. */
function fromCharacter({ tail, totalBytes }: CapturedStream, { label, unitBytes }: Charset): Buffer {
  if (label === 'utf-8') return dropCutStart(tail);
  return tail.subarray((totalBytes - tail.length) % unitBytes);
}

function withheld(kind: string, { head, tail, totalBytes, droppedBytes }: CapturedStream): string {
  const hash = () => createHash('sha256').update(head).update(tail).digest('hex');
  return withheldLine({ kind, bytes: totalBytes, sha256: droppedBytes > 0 ? null : hash() });
}

function decode(bytes: Buffer, charset: Charset, isStart: boolean): { text: string; replaced: boolean } {
  const text = decodeBytes(bytes, charset, isStart);
  return { text, replaced: charset.label === 'utf-8' ? !isUtf8(bytes) : text.includes('\ufffd') };
}
