import { createHash } from 'node:crypto';
import { constants, copyFile, type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isBelow } from '../../core/paths.ts';
import type { FetchLimits } from '../limits.ts';
import type { Meter } from './meter.ts';
import { checkName, foldName, isGitPlace, refused, tooLarge } from './names.ts';

/** What a source says about one of its entries. Every source, whatever its format, adds its entries to one `Tree`. */
export interface Entry {
  /** As the source writes it. */
  path: string;
  /** Permission bits; null if the source knows none. */
  mode: number | null;
}

export type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

type Node =
  | { type: 'directory' }
  | { type: 'file'; executable: boolean }
  | { type: 'link'; to: string[]; kind: LinkKind };
type LinkKind = 'symbolic' | 'hard';

const SET_ID = 0o6000;
const EXECUTABLE = 0o111;
/** Links that lead to links. */
const HOPS_MAX = 40;

/**
 * The one gate through which the files of a tool reach the disk. It holds every entry to the rules of names, types, modes
 * and limits, creates only plain files and directories, and never writes through a link, because it creates none: when
 * all entries are known, `finish` puts copies in the place of links that stay inside the tool. Rules: issue 17, part 2.
 */
export class Tree {
  readonly #dir: string;
  readonly #sub: readonly string[];
  readonly #limits: FetchLimits;
  readonly #meter: Meter;
  /** By path inside the tool. */
  readonly #nodes = new Map<string, Node>();
  /** The spelling of each path, by its folded form. */
  readonly #spellings = new Map<string, string>();
  /** What each file holds. */
  readonly #written = new Map<string, { sum: string; bytes: number }>();
  #bytes = 0;
  #seen = 0;

  /** `sub`: the folder of the source that is the tool; entries outside it are skipped. */
  constructor(dir: string, sub: string, limits: FetchLimits, meter: Meter) {
    this.#dir = dir;
    this.#sub = sub === '' ? [] : sub.split('/');
    this.#limits = limits;
    this.#meter = meter;
  }

  get files(): number {
    return [...this.#nodes.values()].filter(({ type }) => type === 'file').length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** sha256 of each file, by its path. */
  sums(): Map<string, string> {
    return new Map([...this.#written].map(([path, { sum }]) => [path, sum]));
  }

  /** Names at the top of the tool, with what they are. */
  top(): { name: string; type: Node['type'] }[] {
    return [...this.#nodes].flatMap(([path, { type }]) => (path.includes('/') ? [] : [{ name: path, type }]));
  }

  /** False for an entry that is not part of the tool: its bytes may be skipped. The others must be added. */
  wants(path: string): boolean {
    return this.#place(path) !== null;
  }

  async directory({ path }: Entry): Promise<void> {
    const place = this.#place(path);
    if (place === null) return;
    this.#count(path);
    await this.#makeDirectories(place, path);
  }

  /** Writes a file. A fault of `bytes` passes through; the file is then incomplete. */
  async file({ path, mode }: Entry, bytes: Bytes): Promise<void> {
    const place = this.#place(path);
    if (place === null) return;
    this.#count(path);
    if (mode !== null && (mode & SET_ID) !== 0) throw refused(path, 'has a setuid or setgid bit');
    if (place.length === 0) throw refused(path, 'names the tool itself, but is a file');
    const executable = mode !== null && (mode & EXECUTABLE) !== 0;
    await this.#makeDirectories(place.slice(0, -1), path);
    this.#claim(place, { type: 'file', executable }, path);
    await this.#write(place.join('/'), executable, bytes);
  }

  /** Notes a link. `target` is as the source writes it: of a hard link a path of the source, otherwise relative to the link. */
  async link({ path }: Entry, kind: LinkKind, target: string): Promise<void> {
    const place = this.#place(path);
    if (place === null) return;
    this.#count(path);
    if (place.length === 0) throw refused(path, 'names the tool itself, but is a link');
    const to = kind === 'hard' ? this.#hardTarget(path, target) : symbolicTarget(place.slice(0, -1), path, target);
    await this.#makeDirectories(place.slice(0, -1), path);
    this.#claim(place, { type: 'link', to, kind }, path);
  }

  /** For entries that are neither a file, a directory nor a link. */
  other({ path }: Entry, what: string): void {
    if (this.#place(path) !== null) throw refused(path, `is ${what}`);
  }

  /** Puts a copy in the place of each link. Throws INTEGRITY_FAILED for one that leads out, nowhere, or into itself. */
  async finish(): Promise<void> {
    for (const [path, node] of [...this.#nodes]) if (node.type === 'link') await this.#copyLink(path, node, new Set());
  }

  /** The path inside the tool; null: not part of it. Names are checked wherever they are. */
  #place(path: string): string[] | null {
    const parts = checkName(path, this.#limits);
    if (isGitPlace(parts)) return null;
    if (parts.length < this.#sub.length && this.#sub.slice(0, parts.length).join('/') === parts.join('/')) return null;
    return this.#sub.every((part, index) => parts[index] === part) ? parts.slice(this.#sub.length) : null;
  }

  #count(path: string): void {
    this.#seen += 1;
    if (this.#seen > this.#limits.files)
      throw tooLarge(`the tool has more than ${this.#limits.files} files and directories (${path.slice(0, 100)})`);
  }

  #claim(place: readonly string[], node: Node, path: string): void {
    const key = place.join('/');
    const folded = foldName(key);
    const spelled = this.#spellings.get(folded);
    if (spelled === key) throw refused(path, 'is there twice');
    if (spelled !== undefined)
      throw refused(path, `is the same file as ${JSON.stringify(spelled)} where case is ignored`);
    this.#spellings.set(folded, key);
    this.#nodes.set(key, node);
  }

  async #makeDirectories(place: readonly string[], path: string): Promise<void> {
    for (let depth = 1; depth <= place.length; depth += 1) {
      const parts = place.slice(0, depth);
      const known = this.#nodes.get(parts.join('/'));
      if (known?.type === 'directory') continue;
      if (known !== undefined) throw refused(path, `needs a directory where a ${known.type} is`);
      this.#claim(parts, { type: 'directory' }, path);
      await mkdir(join(this.#dir, ...parts), { mode: 0o700 });
    }
  }

  async #write(key: string, executable: boolean, bytes: Bytes): Promise<void> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const handle = await open(join(this.#dir, key), flags, executable ? 0o700 : 0o600);
    const hash = createHash('sha256');
    let total = 0;
    try {
      for await (const chunk of bytes) {
        total += chunk.byteLength;
        this.#take(chunk.byteLength);
        hash.update(chunk);
        await writeAll(handle, chunk);
      }
    } finally {
      await handle.close();
    }
    this.#written.set(key, { sum: hash.digest('hex'), bytes: total });
  }

  #take(bytes: number): void {
    this.#bytes += bytes;
    this.#meter.add(bytes);
    if (this.#bytes > this.#limits.bytes) throw tooLarge(`the tool has more than ${this.#limits.bytes} bytes`);
  }

  #hardTarget(path: string, target: string): string[] {
    const place = this.#place(target);
    if (place === null) throw refused(path, 'is a link to a file outside the tool');
    return place;
  }

  async #copyLink(path: string, link: Extract<Node, { type: 'link' }>, open: Set<string>): Promise<void> {
    if (open.has(path) || open.size > HOPS_MAX) throw refused(path, 'is a link that leads to itself');
    const inner = new Set([...open, path]);
    const target = await this.#resolve(path, link.to, inner);
    const node = this.#nodes.get(target);
    if (target !== '' && node === undefined) throw refused(path, 'is a link to nothing');
    if (node?.type === 'file') return this.#copyFile(target, path, node.executable);
    if (link.kind === 'hard') throw refused(path, 'is a hard link to a directory');
    const isAround = target === '' || [...inner].some((one) => isBelow(target, one));
    if (isAround) throw refused(path, 'is a link to a directory around it');
    await this.#copyDirectory(target, path, inner);
  }

  /** The path a link leads to, when every link on the way has been replaced by its copy. */
  async #resolve(path: string, to: readonly string[], open: Set<string>): Promise<string> {
    for (let depth = 1; depth <= to.length; depth += 1) {
      const at = to.slice(0, depth).join('/');
      const node = this.#nodes.get(at);
      if (node?.type === 'link') await this.#copyLink(at, node, open);
      if (node?.type === 'file' && depth < to.length) throw refused(path, 'is a link to nothing');
    }
    return to.join('/');
  }

  async #copyDirectory(from: string, path: string, open: Set<string>): Promise<void> {
    this.#nodes.set(path, { type: 'directory' });
    await mkdir(join(this.#dir, path), { mode: 0o700 });
    const inside = [...this.#nodes].filter(([key]) => isBelow(from, key));
    for (const [key] of inside) {
      const copy = `${path}/${key.slice(from.length + 1)}`;
      this.#count(copy);
      checkName(copy, this.#limits);
      const now = this.#nodes.get(key);
      if (now?.type === 'link') await this.#copyLink(key, now, open);
      const node = this.#nodes.get(key);
      if (this.#nodes.has(copy)) continue;
      if (node?.type === 'directory') {
        this.#claim(copy.split('/'), node, copy);
        await mkdir(join(this.#dir, copy), { mode: 0o700 });
      } else if (node?.type === 'file') {
        this.#claim(copy.split('/'), node, copy);
        await this.#copyFile(key, copy, node.executable);
      }
    }
  }

  async #copyFile(from: string, path: string, executable: boolean): Promise<void> {
    const { sum, bytes } = this.#written.get(from) ?? { sum: '', bytes: 0 };
    this.#take(bytes);
    this.#nodes.set(path, { type: 'file', executable });
    const flags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
    await copyFile(join(this.#dir, from), join(this.#dir, path), flags);
    this.#written.set(path, { sum, bytes });
  }
}

/** The path inside the tool that a symbolic link names. Throws INTEGRITY_FAILED if it leads out. */
function symbolicTarget(from: readonly string[], path: string, target: string): string[] {
  if (target === '' || target.startsWith('/') || /[\p{Cc}\\\uFFFD]/u.test(target) || /^[A-Za-z]:/.test(target))
    throw refused(path, `is a link to ${JSON.stringify(target.slice(0, 200))}, which is not a relative path`);
  const to = [...from];
  let isDown = false;
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') {
      to.push(part);
      isDown = true;
    } else if (isDown) {
      // Where a/.. is depends on whether a is a link itself.
      throw refused(path, 'is a link with .. after a name');
    } else if (to.pop() === undefined) {
      throw refused(path, 'is a link that leads out of the tool');
    }
  }
  if (isGitPlace(to)) throw refused(path, 'is a link into .git');
  return to;
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.byteLength; ) at += (await handle.write(chunk, at)).bytesWritten;
}
