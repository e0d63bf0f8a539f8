import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { describeBinary } from '../../src/sdk/binary.ts';
import { readSpan } from '../../src/sdk/file-span.ts';
import { ContextdError } from '../../src/sdk/tool.ts';
import { fileFault } from '../../src/sdk/workspace-path.ts';

/** Enough of a file to tell text from binary. */
const SNIFF_BYTES = 64 * 1024;

/**
 * A regular file of text, open for reading. `real` has no links left: none is followed now, and a named pipe does not
 * block. PATH_INVALID for what is no such file.
 */
export async function openText(real: string, shown: string, signal: AbortSignal): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(real, flags).catch((cause: unknown) => {
    throw fileFault(cause, shown);
  });
  try {
    await refuseSpecial(file, shown);
    await refuseBinary(file, shown, signal);
    return file;
  } catch (thrown) {
    await file.close();
    throw fileFault(thrown, shown);
  }
}

async function refuseSpecial(file: FileHandle, shown: string): Promise<void> {
  const stats = await file.stat();
  if (stats.isFile()) return;
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
