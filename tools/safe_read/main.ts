import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { describeBinary } from '../../src/sdk/binary.ts';
import { readSpan, type Span } from '../../src/sdk/file-span.ts';
import { readString } from '../../src/sdk/input.ts';
import { ContextdError, type Tool, type ToolContext, type ToolOutput } from '../../src/sdk/tool.ts';
import { fileFault, findExisting, resolvePath } from '../../src/sdk/workspace-path.ts';
import { type FileFacts, findTail, scanFile } from './file-scan.ts';
import { grepFile } from './grep.ts';
import { readSelection, type Selection } from './selection.ts';
import { type ReadText, readText } from './text.ts';

/** Enough of a file to tell text from binary. */
const SNIFF_BYTES = 64 * 1024;

/** FR-4.2: a file of the workspace, whole or in part. Never more of it in memory than is given back. */
export const safeRead: Tool = {
  name: 'safe_read',
  async execute(context, input) {
    const selection = readSelection(input);
    const path = resolvePath(context.workspace, readString(input, 'path'));
    const file = await openFile(await findExisting(context.workspace, path), path.shown);
    try {
      await refuseBinary(file, path.shown, context.signal);
      return await readFile(file, path.shown, selection, context);
    } catch (thrown) {
      throw fileFault(thrown, path.shown);
    } finally {
      await file.close();
    }
  },
};

/** Links were followed before: none is followed now. A named pipe does not block. */
async function openFile(real: string, shown: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(real, flags).catch((cause: unknown) => {
    throw fileFault(cause, shown);
  });
  const stats = await file.stat();
  if (stats.isFile()) return file;
  await file.close();
  const isDirectory = stats.isDirectory();
  throw new ContextdError('PATH_INVALID', `${shown} is ${isDirectory ? 'a directory' : 'not a regular file'}`, {
    remedy: isDirectory ? `List it with safe_bash {"command":"ls","cwd":${JSON.stringify(shown)}}.` : 'Name a file.',
    details: { path: shown, kind: isDirectory ? 'directory' : 'special' },
  });
}

async function refuseBinary(file: FileHandle, shown: string, signal: AbortSignal): Promise<void> {
  const buffer = Buffer.allocUnsafe(SNIFF_BYTES);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  const kind = describeBinary(buffer.subarray(0, bytesRead));
  if (kind === null) return;
  const { size } = await file.stat();
  throw new ContextdError('PATH_INVALID', `${shown} is not text: ${kind}, ${size} bytes`, {
    remedy: 'Look at it with a program, through safe_bash: file, xxd, unzip -l.',
    details: { path: shown, kind, bytes: size, sha256: await hashFile(file, signal) },
  });
}

async function hashFile(file: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of readSpan(file, { start: 0, end: Number.MAX_SAFE_INTEGER }, signal)) hash.update(chunk);
  return hash.digest('hex');
}

async function readFile(
  file: FileHandle,
  shown: string,
  selection: Selection,
  { etagKey, outputMaxBytes, signal }: ToolContext,
): Promise<ToolOutput> {
  const wanted = selection.kind === 'lines' ? selection : { first: 1, last: Number.POSITIVE_INFINITY };
  const facts = await scanFile(file, etagKey, wanted, signal);
  const data = { path: shown, etag: facts.etag, bytes: facts.bytes, lines: facts.lines };
  if (selection.kind === 'grep') {
    const found = await grepFile(file, { ...selection, maxBytes: outputMaxBytes }, signal);
    const warnings = found.hasLongLines ? ['of lines over 1 MiB only the first 1 MiB was searched'] : [];
    return output({ ...data, matches: found.matches }, { ...found, margin: NO_MARGIN, replaced: false }, warnings);
  }
  const { span, range } = await locate(file, selection, facts, signal);
  if (span === null)
    return output(data, EMPTY, [`${shown} ends before: it has ${facts.lines} lines, ${facts.bytes} bytes`]);
  const text = await readText(file, span, outputMaxBytes, signal);
  return output({ ...data, ...(range === null ? {} : { range }) }, text, []);
}

const NO_MARGIN = { before: 0, after: 0 };
const EMPTY: ReadText = { text: '', margin: NO_MARGIN, droppedBytes: 0, replaced: false };

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

function output(data: ToolOutput['data'], text: ReadText, warnings: readonly string[]): ToolOutput {
  const all = text.replaced ? [...warnings, 'bytes of the file that are not UTF-8 became U+FFFD'] : warnings;
  return {
    data,
    streams: [{ field: 'content', text: text.text, margin: text.margin }],
    ...(text.droppedBytes === 0 ? {} : { droppedBytes: text.droppedBytes }),
    ...(all.length === 0 ? {} : { warnings: all }),
  };
}
