import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { joinAroundGap } from '../../src/sdk/cut-line.ts';
import { readSpan, type Span } from '../../src/sdk/file-span.ts';
import type { TextMargin } from '../../src/sdk/tool.ts';
import { dropCutEnd, dropCutStart } from '../../src/sdk/utf8.ts';

/** Searched for secrets on both sides of what was asked for: a private key is known by its first line. */
const MARGIN_BYTES = 8 * 1024;

export interface ReadText {
  text: string;
  /** What of `text` stands around the span. */
  margin: TextMargin;
  droppedBytes: number;
  /** True when bytes that are not UTF-8 became U+FFFD. */
  replaced: boolean;
}

/**
 * The text of a span with what stands around it; of a span over `maxBytes` its first and last half, cut at line ends.
 * A character cut apart by the span is left out.
 */
export async function readText(file: FileHandle, span: Span, maxBytes: number, signal: AbortSignal): Promise<ReadText> {
  const read = async (start: number, end: number): Promise<Decoded> =>
    decode(await readBytes(file, { start, end }, signal));
  const before = await read(Math.max(0, span.start - MARGIN_BYTES), span.start);
  const after = await read(span.end, span.end + MARGIN_BYTES);
  const margin = { before: before.text.length, after: after.text.length };
  const around = (text: string): string => before.text + text + after.text;
  if (span.end - span.start <= maxBytes) {
    const { text, replaced } = await read(span.start, span.end);
    return { text: around(text), margin, droppedBytes: 0, replaced };
  }
  const half = Math.floor(maxBytes / 2);
  const head = await read(span.start, span.start + half);
  const tail = await read(span.end - half, span.end);
  const { text, droppedBytes } = joinAroundGap(head.text, tail.text, span.end - span.start - 2 * half);
  return { text: around(text), margin, droppedBytes, replaced: head.replaced || tail.replaced };
}

async function readBytes(file: FileHandle, span: Span, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readSpan(file, span, signal)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

interface Decoded {
  text: string;
  replaced: boolean;
}

function decode(bytes: Buffer): Decoded {
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), replaced: false };
  const whole = dropCutStart(dropCutEnd(bytes));
  return { text: whole.toString('utf8'), replaced: !isUtf8(whole) };
}
