import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { nameBinary, readSpan } from '../../src/sdk/file-bytes.ts';
import { type ImageSize, imageSize } from '../../src/sdk/image-size.ts';
import { ContextdError } from '../../src/sdk/tool.ts';
import { fileFault, quoteName, shellWord } from '../../src/sdk/workspace-path.ts';

/** The part at the start of a file by which binary data and encodings are recognized, and the size of an image. */
const START_BYTES = 64 * 1024;

/** A regular file that is open, and its first 64 KiB. */
export interface OpenFile {
  file: FileHandle;
  shown: string;
  start: Buffer;
}

/**
 * Opens a regular file. `real` is a path without links: none is followed, and a named pipe does not block. Throws
 * PATH_INVALID for a directory or a special file.
 */
export async function openRegular(real: string, shown: string): Promise<OpenFile> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(real, flags).catch((cause: unknown) => {
    throw fileFault(cause, shown);
  });
  try {
    await refuseSpecial(file, shown);
    const buffer = Buffer.alloc(START_BYTES);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return { file, shown, start: buffer.subarray(0, bytesRead) };
  } catch (thrown) {
    await file.close();
    throw fileFault(thrown, shown);
  }
}

async function refuseSpecial(file: FileHandle, shown: string): Promise<void> {
  const stats = await file.stat();
  if (stats.isFile()) return;
  const isDirectory = stats.isDirectory();
  throw new ContextdError(
    'PATH_INVALID',
    `${isDirectory ? 'a directory' : 'not a regular file'}: ${quoteName(shown)}`,
    {
      remedy: isDirectory
        ? `List it: safe_bash ${shellWord(JSON.stringify({ command: 'ls', cwd: shown }))}`
        : 'Name a file.',
      details: { path: shown, kind: isDirectory ? 'directory' : 'special' },
    },
  );
}

/** The error for a file that is no text: its kind, size and hash, and of an image its size in pixels. */
export async function binaryFault({ file, shown, start }: OpenFile, signal: AbortSignal): Promise<ContextdError> {
  const [kind, { size }] = [nameBinary(start), await file.stat()];
  const image = imageSize(start);
  return new ContextdError('PATH_INVALID', `not text but ${kind}, ${size} bytes: ${quoteName(shown)}`, {
    remedy:
      image === null
        ? 'Inspect it with a program through safe_bash: file, xxd, unzip -l.'
        : "To see the image, open the file with your client's own viewer, such as its built-in Read.",
    details: { path: shown, kind, ...pixelsOf(image), bytes: size, sha256: await hashFile(file, signal) },
  });
}

function pixelsOf(image: ImageSize | null): Partial<ImageSize> {
  return image === null ? {} : { ...image };
}

async function hashFile(file: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of readSpan(file, { start: 0, end: Number.MAX_SAFE_INTEGER }, signal)) hash.update(chunk);
  return hash.digest('hex');
}
