import type { FileHandle } from 'node:fs/promises';
import type { Span } from '../../src/sdk/file-span.ts';
import type { JsonObject, ToolContext } from '../../src/sdk/tool.ts';
import { fileFault, findExisting, resolvePath } from '../../src/sdk/workspace-path.ts';
import { type FileFacts, findTail, scanFile } from './file-scan.ts';
import { grepFile } from './grep.ts';
import { openText } from './open-file.ts';
import type { Selection } from './selection.ts';
import { type ReadText, readText } from './text.ts';

/** What was read of one file. */
export interface FileRead {
  /** Path, etag, size, and what of it was selected. */
  facts: JsonObject;
  text: ReadText;
  warnings: readonly string[];
}

type ReadContext = Pick<ToolContext, 'workspace' | 'etagKey' | 'outputMaxBytes' | 'signal'>;

/** A text file of the workspace, or the part that is selected; of more than `outputMaxBytes`, its two ends. */
export async function readFile(path: string, selection: Selection, context: ReadContext): Promise<FileRead> {
  const { absolute, shown } = resolvePath(context.workspace, path);
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
    const found = await grepFile(file, { ...selection, maxBytes: outputMaxBytes }, signal);
    const warnings = found.hasLongLines ? [`of lines of ${shown} over 1 MiB only the first 1 MiB was searched`] : [];
    return { facts: { ...facts, matches: found.matches }, text: { ...EMPTY, ...found }, warnings };
  }
  const { span, range } = await locate(file, selection, scan, signal);
  if (span === null) {
    const warning = `${shown} ends before: it has ${scan.lines} lines, ${scan.bytes} bytes`;
    return { facts, text: EMPTY, warnings: [warning] };
  }
  const text = await readText(file, span, outputMaxBytes, signal);
  return { facts: { ...facts, ...(range === null ? {} : { range }) }, text, warnings: [] };
}

const EMPTY: ReadText = { text: '', margin: { before: 0, after: 0 }, droppedBytes: 0, replaced: false };

interface Located {
  /** Null when the file ends before. */
  span: Span | null;
  /** As the caller counts; null for the whole file. */
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
  return { ...read, warnings: [...read.warnings, `bytes of ${shown} that are not UTF-8 became U+FFFD`] };
}
