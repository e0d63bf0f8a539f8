import { createHash } from 'node:crypto';
import { normalize } from 'node:path/posix';
import { gunzipSync } from 'node:zlib';
import { Parser } from 'tar';
import type { Release } from './pinned.ts';

/** Bytes of an archive; the real ones have about 8 MiB. */
const ARCHIVE_MAX_BYTES = 64 * 1024 * 1024;
const PROGRAM_MAX_BYTES = 256 * 1024 * 1024;

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
async function takeFile(archive: Buffer, name: string, url: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let isThere = false;
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      const isFile = entry.type === 'File' || entry.type === 'OldFile';
      if (isThere || !isFile || normalize(entry.path) !== name) return void entry.resume();
      isThere = true;
      entry.on('data', (chunk: Buffer) => chunks.push(chunk));
    },
  });
  try {
    await new Promise<void>((resolve, reject) => {
      parser.once('end', () => resolve());
      parser.once('error', reject);
      parser.end(archive);
    });
  } catch (error) {
    throw new DownloadError(`${url} is not a whole tar archive (${reasonOf(error)})`, { cause: error });
  }
  if (!isThere) throw new DownloadError(`${url} holds no file ${name}`);
  return Buffer.concat(chunks);
}
