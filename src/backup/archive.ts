import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { create, Parser, type ReadEntry } from 'tar';
import { ContextdError, isErrno } from '../core/errors.ts';
import { BACKUP_FORMAT, type BackedUpFile, MANIFEST, type Manifest, parseManifest } from './manifest.ts';

/** The list of a backup with a million files is smaller. */
const MANIFEST_MAX_BYTES = 256 * 1024 * 1024;

/** Takes the bytes of an entry. It must read them to their end. */
export type Receive = (file: BackedUpFile, bytes: AsyncIterable<Buffer>) => Promise<void>;

/** Packs the manifest in `dir` and the files that it lists into a new file of mode 0600. Throws CONFLICT if there is one. */
export async function packBackup(dir: string, { files }: Manifest, target: string): Promise<void> {
  const handle = await create0600(target);
  try {
    const packed = create({ cwd: dir, gzip: true, portable: true }, [MANIFEST, ...files.map(({ path }) => path)]);
    // Writes each chunk whole.
    for await (const chunk of packed) await handle.writeFile(chunk);
    await handle.sync();
  } catch (thrown) {
    await rm(target, { force: true });
    throw thrown;
  } finally {
    await handle.close();
  }
}

async function create0600(target: string) {
  try {
    return await open(target, 'wx', 0o600);
  } catch (error) {
    if (isErrno(error, 'EEXIST')) {
      throw new ContextdError('CONFLICT', `${target} exists`, { remedy: 'Name a file that does not exist yet.' });
    }
    if (!isErrno(error)) throw error;
    throw new ContextdError('PATH_INVALID', `cannot write ${target} (${error.code})`, {
      remedy: 'Name a file in a folder that this user can write.',
      cause: error,
    });
  }
}

/**
 * Reads a whole backup and passes each file to `receive`. Returns its manifest. Throws INTEGRITY_FAILED if a byte of a file is
 * not as it was packed, or a file is missing or unknown; VERSION_MISMATCH for the format of a newer contextd; PATH_NOT_FOUND.
 */
export async function readBackup(file: string, receive: Receive): Promise<Manifest> {
  const reading = new Reading(receive);
  let handle: FileHandle | undefined;
  try {
    // Opening a pipe must not wait for its writer.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) throw new Error('it is no regular file');
    await readEntries(handle, (entry, signal) => reading.entry(entry, signal));
    return reading.end();
  } catch (thrown) {
    if (thrown instanceof ContextdError) throw thrown;
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EIO', 'EISDIR')) throw unreadable(file, thrown);
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new ContextdError('INTEGRITY_FAILED', `${file} is no backup of contextd, or it is damaged: ${why}`, {
      remedy: 'Nothing was changed. Use another copy of the backup.',
      cause: thrown,
    });
  } finally {
    await handle?.close();
  }
}

class Reading {
  readonly #receive: Receive;
  #manifest: Manifest | null = null;
  readonly #expected = new Map<string, BackedUpFile>();

  constructor(receive: Receive) {
    this.#receive = receive;
  }

  async entry(entry: ReadEntry, signal: AbortSignal): Promise<void> {
    if (this.#manifest === null) {
      this.#manifest = await readManifest(entry, signal);
      for (const file of this.#manifest.files) this.#expected.set(file.path, file);
      return;
    }
    const file = this.#expected.get(entry.path);
    if (file === undefined) throw new Error(`${name(entry)} is not in its list, or is there twice`);
    if (entry.type !== 'File') throw new Error(`${file.path} is no regular file`);
    if (entry.size !== file.bytes) throw new Error(`${file.path} has ${entry.size} bytes, and had ${file.bytes}`);
    this.#expected.delete(file.path);
    const hash = createHash('sha256');
    await this.#receive(file, bytesOf(entry, signal, hash));
    if (hash.digest('hex') !== file.sha256) throw new Error(`${file.path} is not as it was packed`);
  }

  end(): Manifest {
    if (this.#manifest === null) throw new Error('it is empty');
    const [missing] = this.#expected.keys();
    if (missing !== undefined) throw new Error(`${missing} is missing`);
    return this.#manifest;
  }
}

async function readManifest(entry: ReadEntry, signal: AbortSignal): Promise<Manifest> {
  if (entry.path !== MANIFEST || entry.type !== 'File') throw new Error(`it begins with ${name(entry)}`);
  if (entry.size > MANIFEST_MAX_BYTES) throw new Error(`${MANIFEST} has ${entry.size} bytes`);
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf(entry, signal)) chunks.push(chunk);
  const manifest = parseManifest(Buffer.concat(chunks).toString('utf8'));
  if (manifest.format <= BACKUP_FORMAT) return manifest;
  throw new ContextdError(
    'VERSION_MISMATCH',
    `contextd ${manifest.contextd} made this backup in format ${manifest.format}, and this one reads formats up to ${BACKUP_FORMAT}`,
    { remedy: 'Restore it with the contextd that made it, or a newer one.' },
  );
}

async function* bytesOf(entry: ReadEntry, signal: AbortSignal, hash?: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of entry) {
    hash?.update(chunk);
    yield chunk;
    // A destroyed entry has no end: its loop would wait for ever.
    signal.throwIfAborted();
  }
}

function name({ path }: ReadEntry): string {
  return JSON.stringify(path.slice(0, 200));
}

/** Passes the entries one after another. The first fault ends everything. */
async function readEntries(
  packed: FileHandle,
  take: (entry: ReadEntry, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  // `gzip: true` only turns brotli off.
  const parser = new Parser({ strict: true, gzip: true, zstd: false });
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const stop = new AbortController();
  let work = Promise.resolve();
  parser.on('error', fail);
  parser.on('ignoredEntry', (entry: ReadEntry) => fail(new Error(`${name(entry)} is no regular file`)));
  parser.on('entry', (entry: ReadEntry) => {
    entry.on('error', () => {});
    stop.signal.addEventListener('abort', () => void entry.destroy(new Error('it was given up')), { once: true });
    work = work.then(() => take(entry, stop.signal)).then(() => void entry.resume());
    work.catch(fail);
  });
  const ended = once(parser, 'end');
  ended.catch(fail);
  const source = packed.createReadStream({ autoClose: false });
  const unpacked = createGunzip();
  source.on('error', (error) => unpacked.destroy(error)).pipe(unpacked);
  try {
    for await (const chunk of unpacked) {
      if (!parser.write(chunk)) await Promise.race([once(parser, 'drain'), failed]);
    }
    parser.end();
    await Promise.race([ended, failed]);
    await work;
  } finally {
    stop.abort();
    source.destroy();
    unpacked.destroy();
    await work.catch(() => {});
  }
}

function unreadable(file: string, error: NodeJS.ErrnoException): ContextdError {
  return new ContextdError('PATH_NOT_FOUND', `${file} cannot be read (${error.code})`, {
    remedy: 'Check the path and who may read it.',
    cause: error,
  });
}
