import { constants, type Dirent, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { type Limit, TOOL_LIMITS } from './check.ts';

/** The directory of a tool, read once. */
export interface ToolDirectory {
  /** The last part of the path. */
  name: string;
  /** Absolute. */
  dir: string;
  /** `installed`: in `.claude/tools` of a project, with a link to the proxy instead of manifest and program. */
  layout: 'source' | 'installed';
  schema: FileText;
  toolMd: FileText;
  extended: FileText;
  manifest: FileText;
  /** Entries that must not be there, one sentence each. */
  strays: readonly string[];
}

/** The deepest directory that is searched. */
const DEPTH_MAX = 32;

/**
 * Reads the files that the checks need. Opens nothing outside the directory, follows no link and waits for no pipe. A file
 * that cannot be read has a fault instead of its text. `proxyBinary`: the target that an installed tool's link must have.
 */
export async function readToolDirectory(
  dir: string,
  proxyBinary: string,
  mostEntries: number = TOOL_LIMITS.entries.most,
): Promise<ToolDirectory> {
  const name = basename(dir);
  const layout = dirname(dir).endsWith('/.claude/tools') ? 'installed' : 'source';
  const fault = await directoryFault(dir);
  if (fault !== null) return { name, dir, layout, ...NO_FILES, strays: [fault] };
  const [schema, toolMd, extended, manifest] = await Promise.all([
    readPlainFile(join(dir, 'schema.json'), TOOL_LIMITS.schemaBytes),
    readPlainFile(join(dir, 'TOOL.md'), TOOL_LIMITS.toolMdBytes),
    readPlainFile(join(dir, 'TOOL_EXTENDED.md'), TOOL_LIMITS.extendedBytes),
    readPlainFile(join(dir, 'tool.json'), TOOL_LIMITS.manifestBytes),
  ]);
  const link = layout === 'installed' ? join(dir, name) : null;
  const strays = [
    ...(await straysOf(dir, link, mostEntries)),
    ...(link === null ? [] : await linkFaults(link, proxyBinary)),
  ];
  return { name, dir, layout, schema, toolMd, extended, manifest, strays };
}

const NO_FILES = { schema: null, toolMd: null, extended: null, manifest: null };

async function directoryFault(dir: string): Promise<string | null> {
  const stats = await lstat(dir).catch(codeOf);
  if (typeof stats === 'string') return `the directory cannot be read (${stats})`;
  if (stats.isSymbolicLink()) return 'the directory is a symbolic link';
  return stats.isDirectory() ? null : 'it is not a directory';
}

/** Entries that are neither files nor directories, except the link: a tool consists of plain files. */
async function straysOf(dir: string, link: string | null, mostEntries: number): Promise<string[]> {
  const strays: string[] = [];
  let entries = 0;
  const folders = [dir];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of entriesOf(folder, strays)) {
      const path = join(folder, entry.name);
      const shown = relative(dir, path);
      if (++entries > mostEntries) return [...strays, `it holds more than ${mostEntries} entries`];
      if (entry.isDirectory() && shown.split('/').length < DEPTH_MAX) folders.push(path);
      else if (!entry.isFile() && path !== link) strays.push(`${shown} ${kindOf(entry)}`);
    }
  }
  return strays.sort();
}

async function* entriesOf(folder: string, strays: string[]): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch (thrown) {
    strays.push(`${basename(folder)} cannot be listed (${codeOf(thrown)})`);
  }
}

function kindOf(entry: Dirent): string {
  if (entry.isSymbolicLink()) return 'is a symbolic link';
  return entry.isDirectory() ? 'is nested too deeply' : 'is neither a file nor a directory';
}

async function linkFaults(link: string, proxyBinary: string): Promise<string[]> {
  const target = await readlink(link).catch((thrown: unknown) => `: not a link (${codeOf(thrown)})`);
  return target === proxyBinary ? [] : [`${basename(link)} must be a link to ${proxyBinary}, but is ${target}`];
}

function codeOf(thrown: unknown): string {
  if (isErrno(thrown)) return thrown.code ?? 'unknown';
  throw thrown;
}

/** The text of a file with its size, the reason it cannot be read, or null if there is no such file. */
export type FileText = { text: string; bytes: number } | { fault: string } | null;

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Reads a plain UTF-8 file of at most `limit` bytes. Follows no link and waits for no pipe. */
export async function readPlainFile(path: string, limit: Limit): Promise<FileText> {
  try {
    // Checked before opening: opening a device may have an effect, and a pipe would block without O_NONBLOCK.
    const fault = faultOf(await lstat(path), limit);
    return fault === null ? await readOpened(path, limit) : { fault };
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return null;
    if (isErrno(thrown)) return { fault: `cannot be read (${thrown.code})` };
    throw thrown;
  }
}

async function readOpened(path: string, limit: Limit): Promise<FileText> {
  const file = await open(path, FLAGS);
  try {
    const fault = faultOf(await file.stat(), limit);
    return fault === null ? decoded(await readUpTo(file, limit.most + 1), limit) : { fault };
  } finally {
    await file.close();
  }
}

function faultOf(stats: Stats, limit: Limit): string | null {
  if (stats.isSymbolicLink()) return 'is a symbolic link';
  if (!stats.isFile()) return 'is not a plain file';
  return stats.size > limit.most ? tooLarge(stats.size, limit) : null;
}

/** Counts the bytes read: a file may grow, and some system files report no size. */
async function readUpTo(file: FileHandle, mostBytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(mostBytes);
  let length = 0;
  while (length < mostBytes) {
    const { bytesRead } = await file.read(buffer, length, mostBytes - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function decoded(content: Buffer, limit: Limit): FileText {
  if (content.length > limit.most) return { fault: tooLarge(content.length, limit) };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    return { text, bytes: content.length };
  } catch {
    return { fault: 'is not UTF-8' };
  }
}

function tooLarge(size: number, limit: Limit): string {
  return `has ${size} ${limit.unit} or more, the limit is ${limit.most}`;
}
