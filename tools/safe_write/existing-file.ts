import { isUtf8 } from 'node:buffer';
import { type BigIntStats, constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { EtagBuilder, nameBinary, readSpan } from '../../src/sdk/file-bytes.ts';
import {
  type Charset,
  decodeBytes,
  detectCharset,
  encodeFile,
  UnencodableCharacter,
  withBomOf,
} from '../../src/sdk/text-encoding.ts';
import { ContextdError, isErrno } from '../../src/sdk/tool.ts';
import { fileFault, quoteName } from '../../src/sdk/workspace-path.ts';

/** The file before the write. */
export interface Existing {
  /** Permission bits. */
  mode: number;
  /** Changes if the file is replaced or written. */
  identity: string;
}

/** Returns null if there is no file. Throws PATH_INVALID for anything but a regular file. */
export async function findExistingFile(target: string, shown: string): Promise<Existing | null> {
  const stats = await statOrNull(target);
  if (stats === null) return null;
  if (!stats.isFile()) {
    throw new ContextdError(
      'PATH_INVALID',
      `${stats.isDirectory() ? 'a directory' : 'not a regular file'}: ${quoteName(shown)}`,
      {
        remedy: 'Name a file.',
        details: { path: shown },
      },
    );
  }
  return { mode: Number(stats.mode & 0o777n), identity: identityOf(stats) };
}

export async function isUnchanged(target: string, existing: Existing): Promise<boolean> {
  const stats = await statOrNull(target);
  return stats !== null && identityOf(stats) === existing.identity;
}

async function statOrNull(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return null;
    throw thrown;
  }
}

function identityOf({ dev, ino, size, mtimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs].join(':');
}

/** The largest file that is edited or patched, before and after, bytes: the whole file is in memory. */
export const EDITABLE_MAX_BYTES = 16 * 1024 * 1024;

/** Which file to read, and what it must still be. */
export interface EditableRequest {
  /** Absolute, links followed. */
  target: string;
  /** The name of the file in messages. */
  shown: string;
  /** The etag the file must have; null: any. */
  expectedEtag: string | null;
  etagKey: string;
  /** The encoding of the file; null: as its bytes suggest. */
  charset: Charset | null;
  signal: AbortSignal;
}

/** The content of a file before a change, and the facts to recognize it by. */
export interface Editable {
  /** The text as UTF-8, without a byte order mark. */
  bytes: Buffer;
  /** The encoding of the file. */
  charset: Charset;
  existing: Existing;
}

/**
 * Reads a whole text file; null if it does not exist. Throws CONFLICT if it does not have `expectedEtag`, and PATH_INVALID if it
 * is larger than 16 MiB, or is not a text that can be written back byte by byte.
 */
export async function readEditable({
  target,
  shown,
  expectedEtag,
  etagKey,
  charset: given,
  signal,
}: EditableRequest): Promise<Editable | null> {
  try {
    const existing = await findExistingFile(target, shown);
    if (existing === null && expectedEtag !== null) throw stale(shown, expectedEtag, null);
    if (existing === null) return null;
    const bytes = await readBytes(target, shown, signal);
    if (expectedEtag !== null) checkEtag(bytes, { shown, expectedEtag, etagKey });
    const charset = charsetOf(bytes, given, shown);
    return { bytes: decodeEditable(bytes, charset, shown), charset, existing };
  } catch (thrown) {
    throw fileFault(thrown, shown);
  }
}

/** Follows no link: the target was resolved before. */
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

function charsetOf(bytes: Buffer, given: Charset | null, shown: string): Charset {
  const charset = given === null ? detectCharset(bytes) : withBomOf(given, bytes);
  if (charset !== null) return charset;
  throw notEditable(nameBinary(bytes), bytes, shown);
}

/** Only a text whose every byte comes back is edited: nothing else of the file may change. */
function decodeEditable(bytes: Buffer, charset: Charset, shown: string): Buffer {
  const text = decodeBytes(bytes, charset, true);
  if (!comesBack(text, bytes, charset))
    throw notEditable(`text that is not ${charset.name.toUpperCase()}`, bytes, shown);
  return charset.name === 'utf-8' ? bytes : Buffer.from(text);
}

function comesBack(text: string, bytes: Buffer, charset: Charset): boolean {
  if (charset.name === 'utf-8') return isUtf8(bytes);
  try {
    return encodeFile(text, charset).equals(bytes);
  } catch (thrown) {
    if (thrown instanceof UnencodableCharacter) return false;
    throw thrown;
  }
}

function notEditable(kind: string, bytes: Buffer, shown: string): ContextdError {
  return new ContextdError('PATH_INVALID', `${kind} cannot be edited: ${quoteName(shown)}`, {
    remedy: 'If it has another encoding, pass "encoding". Otherwise change it with a program through safe_bash.',
    details: { path: shown, kind, bytes: bytes.length },
  });
}

function tooLarge(shown: string, bytes: number): ContextdError {
  const limit = EDITABLE_MAX_BYTES;
  return new ContextdError(
    'PATH_INVALID',
    `${quoteName(shown)} has ${bytes} bytes; files of up to ${limit} bytes can be edited`,
    {
      remedy: 'Change it with a program through safe_bash: sed, patch.',
      details: { path: shown, bytes, limit },
    },
  );
}

export function stale(shown: string, expected: string, actual: string | null): ContextdError {
  const found = actual === null ? 'there is no file' : `the file has ${actual}`;
  return new ContextdError(
    'CONFLICT',
    `not the file you read (the expected etag is ${expected}, but ${found}): ${quoteName(shown)}`,
    {
      remedy: 'Read it again and repeat the change.',
      details: { path: shown, expected_etag: expected, actual_etag: actual },
    },
  );
}
