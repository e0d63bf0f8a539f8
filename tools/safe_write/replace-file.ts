import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, link, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EtagBuilder, readSpan } from '../../src/sdk/file-bytes.ts';
import { ContextdError, isErrno } from '../../src/sdk/tool.ts';
import { fileFault, protectedFault, quoteName } from '../../src/sdk/workspace-path.ts';
import { type Existing, findExistingFile, isUnchanged, stale } from './existing-file.ts';

export const WRITE_MODES = ['create', 'overwrite', 'append'] as const;
export type WriteMode = (typeof WRITE_MODES)[number];

export interface WriteRequest {
  /** Absolute, links followed. */
  target: string;
  /** The name of the file in messages. */
  shown: string;
  content: Buffer;
  mode: WriteMode;
  /** The file `content` was made from: written only if this file is still there. Default: the file that is there now. */
  madeFrom?: Existing | null;
  /** Writes only if the file still has this etag; null: any. */
  expectedEtag: string | null;
  etagKey: string;
  signal: AbortSignal;
}

export interface Written {
  etag: string;
  /** Size of the whole file. */
  bytes: number;
  created: boolean;
}

const NEW_FILE_MODE = 0o666;

/**
 * Writes a temporary file beside the target and renames it over the target: readers see the old file or the new one, and
 * another hard link to the old file keeps the old content. Permissions are kept. Throws CONFLICT if the file exists in
 * mode create, or is not the one that `expectedEtag` or `madeFrom` names.
 */
export async function replaceFile(request: WriteRequest): Promise<Written> {
  const { target, shown } = request;
  try {
    const existing = request.madeFrom === undefined ? await findExistingFile(target, shown) : request.madeFrom;
    await refuseUnwritable(existing, request);
    await mkdir(dirname(target), { recursive: true });
    return await writeBeside(request, existing);
  } catch (thrown) {
    throw writeFault(thrown, shown);
  }
}

async function refuseUnwritable(existing: Existing | null, { target, shown, mode, expectedEtag }: WriteRequest) {
  if (existing !== null && mode === 'create') {
    throw new ContextdError('CONFLICT', `${quoteName(shown)} exists already`, {
      remedy: 'Pass mode "overwrite", or another path.',
      details: { path: shown },
    });
  }
  if (existing === null && expectedEtag !== null) throw stale(shown, expectedEtag, null);
  if (existing !== null) await access(target, constants.W_OK);
}

async function writeBeside(request: WriteRequest, existing: Existing | null): Promise<Written> {
  const { target } = request;
  const temporary = join(dirname(target), `.contextd-${randomBytes(8).toString('hex')}.tmp`);
  try {
    const written = await writeTemporary(temporary, request, existing);
    await putInPlace(temporary, request, existing);
    await syncDirectory(dirname(target));
    return { ...written, created: existing === null };
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Writes the new content and syncs it. Reads the old content for its etag and, in mode append, copies it. */
async function writeTemporary(temporary: string, request: WriteRequest, existing: Existing | null) {
  const file = await open(temporary, 'wx', NEW_FILE_MODE);
  try {
    if (existing !== null) await file.chmod(existing.mode);
    const etag = new EtagBuilder(request.etagKey);
    const kept = existing === null ? 0 : await readOld(request, request.mode === 'append' ? { file, etag } : null);
    await file.writeFile(request.content);
    etag.add(request.content);
    await file.sync();
    return { etag: etag.finish(), bytes: kept + request.content.length };
  } finally {
    await file.close();
  }
}

/** Checks the etag of the old content if one is expected, and copies it if `copy` is given. Returns the bytes copied. */
async function readOld(request: WriteRequest, copy: { file: FileHandle; etag: EtagBuilder } | null): Promise<number> {
  const { target, shown, expectedEtag, etagKey, signal } = request;
  if (expectedEtag === null && copy === null) return 0;
  const actual = new EtagBuilder(etagKey);
  let copied = 0;
  const source = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for await (const chunk of readSpan(source, { start: 0, end: Number.MAX_SAFE_INTEGER }, signal)) {
      actual.add(chunk);
      if (copy === null) continue;
      copy.etag.add(chunk);
      await copy.file.writeFile(chunk);
      copied += chunk.length;
    }
  } finally {
    await source.close();
  }
  const actualEtag = actual.finish();
  if (expectedEtag !== null && expectedEtag !== actualEtag) throw stale(shown, expectedEtag, actualEtag);
  return copied;
}

/** Creates a new file only if there is still none, and replaces an old file only if it is still the one that was read. */
async function putInPlace(
  temporary: string,
  { target, shown, expectedEtag, mode, madeFrom }: WriteRequest,
  existing: Existing | null,
) {
  if (existing === null && mode !== 'overwrite') {
    await linkNew(temporary, target, shown);
    return;
  }
  const isGuarded = expectedEtag !== null || mode === 'append' || madeFrom !== undefined;
  if (isGuarded && existing !== null && !(await isUnchanged(target, existing))) {
    throw new ContextdError('CONFLICT', `${quoteName(shown)} was changed by someone else while it was being written`, {
      remedy: 'Read it again and repeat the change.',
      details: { path: shown },
    });
  }
  await rename(temporary, target);
}

async function linkNew(temporary: string, target: string, shown: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (thrown) {
    if (isErrno(thrown, 'EEXIST')) {
      throw new ContextdError(
        'CONFLICT',
        `${quoteName(shown)} was created by someone else while it was being written`,
        {
          remedy: 'Read it, then write again.',
          details: { path: shown },
        },
      );
    }
    // On file systems without hard links, the check above must suffice.
    if (!isErrno(thrown, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw thrown;
    if ((await lstat(target).catch(() => null)) !== null)
      throw new ContextdError('CONFLICT', `${quoteName(shown)} exists already`);
    await rename(temporary, target);
  }
}

/** Syncs the directory, so that the rename survives a power cut. Some file systems cannot sync a directory. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } catch (thrown) {
    if (!isErrno(thrown, 'EINVAL', 'ENOTSUP', 'EBADF')) throw thrown;
  } finally {
    await directory.close();
  }
}

/** A file that is mounted read-only, or is a mount point, is protected by the sandbox. */
function writeFault(thrown: unknown, shown: string): unknown {
  if (isErrno(thrown, 'EROFS', 'EBUSY')) return protectedFault(shown, 'read-only in the sandbox');
  return fileFault(thrown, shown);
}
