import {
  copyFileSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  type Stats,
  statfsSync,
} from 'node:fs';
import { join } from 'node:path';
import type { RawPath } from '../../workspace/raw-path.ts';
import { FILE_MAX_BYTES, type FileChange, type FileState, type Uncovered } from '../messages.ts';
import { IgnoreCheck } from './ignore-check.ts';
import type { Entry, IndexFile } from './index-file.ts';
import type { ObjectStore } from './object-store.ts';
import { ChangeWatch } from './watch.ts';

export interface Taken {
  readonly changes: readonly FileChange[];
  readonly missed: readonly Uncovered[];
}

/** Files of one workspace that are kept; more would need too much memory. */
const FILES_MAX = 250_000;
/** Contents that are read before they are written, in files and bytes. */
const BATCH_FILES = 256;
const BATCH_BYTES = 32 * 1024 * 1024;
/** Milliseconds in which a file may change again without a new ctime. */
const CTIME_STEP_MS = 20;
/** Free bytes of the store's disk below which nothing more is kept. */
const FREE_MIN_BYTES = 512 * 1024 * 1024;
const MISSED_MAX = 100;
/** What was set aside is reported by its own name, and only a person puts it back. The other is a draft of `restore`. */
const SET_ASIDE = /\.quarantined-[0-9a-f]{8}(?:\/|$)|(?:^|\/)\.contextd-undo-\d+-\d+$/;

/** All files of a workspace that can be put back, and what has happened to them since the last `take`. */
export class FileTree {
  readonly #root: string;
  readonly #gitDir: string;
  readonly #objects: ObjectStore;
  readonly #index: IndexFile;
  readonly #watch: ChangeWatch;
  readonly #entries: Map<RawPath, Entry>;
  readonly #uncovered = new Map<RawPath, Uncovered['why']>();
  readonly #inodes = new Map<RawPath, number>();
  #isScanned = false;
  /** Directories were found that nothing watched: what happened in them meanwhile is looked for at the next `take`. */
  #isUnsure = true;

  constructor(root: string, gitDir: string, objects: ObjectStore, index: IndexFile) {
    this.#root = root;
    this.#gitDir = gitDir;
    this.#objects = objects;
    this.#index = index;
    this.#watch = new ChangeWatch(root);
    this.#entries = index.read();
  }

  get files(): ReadonlyMap<RawPath, Entry> {
    return this.#entries;
  }

  get uncovered(): ReadonlyMap<RawPath, Uncovered['why']> {
    return this.#uncovered;
  }

  /** Keeps what has changed. Throws if the disk is full or the workspace has too many files; the next call goes on. */
  async take(): Promise<Taken> {
    const { paths } = await this.#watch.take();
    try {
      if (paths !== null && !this.#isUnsure) {
        if (paths.size === 0) return { changes: [], missed: [] };
        const taken = await this.#takePaths(paths);
        if (taken !== null) return taken;
      }
      return await this.#takeAll();
    } catch (cause) {
      this.#watch.forgetAll();
      throw cause;
    }
  }

  /** Looks at these paths only. Null if that is not enough: directories have come or gone. */
  async #takePaths(paths: ReadonlySet<RawPath>): Promise<Taken | null> {
    const found = new Map<RawPath, Stats>();
    const gone: RawPath[] = [];
    for (const path of paths) {
      if (SET_ASIDE.test(path)) continue;
      if (path.endsWith('/.gitignore') || path === '.gitignore') return null;
      const stats = this.#statOf(path);
      if (stats?.isDirectory()) {
        if (path === '.git') continue;
        if (this.#uncovered.has(`${path}/`)) continue;
        if (this.#inodes.get(path) !== stats.ino || path.endsWith('/.git')) return null;
        continue;
      }
      if (this.#inodes.has(path)) return null;
      if (stats === null) {
        if (this.#uncovered.has(`${path}/`) || path.endsWith('/.git')) return null;
        gone.push(path);
      } else if (path.endsWith('/.git')) return null;
      else found.set(path, stats);
    }
    const missed = new Map<RawPath, Uncovered['why']>();
    for (const path of gone) {
      const why = this.#uncovered.get(path);
      if (why !== undefined) missed.set(path, why);
      this.#uncovered.delete(path);
    }
    return this.#keep(found, gone, missed);
  }

  /** Looks at the whole workspace. */
  async #takeAll(): Promise<Taken> {
    const known = new Map(this.#uncovered);
    const found = await this.#walk();
    const missed = new Map<RawPath, Uncovered['why']>();
    if (this.#isScanned) for (const [path, why] of this.#uncovered) if (!known.has(path)) missed.set(path, why);
    const gone = [...this.#entries.keys()].filter((path) => !found.has(path));
    for (const [path, stats] of found) {
      const entry = this.#entries.get(path);
      if (entry !== undefined && isSame(entry, stats)) found.delete(path);
    }
    const taken = await this.#keep(found, gone, missed);
    this.#isScanned = true;
    this.#index.compact(this.#entries);
    return taken;
  }

  async #keep(
    found: ReadonlyMap<RawPath, Stats>,
    gone: readonly RawPath[],
    missed: Map<RawPath, Uncovered['why']>,
  ): Promise<Taken> {
    const changes: FileChange[] = [];
    const set = (path: RawPath, entry: Entry | null): void => {
      const before = this.#entries.get(path)?.state ?? null;
      if (entry === null) this.#entries.delete(path);
      else this.#entries.set(path, entry);
      this.#index.add(path, entry);
      if (before !== (entry?.state ?? null)) changes.push({ path, before, after: entry?.state ?? null });
    };
    const leaveOut = (path: RawPath, why: Uncovered['why']): void => {
      this.#uncovered.set(path, why);
      missed.set(path, why);
      if (this.#entries.has(path)) set(path, null);
    };
    if (found.size > 0) this.#checkRoom(found.size);
    for (const path of gone) if (this.#entries.has(path)) set(path, null);
    let batch: Read[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      const ids = await this.#objects.keep(batch.map(({ content }) => content));
      for (const [index, { path, stats }] of batch.entries()) set(path, entryOf(stats, ids[index] ?? ''));
      batch = [];
      bytes = 0;
    };
    for (const [path, stats] of found) {
      const why = whyNot(stats);
      if (why !== null) {
        leaveOut(path, why);
        continue;
      }
      const content = this.#read(path, stats);
      if (content === 'gone') continue;
      if (content === 'closed') {
        leaveOut(path, 'cannot be read');
        continue;
      }
      this.#uncovered.delete(path);
      batch.push({ path, stats, content });
      bytes += content.length;
      if (batch.length >= BATCH_FILES || bytes >= BATCH_BYTES) await flush();
    }
    await flush();
    this.#index.flush();
    return { changes, missed: Array.from(missed, ([path, why]) => ({ path, why })).slice(0, MISSED_MAX) };
  }

  #checkRoom(count: number): void {
    if (this.#entries.size + count > 2 * FILES_MAX)
      throw new Error(`the workspace has more than ${FILES_MAX} files that are not ignored`);
    const { bavail, bsize } = statfsSync(this.#gitDir);
    if (bavail * bsize < FREE_MIN_BYTES) throw new Error('the disk has less than 512 MiB left');
  }

  /** Every file outside ignored directories and nested repositories. Watches the directories that it reads. */
  async #walk(): Promise<Map<RawPath, Stats>> {
    this.#copyExclude();
    const ignore = new IgnoreCheck(this.#root, this.#gitDir);
    const files = new Map<RawPath, Stats>();
    const seen = new Set<RawPath>();
    let isUnsure = false;
    this.#uncovered.clear();
    try {
      let level: RawPath[] = [''];
      while (level.length > 0) {
        const below: RawPath[] = [];
        for (const directory of level) {
          const isNew = this.#enter(directory);
          const names = this.#namesIn(directory);
          if (directory !== '' && names.some(({ name }) => name === '.git')) {
            this.#leave(directory);
            this.#uncovered.set(`${directory}/`, 'nested repository');
            continue;
          }
          seen.add(directory);
          isUnsure ||= isNew && this.#isScanned;
          for (const entry of names) {
            const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
            if (path === '.git' || SET_ASIDE.test(path)) continue;
            if (entry.isDirectory()) {
              below.push(path);
              continue;
            }
            const stats = this.#statOf(path);
            if (stats !== null && !stats.isDirectory()) files.set(path, stats);
          }
          if (files.size > FILES_MAX)
            throw new Error(`the workspace has more than ${FILES_MAX} files that are not ignored`);
        }
        const ignored = await ignore.ignoredOf(below);
        for (const path of ignored) this.#uncovered.set(`${path}/`, 'ignored directory');
        level = below.filter((path) => !ignored.has(path));
      }
    } finally {
      ignore.close();
    }
    for (const directory of [...this.#inodes.keys()]) if (!seen.has(directory)) this.#leave(directory);
    this.#isUnsure = isUnsure;
    return files;
  }

  /** True if nothing watched the directory so far. */
  #enter(directory: RawPath): boolean {
    const stats = directory === '' ? lstatSync(this.#root) : this.#statOf(directory);
    if (stats === null) return false;
    if (this.#inodes.get(directory) === stats.ino && this.#watch.has(directory)) return false;
    this.#leave(directory);
    this.#watch.add(directory);
    this.#inodes.set(directory, stats.ino);
    return true;
  }

  #leave(directory: RawPath): void {
    this.#watch.remove(directory);
    this.#inodes.delete(directory);
  }

  #namesIn(directory: RawPath) {
    try {
      return readdirSync(this.#system(directory), { withFileTypes: true, encoding: 'latin1' });
    } catch {
      if (directory !== '') this.#uncovered.set(`${directory}/`, 'cannot be read');
      return [];
    }
  }

  #statOf(path: RawPath): Stats | null {
    try {
      return lstatSync(this.#system(path));
    } catch {
      return null;
    }
  }

  #read(path: RawPath, stats: Stats): Buffer | 'gone' | 'closed' {
    try {
      if (stats.isSymbolicLink()) return readlinkSync(this.#system(path), { encoding: 'buffer' });
      return readFileSync(this.#system(path));
    } catch (cause) {
      return cause instanceof Error && 'code' in cause && cause.code === 'EACCES' ? 'closed' : 'gone';
    }
  }

  #system(path: RawPath): Buffer {
    return Buffer.from(path === '' ? this.#root : `${this.#root}/${path}`, 'latin1');
  }

  /** The person's own list of what this clone ignores. */
  #copyExclude(): void {
    const target = join(this.#gitDir, 'info', 'exclude');
    rmSync(target, { force: true });
    try {
      copyFileSync(join(this.#root, '.git', 'info', 'exclude'), target);
    } catch {
      // Not every repository has one.
    }
  }
}

interface Read {
  readonly path: RawPath;
  readonly stats: Stats;
  readonly content: Buffer;
}

function whyNot(stats: Stats): Uncovered['why'] | null {
  if (stats.isSymbolicLink()) return null;
  if (!stats.isFile()) return 'special file';
  return stats.size > FILE_MAX_BYTES ? 'larger than 16 MiB' : null;
}

export function stateOf(stats: Stats, id: string): FileState {
  return stats.isSymbolicLink() ? `l ${id}` : `f${(stats.mode & 0o777).toString(8)} ${id}`;
}

function entryOf(stats: Stats, id: string): Entry {
  const isFresh = Date.now() - stats.ctimeMs < CTIME_STEP_MS;
  return { state: stateOf(stats, id), bytes: stats.size, ctimeMs: isFresh ? -1 : stats.ctimeMs, ino: stats.ino };
}

function isSame({ state, bytes, ctimeMs, ino }: Entry, stats: Stats): boolean {
  if (ctimeMs !== stats.ctimeMs || ino !== stats.ino || bytes !== stats.size) return false;
  return state === stateOf(stats, state.slice(state.indexOf(' ') + 1));
}
