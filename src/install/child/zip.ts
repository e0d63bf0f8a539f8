import { crc32 } from 'node:zlib';
import { openPromise, type Entry as ZipEntry, type ZipFile } from 'yauzl';
import type { ArchiveFile } from './archive-file.ts';
import { Expansion } from './expansion.ts';
import { refused, shown, tooLarge } from './names.ts';
import type { Tree } from './tree.ts';

/** The system in `versionMadeBy` whose attributes hold permission bits and types. */
const MADE_BY_UNIX = 3;
const [TYPE_MASK, REGULAR, DIRECTORY, LINK] = [0o170000, 0o100000, 0o040000, 0o120000];
/** Bytes of the target of a symbolic link. */
const TARGET_MAX_BYTES = 4_096;

/**
 * Adds the entries of a zip archive to `tree`. What the central directory says decides; an archive whose entries share
 * bytes, or whose local headers name other files, is refused: other programs would see another tool in it.
 */
export async function readZip({ path, limits }: ArchiveFile, tree: Tree, size: number): Promise<void> {
  const zip = await openPromise(path, { autoClose: false, strictFileNames: true, validateEntrySizes: true });
  try {
    if (zip.entryCount > limits.files) throw tooLarge(`the archive has more than ${limits.files} entries`);
    const entries = await listEntries(zip);
    const unpacked = entries.reduce((sum, entry) => sum + entry.uncompressedSize, 0);
    if (unpacked > limits.bytes) throw tooLarge(`the archive unpacks to ${unpacked} bytes, more than ${limits.bytes}`);
    await checkPlaces(zip, entries, size);
    const expansion = new Expansion(limits);
    for (const entry of entries) await addEntry(zip, entry, tree, expansion);
  } finally {
    zip.close();
  }
}

async function listEntries(zip: ZipFile): Promise<ZipEntry[]> {
  const entries: ZipEntry[] = [];
  for await (const entry of zip.eachEntry()) entries.push(entry);
  return entries;
}

/** Each entry has its own bytes of the file, and its local header agrees about its name. */
async function checkPlaces(zip: ZipFile, entries: readonly ZipEntry[], size: number): Promise<void> {
  const inOrder = [...entries].sort((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  let free = 0;
  for (const entry of inOrder) {
    const { fileDataStart, fileName } = await zip.readLocalFileHeaderPromise(entry, { minimal: false });
    if (entry.relativeOffsetOfLocalHeader < free) throw refused(entry.fileName, 'shares its bytes with another entry');
    if (!fileName.equals(entry.fileNameRaw)) throw refused(entry.fileName, 'has another name in its own header');
    free = fileDataStart + entry.compressedSize;
    if (free > size) throw refused(entry.fileName, 'ends after the end of the archive');
  }
}

async function addEntry(zip: ZipFile, entry: ZipEntry, tree: Tree, expansion: Expansion): Promise<void> {
  const { fileName: path, externalFileAttributes } = entry;
  const bits = entry.versionMadeBy >>> 8 === MADE_BY_UNIX ? externalFileAttributes >>> 16 : 0;
  const mode = bits === 0 ? null : bits & 0o7777;
  const type = bits & TYPE_MASK;
  if (entry.isEncrypted()) throw refused(path, 'is encrypted');
  if (!entry.canDecodeFileData()) throw refused(path, `is packed by method ${entry.compressionMethod}, not by deflate`);
  if (path.endsWith('/') || type === DIRECTORY) return tree.directory({ path, mode });
  if (type === LINK) return tree.link({ path, mode }, 'symbolic', await readTarget(zip, entry, expansion));
  if (type !== 0 && type !== REGULAR) return tree.other({ path, mode }, 'a device, a pipe or a socket');
  if (tree.wants(path)) await tree.file({ path, mode }, bytesOf(zip, entry, expansion));
}

async function* bytesOf(zip: ZipFile, entry: ZipEntry, expansion: Expansion): AsyncIterable<Buffer> {
  expansion.read(entry.compressedSize);
  let sum = 0;
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    expansion.unpack(chunk.length);
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (sum !== entry.crc32) throw new Error(`the checksum of ${shown(entry.fileName)} is wrong`);
}

async function readTarget(zip: ZipFile, entry: ZipEntry, expansion: Expansion): Promise<string> {
  if (entry.uncompressedSize > TARGET_MAX_BYTES)
    throw refused(entry.fileName, 'is a link with a target that is too long');
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf(zip, entry, expansion)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
