import type { FileHandle } from 'node:fs/promises';
import type { Span } from '../../src/sdk/file-bytes.ts';
import { explainHidden } from '../../src/sdk/hidden-path.ts';
import { type Charset, withBomOf } from '../../src/sdk/text-encoding.ts';
import type { JsonObject, ToolContext } from '../../src/sdk/tool.ts';
import { fileFault, findExisting, quoteName, resolvePath, type WorkspacePath } from '../../src/sdk/workspace-path.ts';
import { grepText } from './grep.ts';
import { type OpenFile, openRegular } from './open-file.ts';
import { EMPTY_TEXT, type ReadText, readAsUtf8, readText } from './read-text.ts';
import { type FileFacts, findTail, scanFile } from './scan-file.ts';
import type { Selection } from './selection.ts';

/** The result for one file. */
export interface FileRead {
  /** Path, etag, size, encoding, and the selected range. */
  facts: JsonObject;
  text: ReadText;
  warnings: readonly string[];
}

/** What to read of a file, and how its characters are written; null: as its bytes suggest. */
export interface ReadRequest {
  selection: Selection;
  charset: Charset | null;
}

type ReadContext = Pick<ToolContext, 'workspace' | 'cwd' | 'etagKey' | 'outputMaxBytes' | 'signal'>;

/** Reads a text file of the workspace, or the selected part. Of more than `outputMaxBytes`, returns both ends. */
export async function readFile(path: string, request: ReadRequest, context: ReadContext): Promise<FileRead> {
  const place = resolvePath(context, path);
  try {
    return await readPlace(place, request, context);
  } catch (thrown) {
    throw await explainHidden(thrown, context.workspace, place.absolute);
  }
}

async function readPlace(
  { absolute, shown }: WorkspacePath,
  request: ReadRequest,
  context: ReadContext,
): Promise<FileRead> {
  const real = await findExisting(context.workspace, { absolute, shown });
  const opened = await openRegular(real, shown);
  try {
    const before = await stateOf(opened.file);
    const read = await select(opened, request, context);
    const isChanged = (await stateOf(opened.file)) !== before;
    const changed = isChanged ? [`${quoteName(shown)} was changed while it was read: lines and etag may not fit`] : [];
    return { ...read, warnings: [...read.warnings, ...changed] };
  } catch (thrown) {
    throw fileFault(thrown, shown);
  } finally {
    await opened.file.close();
  }
}

/** Differs after the file was written. */
async function stateOf(file: FileHandle): Promise<string> {
  const { size, mtimeNs } = await file.stat({ bigint: true });
  return `${size}:${mtimeNs}`;
}

async function select(
  opened: OpenFile,
  { selection, charset: given }: ReadRequest,
  { etagKey, outputMaxBytes, signal }: ReadContext,
): Promise<FileRead> {
  const { file, shown, start } = opened;
  const wanted = selection.kind === 'lines' ? selection : { first: 1, last: Number.POSITIVE_INFINITY };
  const asked = given === null ? null : withBomOf(given, start);
  const scan = await scanFile(opened, { etagKey, charset: asked }, wanted, signal);
  const { charset } = scan;
  const encoding = charset.name === 'utf-8' ? {} : { encoding: charset.name };
  const facts = { path: shown, etag: scan.etag, bytes: scan.bytes, lines: scan.lines, ...encoding };
  if (selection.kind === 'grep') {
    const text = readAsUtf8(file, { start: 0, end: scan.bytes }, charset, signal);
    const found = await grepText(text, { ...selection, fileBytes: scan.bytes, maxBytes: outputMaxBytes });
    const warnings = found.isSearchCut
      ? [
          `of lines of ${quoteName(shown)} above 1 MiB only the beginning was searched, because the pattern has ^, $ or \\b`,
        ]
      : [];
    return { facts: { ...facts, matches: found.matches }, text: { ...EMPTY_TEXT, ...found }, warnings };
  }
  const { span, range } = await locate(file, selection, scan, signal);
  if (span === null) {
    const warning = `${quoteName(shown)} ends before the selected part: it has ${scan.lines} lines, ${scan.bytes} bytes`;
    return { facts, text: EMPTY_TEXT, warnings: [warning] };
  }
  const text = await readText(file, afterBom(span, charset), { charset, maxBytes: outputMaxBytes }, signal);
  const name = charset.name.toUpperCase();
  const warnings = text.replaced ? [`bytes of ${quoteName(shown)} that are not ${name} were replaced by U+FFFD`] : [];
  return { facts: { ...facts, ...(range === null ? {} : { range }) }, text, warnings };
}

function afterBom({ start, end }: Span, { bom }: Charset): Span {
  return { start: Math.max(start, bom.length), end: Math.max(end, bom.length) };
}

interface Located {
  /** Null if the file ends before the selected part. */
  span: Span | null;
  /** In the caller's numbers; null for the whole file. */
  range: string | null;
}

async function locate(
  file: FileHandle,
  selection: Exclude<Selection, { kind: 'grep' }>,
  scan: FileFacts,
  signal: AbortSignal,
): Promise<Located> {
  const { bytes, lines, lineSpan } = scan;
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
      const start = await findTail(file, scan, selection.count, signal);
      return { span: { start, end: bytes }, range: `${Math.max(1, lines - selection.count + 1)}-${lines}` };
    }
  }
}
