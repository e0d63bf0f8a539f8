import { createReadStream } from 'node:fs';
import { pipeline, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import type { ArchiveFile } from './archive-file.ts';
import { Expansion } from './expansion.ts';
import { refused, tooLarge } from './names.ts';
import type { Tree } from './tree.ts';

/** Blocks of 512 bytes that hold no file: headers, names, padding. A tar of nothing but headers is a bomb by count. */
const HEADER_BYTES_PER_ENTRY = 8_192;

/** Adds the entries of a tar archive in gzip to `tree`, one after the other, without holding a file in memory. */
export async function readTar({ path, limits }: ArchiveFile, tree: Tree): Promise<void> {
  const expansion = new Expansion({ ...limits, bytes: limits.bytes + limits.files * HEADER_BYTES_PER_ENTRY });
  const packed = createReadStream(path).on('data', (chunk) => expansion.read(chunk.length));
  const unpacked = measured(expansion);
  // A fault of one ends the others; `parse` sees it as that of the last.
  pipeline(packed, createGunzip(), unpacked, () => {});
  try {
    await parse(unpacked, limits.files, (entry, signal) => addEntry(entry, tree, signal));
  } finally {
    packed.destroy();
  }
}

function measured(expansion: Expansion): Transform {
  let isFirst = true;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        if (isFirst && chunk[0] === 0x1f && chunk[1] === 0x8b) throw new Error('it is packed twice');
        isFirst = false;
        expansion.unpack(chunk.length);
        done(null, chunk);
      } catch (thrown) {
        done(thrown instanceof Error ? thrown : new Error('unknown'));
      }
    },
  });
}

/** Adds an entry to the tool; ends early if the signal is aborted. */
type AddEntry = (entry: ReadEntry, signal: AbortSignal) => Promise<void>;

/** Adds each entry before the parser goes on to the next. The first fault ends everything. */
function parse(unpacked: Transform, entriesMax: number, add: AddEntry): Promise<void> {
  // `gzip: true` only turns brotli off.
  const parser = new Parser({ strict: true, gzip: true, zstd: false });
  let work = Promise.resolve();
  let entries = 0;
  const stop = new AbortController();
  return new Promise((resolve, fail) => {
    const reject = (thrown: unknown): void => {
      fail(thrown);
      stop.abort();
    };
    unpacked.on('error', reject);
    parser.on('error', reject);
    parser.on('ignoredEntry', ({ path, type }: ReadEntry) => reject(refused(path, `has the unusual type ${type}`)));
    parser.on('entry', (entry: ReadEntry) => {
      entries += 1;
      if (entries > entriesMax) return reject(tooLarge(`the archive has more than ${entriesMax} entries`));
      work = work.then(() => add(entry, stop.signal)).then(() => void entry.resume());
      work.catch(reject);
    });
    parser.on('end', () => resolve(work));
    // A stream in all that pipe() uses; only the types of its package do not say so.
    unpacked.pipe(parser as NodeJS.WritableStream);
  });
}

async function addEntry(entry: ReadEntry, tree: Tree, signal: AbortSignal): Promise<void> {
  const { path, type, linkpath = '' } = entry;
  const mode = entry.mode ?? null;
  switch (type) {
    case 'File':
    case 'OldFile':
    case 'ContiguousFile':
      return tree.file({ path, mode }, bytesOf(entry, signal));
    case 'Directory':
    case 'GNUDumpDir':
      return tree.directory({ path, mode });
    case 'SymbolicLink':
      return tree.link({ path, mode }, 'symbolic', linkpath);
    case 'Link':
      return tree.link({ path, mode }, 'hard', linkpath);
    default:
      return tree.other({ path, mode }, `a ${type}`);
  }
}

/** After an abort no more bytes come, so nothing may wait for them. */
async function* bytesOf(entry: ReadEntry, signal: AbortSignal): AsyncIterable<Buffer> {
  const end = (): void => void entry.destroy(new Error('the archive has a fault'));
  // The loop sees the error only while it waits.
  entry.on('error', () => {});
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    for await (const chunk of entry) {
      yield chunk;
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener('abort', end);
  }
}
