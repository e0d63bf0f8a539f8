import type { Span } from '../../src/sdk/file-span.ts';
import { invalid, readOptionalString, readString } from '../../src/sdk/input.ts';
import { ContextdError, type JsonObject, type ToolContext, type ToolOutput } from '../../src/sdk/tool.ts';
import { applyPatch } from './apply-patch.ts';
import { lineRanges } from './changed-lines.ts';
import { EDITABLE_MAX_BYTES, readEditable } from './editable-file.ts';
import { applyEdits, readEdits } from './edits.ts';
import { type Patch, parsePatch } from './parse-patch.ts';
import { replaceFile } from './replace-file.ts';

/** Offsets of hunks that an answer tells. */
const OFFSETS_MAX = 20;

export interface TargetFile {
  /** Absolute, links followed. */
  target: string;
  /** What messages call it. */
  shown: string;
}

interface Change {
  content: Buffer;
  changed: readonly Span[];
  facts: JsonObject;
}

type MakeChange = (before: Buffer | null) => Promise<Change | { misfit: ToolOutput }>;

/** Changes a part of a file: all of the edits or hunks, or none, and only if nobody else wrote it meanwhile. */
export async function changeFile(
  file: TargetFile,
  way: 'edits' | 'patch',
  context: ToolContext,
  input: JsonObject,
): Promise<ToolOutput> {
  const expectedEtag = readOptionalString(input, 'expected_etag') ?? null;
  const change = way === 'edits' ? byEdits(file, context, input) : byPatch(file, context, input);
  return rewrite(file, expectedEtag, context, change);
}

function byEdits({ shown }: TargetFile, { signal }: ToolContext, input: JsonObject): MakeChange {
  const edits = readEdits(input);
  return async (before) => {
    if (before === null) throw notThere(shown);
    const { content, replacements, changed, toCrlf } = await applyEdits(before, edits, { shown, signal });
    return { content, changed, facts: { replacements, ...newlineFact(toCrlf) } };
  };
}

function byPatch({ shown }: TargetFile, { signal }: ToolContext, input: JsonObject): MakeChange {
  const patch = parsePatch(readString(input, 'patch'));
  return async (before) => {
    if (before === null && !isForNoFile(patch)) throw notThere(shown);
    if (before !== null && patch.creates) throw isThere(shown);
    const patched = await applyPatch(before ?? Buffer.alloc(0), patch, { shown, signal });
    if ('misfit' in patched) return patched;
    const { content, changed, offsets, toCrlf } = patched;
    if (content.length > EDITABLE_MAX_BYTES)
      throw invalid('patch', `would make ${shown} ${content.length} bytes long, the limit is ${EDITABLE_MAX_BYTES}`);
    const moved = offsets.length === 0 ? {} : { offsets: offsets.slice(0, OFFSETS_MAX).map((each) => ({ ...each })) };
    return { content, changed, facts: { hunks: patch.hunks.length, ...moved, ...newlineFact(toCrlf) } };
  };
}

async function rewrite(
  { target, shown }: TargetFile,
  expectedEtag: string | null,
  { etagKey, signal }: ToolContext,
  makeChange: MakeChange,
): Promise<ToolOutput> {
  const editable = await readEditable({ target, shown, expectedEtag, etagKey, signal });
  const change = await makeChange(editable?.bytes ?? null);
  if ('misfit' in change) return change.misfit;
  const { content, changed, facts } = change;
  const { etag, bytes, created } = await replaceFile({
    target,
    shown,
    content,
    mode: editable === null ? 'create' : 'overwrite',
    madeFrom: editable?.existing ?? null,
    // It was compared with what was read, and what was read must still stand there.
    expectedEtag: null,
    etagKey,
    signal,
  });
  const ranges = lineRanges(content, changed);
  return { data: { path: shown, etag, bytes, ...(created ? { created } : {}), ...facts, changed: ranges } };
}

/** Only lines to add, at the start. */
function isForNoFile({ hunks }: Patch): boolean {
  const [first, second] = hunks;
  return second === undefined && first?.old.start === 0 && first.old.lines.length === 0;
}

function newlineFact(toCrlf: boolean): JsonObject {
  return toCrlf ? { newline: 'crlf' } : {};
}

function notThere(shown: string): ContextdError {
  return new ContextdError('PATH_NOT_FOUND', `there is no ${shown} to change`, {
    remedy: 'Paths are relative to the workspace root. Make a new file with "content".',
    details: { path: shown },
  });
}

function isThere(shown: string): ContextdError {
  return new ContextdError('CONFLICT', `the patch makes ${shown}, which exists already`, {
    remedy: 'Read it and make a patch for what stands there.',
    details: { path: shown },
  });
}
