import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { dropCutEnd, dropCutStart, joinAroundGap } from '../../src/sdk/cut-text.ts';
import { readSpan, type Span } from '../../src/sdk/file-bytes.ts';
import { explainHidden } from '../../src/sdk/hidden-path.ts';
import { invalid, readOptionalInteger, readOptionalString } from '../../src/sdk/input.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type OutputGap,
  type TextMargin,
  type ToolContext,
} from '../../src/sdk/tool.ts';
import { fileFault, findExisting, resolvePath, type WorkspacePath } from '../../src/sdk/workspace-path.ts';
import { grepText } from './grep.ts';
import { countNewlines, type FileFacts, findTail, openText, scanFile } from './open-file.ts';

/** The result for one file. */
export interface FileRead {
  /** Path, etag, size, and the selected range. */
  facts: JsonObject;
  text: ReadText;
  warnings: readonly string[];
}

type ReadContext = Pick<ToolContext, 'workspace' | 'cwd' | 'etagKey' | 'outputMaxBytes' | 'signal'>;

/** Reads a text file of the workspace, or the selected part. Of more than `outputMaxBytes`, returns both ends. */
export async function readFile(path: string, selection: Selection, context: ReadContext): Promise<FileRead> {
  const place = resolvePath(context, path);
  try {
    return await readPlace(place, selection, context);
  } catch (thrown) {
    throw await explainHidden(thrown, context.workspace, place.absolute);
  }
}

async function readPlace(
  { absolute, shown }: WorkspacePath,
  selection: Selection,
  context: ReadContext,
): Promise<FileRead> {
  const real = await findExisting(context.workspace, { absolute, shown });
  const file = await openText(real, shown, context.signal);
  try {
    return withWarning(await select(file, shown, selection, context), shown);
  } catch (thrown) {
    throw fileFault(thrown, shown);
  } finally {
    await file.close();
  }
}

async function select(
  file: FileHandle,
  shown: string,
  selection: Selection,
  { etagKey, outputMaxBytes, signal }: ReadContext,
): Promise<FileRead> {
  const wanted = selection.kind === 'lines' ? selection : { first: 1, last: Number.POSITIVE_INFINITY };
  const scan = await scanFile(file, etagKey, wanted, signal);
  const facts = { path: shown, etag: scan.etag, bytes: scan.bytes, lines: scan.lines };
  if (selection.kind === 'grep') {
    const chunks = readSpan(file, { start: 0, end: scan.bytes }, signal);
    const found = await grepText(chunks, { ...selection, maxBytes: outputMaxBytes });
    const warnings = found.hasLongLines ? [`only the first 1 MiB of each line of ${shown} was searched`] : [];
    return { facts: { ...facts, matches: found.matches }, text: { ...EMPTY, ...found }, warnings };
  }
  const { span, range } = await locate(file, selection, scan, signal);
  if (span === null) {
    const warning = `${shown} ends before the selected part: it has ${scan.lines} lines, ${scan.bytes} bytes`;
    return { facts, text: EMPTY, warnings: [warning] };
  }
  const text = await readText(file, span, outputMaxBytes, signal);
  return { facts: { ...facts, ...(range === null ? {} : { range }) }, text, warnings: [] };
}

const EMPTY: ReadText = { text: '', margin: { before: 0, after: 0 }, droppedBytes: 0, gap: null, replaced: false };

interface Located {
  /** Null if the file ends before the selected part. */
  span: Span | null;
  /** In the caller's numbers; null for the whole file. */
  range: string | null;
}

async function locate(
  file: FileHandle,
  selection: Exclude<Selection, { kind: 'grep' }>,
  { bytes, lines, lineSpan }: FileFacts,
  signal: AbortSignal,
): Promise<Located> {
  switch (selection.kind) {
    case 'all':
      return { span: { start: 0, end: bytes }, range: null };
    case 'lines':
      return { span: lineSpan, range: `${selection.first}-${Math.min(selection.last, lines)}` };
    case 'bytes': {
      const { first } = selection;
      const end = Math.min(selection.last + 1, bytes);
      return { span: first < bytes ? { start: first, end } : null, range: `${first}-${end - 1}` };
    }
    case 'tail': {
      const start = await findTail(file, bytes, selection.count, signal);
      return { span: { start, end: bytes }, range: `${Math.max(1, lines - selection.count + 1)}-${lines}` };
    }
  }
}

function withWarning(read: FileRead, shown: string): FileRead {
  if (!read.text.replaced) return read;
  return { ...read, warnings: [...read.warnings, `bytes of ${shown} that are not UTF-8 were replaced by U+FFFD`] };
}

/** The requested part of a file, in the caller's numbers: lines from 1, bytes from 0, both ends included. */
export type Selection =
  | { kind: 'all' }
  | { kind: 'lines'; first: number; last: number }
  | { kind: 'bytes'; first: number; last: number }
  | { kind: 'tail'; count: number }
  | { kind: 'grep'; pattern: string; before: number; after: number };

const NAMES = ['lines', 'bytes', 'head', 'tail', 'grep'] as const;
const RANGE = /^(\d{1,15})(-(\d{0,15}))?$/;

/** Reads at most one of lines, bytes, head, tail and grep. Throws ARGS_INVALID for more. */
export function readSelection(input: JsonObject): Selection {
  const given = NAMES.filter((name) => input[name] !== undefined);
  const name = given[0];
  const second = given[1];
  if (second !== undefined) throw invalid(second, `cannot go with ${name}`, `Pass one of ${NAMES.join(', ')}.`);
  if (name === undefined) return { kind: 'all' };
  switch (name) {
    case 'lines':
    case 'bytes':
      return { kind: name, ...readRange(input, name) };
    case 'head':
      return { kind: 'lines', first: 1, last: readCount(input, 'head') };
    case 'tail':
      return { kind: 'tail', count: readCount(input, 'tail') };
    case 'grep': {
      const context = readOptionalInteger(input, 'context') ?? 0;
      const [before, after] = ['before', 'after'].map((side) => readOptionalInteger(input, side) ?? context);
      const pattern = readOptionalString(input, 'grep') ?? '';
      return { kind: 'grep', pattern, before: before ?? context, after: after ?? context };
    }
  }
}

/** Views that select a part of a text. The daemon can only select in the part of a file that it keeps. */
const SELECTING_VIEWS = ['lines', 'bytes', 'grep'] as const;

/**
 * The part that a view asks for, if the view selects a part of the one text of a file; null otherwise. Views have the same
 * form as the arguments, and may have numbers for ranges.
 */
export function selectionOfView(view: Json | null): Selection | null {
  if (!isJsonObject(view) || !SELECTING_VIEWS.some((name) => view[name] !== undefined)) return null;
  if (view.stream !== undefined && view.stream !== null && !/^content/.test(String(view.stream))) return null;
  const texts = Object.entries(view).map(([name, value]) => [
    name,
    (name === 'lines' || name === 'bytes') && typeof value === 'number' ? String(value) : value,
  ]);
  return readSelection(Object.fromEntries(texts));
}

function readRange(input: JsonObject, name: 'lines' | 'bytes'): { first: number; last: number } {
  const [, first, dash, last] = RANGE.exec(readOptionalString(input, name) ?? '') ?? [];
  if (first === undefined) throw invalid(name, 'is not a range', 'Pass "10-20", "10-" or "10".');
  const range = { first: Number(first), last: lastOf(Number(first), dash, last) };
  if (name === 'lines' && range.first === 0) throw invalid(name, 'begins at 0', 'Lines are counted from 1.');
  if (range.last < range.first) throw invalid(name, `ends before it begins`, 'Pass the smaller number first.');
  return range;
}

function lastOf(first: number, dash: string | undefined, last: string | undefined): number {
  if (dash === undefined) return first;
  return last === '' || last === undefined ? Number.POSITIVE_INFINITY : Number(last);
}

function readCount(input: JsonObject, name: 'head' | 'tail'): number {
  const count = readOptionalInteger(input, name) ?? 0;
  if (count < 1) throw invalid(name, 'must be 1 or more');
  return count;
}

/** The text around the requested part that is searched for secrets: a private key is recognized by its first line. */
const MARGIN_BYTES = 8 * 1024;

export interface ReadText {
  text: string;
  /** The parts of `text` before and after the span. */
  margin: TextMargin;
  droppedBytes: number;
  /** The part that is missing in the middle; null if nothing is. */
  gap: OutputGap | null;
  /** True if bytes that are not UTF-8 were replaced by U+FFFD. */
  replaced: boolean;
}

/**
 * Reads the text of a span with the text around it. Of a span over `maxBytes` it reads the first and the last half, cut at
 * line ends. Leaves out a character that the span splits.
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
    return { text: around(text), margin, droppedBytes: 0, gap: null, replaced };
  }
  const half = Math.floor(maxBytes / 2);
  const head = await read(span.start, span.start + half);
  const tail = await read(span.end - half, span.end);
  const middle = { start: span.start + half, end: span.end - half };
  const missing = { bytes: middle.end - middle.start, newlines: await countNewlines(file, middle, signal) };
  const { text, gap } = joinAroundGap(head.text, tail.text, missing);
  const place = { start: gap.start + before.text.length, end: gap.end + before.text.length };
  const replaced = head.replaced || tail.replaced;
  return { text: around(text), margin, droppedBytes: gap.bytes, gap: { ...gap, ...place }, replaced };
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
