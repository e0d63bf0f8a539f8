import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { readSpan, type Span } from '../../src/sdk/file-span.ts';
import { dropCutEnd, dropCutStart } from '../../src/sdk/utf8.ts';

export interface ReadText {
  text: string;
  droppedBytes: number;
  /** True when bytes that are not UTF-8 became U+FFFD. */
  replaced: boolean;
}

/** The text of a span; of one over `maxBytes` its first and last half. A character cut apart by the span is left out. */
export async function readText(file: FileHandle, span: Span, maxBytes: number, signal: AbortSignal): Promise<ReadText> {
  const droppedBytes = Math.max(0, span.end - span.start - maxBytes);
  if (droppedBytes === 0) return { ...decode(await readBytes(file, span, signal)), droppedBytes };
  const half = Math.floor(maxBytes / 2);
  const head = decode(await readBytes(file, { start: span.start, end: span.start + half }, signal));
  const tail = decode(await readBytes(file, { start: span.end - half, end: span.end }, signal));
  const gap = `\n[contextd: ${droppedBytes} bytes were not kept]\n`;
  return { text: head.text + gap + tail.text, replaced: head.replaced || tail.replaced, droppedBytes };
}

async function readBytes(file: FileHandle, span: Span, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readSpan(file, span, signal)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer): { text: string; replaced: boolean } {
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), replaced: false };
  const whole = dropCutStart(dropCutEnd(bytes));
  return { text: whole.toString('utf8'), replaced: !isUtf8(whole) };
}
