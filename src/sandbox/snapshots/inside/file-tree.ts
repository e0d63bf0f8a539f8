import { closeSync, type Dirent, lstatSync, readdirSync, type Stats, statfsSync } from 'node:fs';
import { systemClock } from '../../../core/clock.ts';
import { fdPath, openDirectory } from '../../../fs/file-access.ts';
import { earliestFileTime } from '../../../fs/file-time.ts';
import { PATH_MAX_BYTES, type RawPath } from '../../../fs/raw-path.ts';
import {
  type FileChange,
  type FileState,
  HIDDEN,
  isDirectoryState,
  type Uncovered,
} from '../../contract/snapshot-messages.ts';
import { directoryAbove, holderOf, type UncoveredPaths } from './coverage.ts';
import { directoryState, look, OpenPlace, stateNow } from './disk.ts';
import { type Entry, entryOf, entryOfDirectory, isSame } from './entry.ts';
import { linkedElsewhere, namesOf } from './hard-links.ts';
import { IgnoreCheck } from './ignore-check.ts';
import type { IndexFile } from './index-file.ts';
import type { ObjectStore } from './object-store.ts';
import { ChangeWatch } from './watch.ts';

export interface Taken {
  readonly changes: readonly FileChange[];
  readonly missed: readonly Uncovered[];
}

/** Files and directories of one workspace that are kept; more would need too much memory. */
const FILES_MAX = 250_000;
/** Contents that are read before they are written, in files and bytes. */
const BATCH_FILES = 1_024;
const BATCH_BYTES = 32 * 1024 * 1024;
/** Free bytes of the store's disk below which nothing more is kept. */
const FREE_MIN_BYTES = 512 * 1024 * 1024;
const MISSED_MAX = 100;
const NO_PATHS: ReadonlySet<RawPath> = new Set();
/** Of a path: room for names that are put before it. */
const SPARE_BYTES = 64;
/** What was set aside is reported by its own name, and only a person puts it back. The others are drafts of `restore` and `merge`. */
const SET_ASIDE =
  /\.quarantined-[0-9a-f]{8}(?:\/|$)|(?:^|\/)\.contextd-undo-[0-9a-f]{16}-\d+$|^\.contextd-merge(?:\/|$)/;

/** All files and directories of a workspace that can be put back, and what has happened to them since the last `take`. */
export class FileTree {
  readonly #root: string;
  readonly #gitDir: string;
  readonly #objects: ObjectStore;
  readonly #index: IndexFile;
  readonly #watch: ChangeWatch;
  readonly #entries: Map<RawPath, Entry>;
  readonly #uncovered = new Map<RawPath, Uncovered['why']>();
  /** What a path that is a file of `#uncovered` was when it was last looked at. A look at all files compares with it. */
  readonly #marks = new Map<RawPath, FileState>();
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

  /** Of a file as the last `take` found it; of one that no snapshot holds, as it is on the disk. Null if nothing is there. */
  stateOf(path: RawPath): FileState | null {
    return this.#entries.get(path)?.state ?? stateNow(this.#root, path);
  }

  get uncovered(): UncoveredPaths {
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
      return await this.#takeAll(paths ?? NO_PATHS);
    } catch (cause) {
      this.#watch.forgetAll();
      throw cause;
    }
  }

  /** Looks at these paths only. Null if that is not enough: directories have come or gone. */
  async #takePaths(paths: ReadonlySet<RawPath>): Promise<Taken | null> {
    const found: RawPath[] = [];
    const gone: RawPath[] = [];
    const linked = new Set<number>();
    for (const path of paths) {
      if (SET_ASIDE.test(path)) continue;
      if (path.endsWith('/.gitignore') || path === '.gitignore') return null;
      const stats = this.#statOf(path);
      if (stats?.isDirectory()) {
        if (path === '.git') continue;
        const why = this.#uncovered.get(`${path}/`);
        if (why === 'ignored directory') continue;
        // Another directory may have its name now.
        if (why !== undefined) return null;
        if (this.#inodes.get(path) !== stats.ino || path.endsWith('/.git')) return null;
        if (this.#entries.get(path)?.state !== directoryState(stats)) return null;
        continue;
      }
      if (this.#inodes.has(path)) return null;
      if (stats === null) {
        if (this.#uncovered.has(`${path}/`) || path.endsWith('/.git')) return null;
        gone.push(path);
      } else if (path.endsWith('/.git')) return null;
      else {
        found.push(path);
        if (stats.isFile() && stats.nlink > 1) linked.add(stats.ino);
      }
    }
    return this.#keep(
      [...gone, ...found, ...namesOf(linked, this.#entries).filter((path) => !paths.has(path))],
      new Map(this.#uncovered),
      new Map(),
      paths,
    );
  }

  /** Looks at the whole workspace. `reported`: the paths that the watch has reported. */
  async #takeAll(reported: ReadonlySet<RawPath>): Promise<Taken> {
    const known = new Map(this.#uncovered);
    const found = await this.#walk();
    const missed = new Map<RawPath, Uncovered['why']>();
    if (this.#isScanned) for (const [path, why] of this.#uncovered) if (!known.has(path)) missed.set(path, why);
    for (const [path, why] of known)
      if (path.endsWith('/') && why !== 'cannot be read' && this.#statOf(path.slice(0, -1)) === null)
        missed.set(path, why);
    const gone = [...this.#entries.keys(), ...this.#marks.keys()].filter((path) => !found.has(path));
    for (const [path, stats] of found) {
      const entry = this.#entries.get(path);
      if (entry !== undefined && isSame(entry, stats)) found.delete(path);
    }
    const taken = await this.#keep([...gone, ...found.keys()], known, missed, reported);
    this.#isScanned = true;
    this.#index.compact(this.#entries);
    return taken;
  }

  /**
   * Keeps what is at these paths now. `uncovered`: what no snapshot held before. A file that left what is covered, because
   * its directory is ignored now or it is too large, was not deleted: its change is what the disk says. `reported`: paths
   * that have changed for certain.
   */
  async #keep(
    paths: readonly RawPath[],
    uncovered: UncoveredPaths,
    missed: Map<RawPath, Uncovered['why']>,
    reported: ReadonlySet<RawPath>,
  ): Promise<Taken> {
    const changes: FileChange[] = [];
    const linked = new Map<RawPath, Stats>();
    const set = (path: RawPath, entry: Entry | null, after = entry?.state ?? null): void => {
      const before = this.#entries.get(path)?.state ?? null;
      const isDirectory = isDirectoryState(after);
      const isCovered = entry !== null && holderOf(this.#uncovered, path, isDirectory) === null;
      if (isCovered) this.#entries.set(path, entry);
      else this.#entries.delete(path);
      if (isCovered || before !== null) this.#index.add(path, isCovered ? entry : null);
      const outside = before === null ? holderOf(uncovered, path, isDirectory) : null;
      if (outside !== null) missed.set(outside, uncovered.get(outside) ?? 'cannot be read');
      else if (before !== after) changes.push({ path, before, after });
    };
    if (paths.length > 0) this.#checkRoom(paths.length);
    const startedMs = earliestFileTime(systemClock);
    let batch: Read[] = [];
    let bytes = 0;
    let writing = Promise.resolve();
    /** One batch is compressed in another thread while the next one is read. An entry is set when its content is written. */
    const flush = async (): Promise<void> => {
      const full = batch;
      batch = [];
      bytes = 0;
      await writing;
      writing = this.#objects.keep(full.map(({ content }) => content)).then((ids) => {
        for (const [index, { path, stats }] of full.entries()) {
          const [known, entry] = [this.#entries.get(path), entryOf(stats, ids[index] ?? '', startedMs)];
          if (stats.nlink > 1 && known?.ino === stats.ino && known.state !== entry.state) linked.set(path, stats);
          set(path, entry);
        }
      });
      // It is awaited before the next batch.
      writing.catch(() => {});
    };
    const places = new OpenPlace();
    for (const path of paths) {
      const seen = look(this.#root, path, places);
      const mark = this.#marks.get(path);
      if (seen.kind !== 'out') {
        this.#uncovered.delete(path);
        this.#marks.delete(path);
      }
      if (seen.kind === 'none') set(path, null);
      else if (seen.kind === 'directory') set(path, entryOfDirectory(seen.stats));
      else if (seen.kind === 'out') {
        const isBelow = directoryAbove(this.#uncovered, path) !== null;
        if (isBelow) this.#marks.delete(path);
        else {
          this.#uncovered.set(path, seen.why);
          this.#marks.set(path, seen.state);
        }
        const isChanged = seen.state !== mark || seen.state === HIDDEN || reported.has(path);
        if (this.#entries.has(path)) set(path, null, seen.state);
        else if (isChanged && !isBelow) missed.set(path, seen.why);
      } else {
        batch.push({ path, stats: seen.stats, content: seen.content });
        bytes += seen.content.length;
        if (batch.length >= BATCH_FILES || bytes >= BATCH_BYTES) await flush();
      }
    }
    places.close();
    await flush();
    await writing;
    this.#index.flush();
    for (const path of linkedElsewhere(linked, this.#entries)) missed.set(path, 'its other hard links');
    return { changes, missed: Array.from(missed, ([path, why]) => ({ path, why })).slice(0, MISSED_MAX) };
  }

  #checkRoom(count: number): void {
    if (this.#entries.size + count > 2 * FILES_MAX)
      throw new Error(`the workspace has more than ${FILES_MAX} files that are not ignored`);
    const { bavail, bsize } = statfsSync(this.#gitDir);
    if (bavail * bsize < FREE_MIN_BYTES) throw new Error('the disk has less than 512 MiB left');
  }

  /** Every file and directory outside ignored directories and nested repositories. Watches the directories that it reads. */
  async #walk(): Promise<Map<RawPath, Stats>> {
    const ignore = new IgnoreCheck(this.#root, this.#gitDir);
    const files = new Map<RawPath, Stats>();
    const seen = new Set<RawPath>();
    let isUnsure = false;
    const nested = new Set([...this.#uncovered].flatMap(([path, why]) => (why === 'nested repository' ? [path] : [])));
    this.#uncovered.clear();
    try {
      let level: RawPath[] = [''];
      while (level.length > 0) {
        const below: RawPath[] = [];
        for (const directory of level) {
          // Nothing in it is kept, so it needs no watch.
          if (nested.has(`${directory}/`) && this.#statOf(`${directory}/.git`) !== null) {
            this.#uncovered.set(`${directory}/`, 'nested repository');
            continue;
          }
          const { stats, isNew } = this.#enter(directory);
          const names = this.#namesIn(directory);
          if (directory !== '' && names.some(({ name }) => name === '.git')) {
            this.#leave(directory);
            this.#uncovered.set(`${directory}/`, 'nested repository');
            continue;
          }
          if (names.some(({ name }) => name === '.gitignore')) ignore.readIn(directory);
          seen.add(directory);
          if (stats !== null) files.set(directory, stats);
          isUnsure ||= isNew && this.#isScanned;
          for (const entry of names) {
            const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
            if (path === '.git' || SET_ASIDE.test(path)) continue;
            if (entry.isDirectory()) {
              if (path.length <= PATH_MAX_BYTES - this.#root.length - SPARE_BYTES) below.push(path);
              else this.#uncovered.set(`${path}/`, 'cannot be read');
              continue;
            }
            const found = this.#statOf(path);
            if (found !== null && !found.isDirectory()) files.set(path, found);
          }
          if (files.size > FILES_MAX)
            throw new Error(`the workspace has more than ${FILES_MAX} files that are not ignored`);
        }
        ignore.addDirectories(below);
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

  /** Watches a directory. `stats`: null if it is not there. `isNew`: nothing watched it so far. */
  #enter(directory: RawPath): { readonly stats: Stats | null; readonly isNew: boolean } {
    const stats = this.#statOf(directory);
    if (stats?.isDirectory() !== true) return { stats: null, isNew: false };
    if (this.#inodes.get(directory) === stats.ino && this.#watch.has(directory)) return { stats, isNew: false };
    this.#leave(directory);
    this.#watch.add(directory);
    this.#inodes.set(directory, stats.ino);
    // Its mode may have changed before it was watched.
    return { stats: this.#statOf(directory), isNew: true };
  }

  #leave(directory: RawPath): void {
    this.#watch.remove(directory);
    this.#inodes.delete(directory);
  }

  #namesIn(directory: RawPath): Dirent[] {
    let place: number | null = null;
    try {
      place = openDirectory(directory === '' ? this.#root : `${this.#root}/${directory}`);
      return place === null ? [] : readdirSync(fdPath(place), { withFileTypes: true, encoding: 'latin1' });
    } catch {
      if (directory !== '') this.#uncovered.set(`${directory}/`, 'cannot be read');
      return [];
    } finally {
      if (place !== null) closeSync(place);
    }
  }

  #statOf(path: RawPath): Stats | null {
    try {
      return lstatSync(this.#system(path));
    } catch {
      return null;
    }
  }

  #system(path: RawPath): Buffer {
    return Buffer.from(path === '' ? this.#root : `${this.#root}/${path}`, 'latin1');
  }
}

interface Read {
  readonly path: RawPath;
  readonly stats: Stats;
  readonly content: Buffer;
}
