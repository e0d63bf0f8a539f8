import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { dropCutEnd, dropCutStart, joinAroundGap } from '../../src/sdk/cut-text.ts';
import { readSpan, type Span } from '../../src/sdk/file-bytes.ts';
import { AROUND_RANGE_BYTES, WHOLE_BYTES } from '../../src/sdk/secret-context.ts';
import { type Charset, decoderOf } from '../../src/sdk/text-encoding.ts';
import type { OutputGap, ShownPart, TextMargin } from '../../src/sdk/tool.ts';
import { countNewlines } from './scan-file.ts';

export interface ReadText {
  text: string;
  /** The parts of `text` before and after the span. */
  margin: TextMargin;
  /** What is shown of the text, if not all between the margins. */
  parts?: readonly ShownPart[];
  droppedBytes: number;
  /** The part that is missing in the middle; null if nothing is. */
  gap: OutputGap | null;
  /** True if bytes that the encoding does not have were replaced by U+FFFD. */
  replaced: boolean;
}

export const EMPTY_TEXT: ReadText = {
  text: '',
  margin: { before: 0, after: 0 },
  droppedBytes: 0,
  gap: null,
  replaced: false,
};

/**
 * Reads the text of a span with the text around it. Of a span over `maxBytes` it reads the first and the last half, cut at
 * line ends. Leaves out a character that the span splits.
 */
export async function readText(
  file: FileHandle,
  span: Span,
  { charset, maxBytes }: { charset: Charset; maxBytes: number },
  signal: AbortSignal,
): Promise<ReadText> {
  const { size } = await file.stat();
  const margin = size <= WHOLE_BYTES ? size : AROUND_RANGE_BYTES;
  const around = {
    start: Math.max(charset.bom.length, aligned(span.start - margin, charset)),
    end: span.end + margin,
  };
  const read = (start: number, end: number): Promise<Buffer> => readBytes(file, { start, end }, signal);
  const keptMax = Math.floor(maxBytes / charset.growth);
  if (span.end - span.start <= keptMax) {
    const [before, text, after] = decodeParts(charset, [
      await read(around.start, span.start),
      await read(span.start, span.end),
      await read(span.end, around.end),
    ]);
    return joinParts({ before, after }, { text: text.text, replaced: text.replaced, gap: null });
  }
  const half = aligned(Math.floor(keptMax / 2), charset);
  const middle = { start: span.start + half, end: aligned(span.end - half, charset) };
  const [before, head] = decodeParts(charset, [
    await read(around.start, span.start),
    await read(span.start, middle.start),
    NOTHING,
  ]);
  const [, tail, after] = decodeParts(charset, [
    NOTHING,
    await read(middle.end, span.end),
    await read(span.end, around.end),
  ]);
  const newlines = await countNewlines(file, middle, charset, signal);
  const joined = joinAroundGap(head.text, tail.text, { bytes: middle.end - middle.start, newlines });
  return joinParts({ before, after }, { ...joined, replaced: head.replaced || tail.replaced });
}

const NOTHING = Buffer.alloc(0);

/** An offset at which a character may begin in UTF-16. */
function aligned(offset: number, { unitBytes }: Charset): number {
  return offset - (Math.max(0, offset) % unitBytes);
}

function joinParts(
  { before, after }: { before: Decoded; after: Decoded },
  { text, gap, replaced }: { text: string; gap: OutputGap | null; replaced: boolean },
): ReadText {
  const margin = { before: before.text.length, after: after.text.length };
  const placed = gap === null ? null : { ...gap, start: gap.start + margin.before, end: gap.end + margin.before };
  const whole = before.text + text + after.text;
  return { text: whole, margin, droppedBytes: gap?.bytes ?? 0, gap: placed, replaced };
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

type Three<T> = readonly [T, T, T];

/** Decodes adjacent parts. Only UTF-8 shows where a character begins; in other encodings the part before says it. */
function decodeParts(charset: Charset, [before, text, after]: Three<Buffer>): Three<Decoded> {
  if (charset.label === 'utf-8') return [decodeUtf8(before), decodeUtf8(text), decodeUtf8(after)];
  const decoder = decoderOf(charset);
  const decode = (bytes: Buffer): Decoded => {
    const decoded = decoder.decode(bytes, { stream: true });
    return { text: decoded, replaced: decoded.includes('\ufffd') };
  };
  return [decode(before), decode(text), decode(after)];
}

function decodeUtf8(bytes: Buffer): Decoded {
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), replaced: false };
  const whole = dropCutStart(dropCutEnd(bytes));
  return { text: whole.toString('utf8'), replaced: !isUtf8(whole) };
}

/** The text of a file as UTF-8, in parts. */
export async function* readAsUtf8(
  file: FileHandle,
  span: Span,
  charset: Charset,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const chunks = readSpan(file, { start: Math.max(span.start, charset.bom.length), end: span.end }, signal);
  if (charset.label === 'utf-8') {
    yield* chunks;
    return;
  }
  const decoder = decoderOf(charset);
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}
