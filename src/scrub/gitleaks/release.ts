import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { Release } from './pinned.ts';

/** Bytes of an archive; the real ones have about 8 MiB. */
const ARCHIVE_MAX_BYTES = 64 * 1024 * 1024;
const PROGRAM_MAX_BYTES = 256 * 1024 * 1024;
const BLOCK_BYTES = 512;

/** What went wrong with a download, as a sentence for a person. */
export class DownloadError extends Error {}

/** The program in a release's archive, once the archive's hash is the pinned one. `waitMs`: for all of it. */
export async function downloadProgram({ url, sha256 }: Release, waitMs: number): Promise<Buffer> {
  const archive = await download(url, waitMs);
  const found = createHash('sha256').update(archive).digest('hex');
  if (found !== sha256) throw new DownloadError(`${url} has sha256 ${found}, not ${sha256}: it is not used`);
  return takeFile(gunzipSync(archive, { maxOutputLength: PROGRAM_MAX_BYTES }), 'gitleaks', url);
}

async function download(url: string, waitMs: number): Promise<Buffer> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(waitMs) });
    if (!answer.ok) throw new DownloadError(`${url} answers with ${answer.status}`);
    return await readBody(answer, url);
  } catch (error) {
    if (error instanceof DownloadError) throw error;
    throw new DownloadError(`${url} cannot be had (${reasonOf(error)})`, { cause: error });
  }
}

async function readBody(answer: Response, url: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > ARCHIVE_MAX_BYTES) throw new DownloadError(`${url} is longer than ${ARCHIVE_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** "ENOTFOUND" and the like stand in the cause of fetch's own error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  return cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : error.message;
}

/** One regular file of a tar archive, by its name. */
function takeFile(tar: Buffer, name: string, url: string): Buffer {
  for (let at = 0; at + BLOCK_BYTES <= tar.length; ) {
    const header = tar.subarray(at, at + BLOCK_BYTES);
    const size = Number.parseInt(textOf(header, 124, 12), 8) || 0;
    const start = at + BLOCK_BYTES;
    if (textOf(header, 0, 100).replace(/^\.\//, '') === name && '0\0'.includes(header.toString('latin1', 156, 157))) {
      if (start + size > tar.length) break;
      return tar.subarray(start, start + size);
    }
    at = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
  throw new DownloadError(`${url} holds no file ${name}`);
}

function textOf(header: Buffer, start: number, length: number): string {
  return (
    header
      .toString('latin1', start, start + length)
      .split('\0')[0]
      ?.trim() ?? ''
  );
}
