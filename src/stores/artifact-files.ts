import { createHmac, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { KeyedLock } from '../core/lock.ts';

/** UTF-16 units that are encoded, hashed and written at a time, so that a 64 MiB text does not block the daemon. */
const CHUNK_UNITS = 256 * 1024;

/** A complete temporary file that does not have the name of its content yet. */
export interface StagedFile {
  hash: Buffer;
  bytes: number;
  path: string;
}

/**
 * Contents that are too large for the database: one file each, 0600, at `<dir>/<2 hex>/<62 hex>` of a keyed hash, so that
 * nobody can guess a content from its name. A file appears complete, by rename. It is not synced: the death of the
 * process loses nothing, but a power loss can lose the last writes. A file that does not have its recorded size then
 * counts as expired.
 */
export class ArtifactFiles {
  readonly #dir: string;
  readonly #contentKey: Buffer;
  readonly #lock = new KeyedLock();

  constructor(dir: string, contentKey: Buffer) {
    this.#dir = dir;
    this.#contentKey = contentKey;
  }

  /** Creates the folders (0700) and removes what an interrupted write left. */
  async prepare(): Promise<void> {
    await rm(this.#tempDir(), { recursive: true, force: true });
    await mkdir(this.#tempDir(), { recursive: true, mode: 0o700 });
  }

  /** Runs `task` while no other task of this content runs. */
  withContent<Result>(hash: Buffer, task: () => Promise<Result>): Promise<Result> {
    return this.#lock.run(hash.toString('hex'), task);
  }

  hashOf(texts: readonly string[]): Buffer {
    const hmac = createHmac('sha256', this.#contentKey);
    for (const text of texts) hmac.update(text, 'utf8');
    return hmac.digest();
  }

  /** Writes the texts, one after another, to a temporary file. Leaves nothing behind if it fails (ENOSPC, for example). */
  async stage(texts: readonly string[]): Promise<StagedFile> {
    const path = join(this.#tempDir(), randomBytes(12).toString('hex'));
    try {
      const handle = await open(path, 'wx', 0o600);
      try {
        return { path, ...(await this.#writeTexts(handle, texts)) };
      } finally {
        await handle.close();
      }
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  /** Gives a staged file its name. Keeps a content that is already there. Call it within `withContent`. */
  async publish(staged: StagedFile): Promise<void> {
    const target = this.pathOf(staged.hash);
    try {
      if ((await sizeOf(target)) === staged.bytes) return;
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(staged.path, target);
    } finally {
      await rm(staged.path, { force: true });
    }
  }

  /** Removes a content. Call it within `withContent`. */
  async remove(hash: Buffer): Promise<void> {
    await rm(this.pathOf(hash), { force: true });
  }

  /** Bytes `[start, end)`, or null if the file is gone or is not `bytes` long. */
  async read(hash: Buffer, bytes: number, start: number, end: number): Promise<Buffer | null> {
    try {
      const handle = await open(this.pathOf(hash), 'r');
      try {
        if ((await handle.stat()).size !== bytes) return null;
        return await readRange(handle, start, end);
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return null;
      throw error;
    }
  }

  /** The hashes of all files. */
  async list(): Promise<Buffer[]> {
    const entries = await readdir(this.#dir, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => entry.parentPath.slice(-2) + entry.name)
      .filter((name) => /^[0-9a-f]{64}$/.test(name))
      .map((name) => Buffer.from(name, 'hex'));
  }

  pathOf(hash: Buffer): string {
    const name = hash.toString('hex');
    return join(this.#dir, name.slice(0, 2), name.slice(2));
  }

  async #writeTexts(handle: FileHandle, texts: readonly string[]): Promise<{ hash: Buffer; bytes: number }> {
    const hmac = createHmac('sha256', this.#contentKey);
    let bytes = 0;
    for (const chunk of encodeInChunks(texts)) {
      hmac.update(chunk);
      await handle.writeFile(chunk);
      bytes += chunk.length;
    }
    return { hash: hmac.digest(), bytes };
  }

  #tempDir(): string {
    return join(this.#dir, 'tmp');
  }
}

function* encodeInChunks(texts: readonly string[]): Generator<Buffer> {
  for (const text of texts) {
    for (let start = 0, end = 0; start < text.length; start = end) {
      end = Math.min(start + CHUNK_UNITS, text.length);
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
      yield Buffer.from(text.slice(start, end), 'utf8');
    }
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

async function readRange(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(end - start);
  for (let done = 0; done < buffer.length; ) {
    const { bytesRead } = await handle.read(buffer, done, buffer.length - done, start + done);
    if (bytesRead === 0) throw new ContextdError('INTERNAL_ERROR', 'an artifact file became shorter while it was read');
    done += bytesRead;
  }
  return buffer;
}

/** Returns -1 if the file does not exist. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return -1;
    throw error;
  }
}

/** ENOENT is among them, because a recursive mkdir on a read-only file system fails with it. */
const UNWRITABLE = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ENOENT'];

/** Turns what the file system threw below `dir` into an error that a person can act on. */
export function fromArtifactFault(thrown: unknown, dir: string): ContextdError {
  if (!isErrno(thrown, ...UNWRITABLE)) return ContextdError.from(thrown);
  return new ContextdError('PATH_INVALID', `cannot write artifacts to ${dir} (${thrown.code})`, {
    remedy: 'Make it a writable folder of this user, or set CONTEXTD_HOME to one.',
    details: { path: dir },
    cause: thrown,
  });
}
