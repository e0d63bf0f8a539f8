import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { describeBinary } from '../../src/sdk/binary.ts';
import { EtagBuilder } from '../../src/sdk/etag.ts';
import { readSpan } from '../../src/sdk/file-span.ts';
import { ContextdError } from '../../src/sdk/tool.ts';
import { fileFault } from '../../src/sdk/workspace-path.ts';
import { type Existing, findExistingFile } from './existing-file.ts';
import { stale, type WriteRequest } from './replace-file.ts';

/** The largest file that is changed in part, before and after, bytes: it is in memory as a whole. */
export const EDITABLE_MAX_BYTES = 16 * 1024 * 1024;

/** A file as it is before a change, and what tells whether it is still that one. */
export interface Editable {
  bytes: Buffer;
  existing: Existing;
}

/**
 * The whole of a text file; null when there is none. CONFLICT when it is not what `expectedEtag` names, PATH_INVALID
 * for more than 16 MiB and for what is not UTF-8 throughout.
 */
export async function readEditable(
  request: Pick<WriteRequest, 'target' | 'shown' | 'expectedEtag' | 'etagKey' | 'signal'>,
): Promise<Editable | null> {
  const { target, shown, expectedEtag, etagKey, signal } = request;
  try {
    const existing = await findExistingFile(target, shown);
    if (existing === null && expectedEtag !== null) throw stale(shown, expectedEtag, null);
    if (existing === null) return null;
    const bytes = await readBytes(target, shown, signal);
    if (expectedEtag !== null) checkEtag(bytes, { shown, expectedEtag, etagKey });
    checkText(bytes, shown);
    return { bytes, existing };
  } catch (thrown) {
    throw fileFault(thrown, shown);
  }
}

/** Links were followed before: none is followed now. */
async function readBytes(target: string, shown: string, signal: AbortSignal): Promise<Buffer> {
  const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of readSpan(file, { start: 0, end: EDITABLE_MAX_BYTES + 1 }, signal)) {
      chunks.push(Buffer.from(chunk));
      size += chunk.length;
    }
    if (size > EDITABLE_MAX_BYTES) throw tooLarge(shown, (await file.stat()).size);
    return Buffer.concat(chunks, size);
  } finally {
    await file.close();
  }
}

function checkEtag(bytes: Buffer, of: { shown: string; expectedEtag: string; etagKey: string }): void {
  const etag = new EtagBuilder(of.etagKey);
  etag.add(bytes);
  const actual = etag.finish();
  if (actual !== of.expectedEtag) throw stale(of.shown, of.expectedEtag, actual);
}

function checkText(bytes: Buffer, shown: string): void {
  const kind = describeBinary(bytes) ?? (isUtf8(bytes) ? null : 'text that is not UTF-8');
  if (kind === null) return;
  throw new ContextdError('PATH_INVALID', `${shown} cannot be changed in part: it is ${kind}`, {
    remedy: 'Change it with a program, through safe_bash: sed, iconv.',
    details: { path: shown, kind, bytes: bytes.length },
  });
}

function tooLarge(shown: string, bytes: number): ContextdError {
  const limit = EDITABLE_MAX_BYTES;
  return new ContextdError('PATH_INVALID', `${shown} has ${bytes} bytes; files of up to ${limit} are changed in part`, {
    remedy: 'Change it with a program, through safe_bash: sed, patch.',
    details: { path: shown, bytes, limit },
  });
}
