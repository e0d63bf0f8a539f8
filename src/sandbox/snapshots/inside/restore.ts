import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { fdPath, openPlace, reopenDirectory } from '../../../fs/file-access.ts';
import type { RawPath } from '../../../fs/raw-path.ts';
import {
  type FileState,
  HIDDEN,
  isDirectoryState,
  type RestoreItem,
  type RestoreReply,
} from '../../contract/snapshot-messages.ts';
import { MODE_BITS, stateNow } from './disk.ts';
import type { ObjectStore } from './object-store.ts';

/** `.contextd-undo-<16 hex digits of the run>-<number>` */
const DRAFT = /^\.contextd-undo-[0-9a-f]{16}-\d+$/;
const DRAFT_RUN_BYTES = 8;
/** Of a directory that is made for a file and that no snapshot knows. */
const PARENT_MODE = 0o755;
/** Set-user-ID and set-group-ID: a directory keeps those that it has. */
const IDENTITY_BITS = 0o6000;

type Refused = RestoreReply['conflicts'][number];

/** Puts files and directories back, each file by a rename. Writes nothing if one of them is not what the caller saw. */
export function restore(root: string, objects: ObjectStore, items: readonly RestoreItem[]): RestoreReply {
  process.umask(0);
  const place = new Place(root, new Set(items.filter(goes).map(({ path }) => path)));
  const conflicts = items.flatMap((item): Refused[] => {
    const why = place.conflict(item);
    return why === null ? [] : [{ path: item.path, why }];
  });
  if (conflicts.length > 0) {
    place.setModes();
    return { restored: [], conflicts, failed: [] };
  }
  for (const directory of new Set(items.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/'))))))
    place.removeDrafts(directory);
  place.noteLinks(items);
  const failed = new Map<RawPath, string>();
  const attempt = (path: RawPath, work: () => void): void => {
    if (failed.has(path)) return;
    try {
      work();
    } catch (cause) {
      failed.set(path, cause instanceof Error ? cause.message : String(cause));
    }
  };
  // A file may take the place of a directory, and the other way round: what goes, goes first, the deepest first.
  for (const { path, now } of items.filter(goes).sort((a, b) => b.path.length - a.path.length))
    attempt(path, () => place.remove(path, now));
  // A directory comes before what is in it.
  for (const { path, want } of [...items].sort((a, b) => a.path.length - b.path.length))
    if (want !== null) attempt(path, () => place.write(path, want, objects));
  for (const [path, why] of place.setModes()) failed.set(path, why);
  return {
    restored: items.flatMap(({ path }) => (failed.has(path) ? [] : [path])),
    conflicts,
    failed: Array.from(failed, ([path, why]) => ({ path, why })),
  };
}

/** Whether what is there must go before anything is written. */
function goes({ now, want }: RestoreItem): boolean {
  if (want === null) return true;
  return now !== null && now !== HIDDEN && isDirectoryState(now) !== isDirectoryState(want);
}

class Place {
  readonly #root: string;
  readonly #run = randomBytes(DRAFT_RUN_BYTES).toString('hex');
  readonly #removals: ReadonlySet<RawPath>;
  /** Permission bits that directories get at the end. Until then the owner may write in them. */
  readonly #modes = new Map<RawPath, number>();
  /** Of files with several names: the same text for names of one file that get the same state. */
  readonly #links = new Map<RawPath, string>();
  /** The first path that was written for a text of `#links`. */
  readonly #written = new Map<string, RawPath>();
  #drafts = 0;

  /** `removals`: what goes before anything is written. */
  constructor(root: string, removals: ReadonlySet<RawPath>) {
    this.#root = root;
    this.#removals = removals;
  }

  conflict({ path, now }: RestoreItem): string | null {
    const parts = path === '' ? [] : path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..')) return 'it is no path in the workspace';
    if (parts.includes('.git')) return 'it belongs to a repository';
    for (const parent of parentsOf(path)) {
      if (this.#statOf(parent)?.isSymbolicLink()) {
        if (this.#removals.has(parent)) break;
        return `${parent} is a link now`;
      }
      // The call closed the directory, and nothing can have changed the file behind it.
      if (now === HIDDEN) this.#open(parent);
    }
    return now === HIDDEN || this.#stateNow(path) === now ? null : 'it was changed since';
  }

  /** A directory that was opened here counts as it was before. */
  #stateNow(path: RawPath): FileState | null {
    const mode = this.#modes.get(path);
    return mode === undefined ? stateNow(this.#root, path) : `d${mode.toString(8)}`;
  }

  /** Call before anything is written: names of one file stay names of one file if all of them get the same state. */
  noteLinks(items: readonly RestoreItem[]): void {
    for (const { path, want } of items) {
      const stats = this.#statOf(path);
      if (stats?.isFile() && stats.nlink > 1) this.#links.set(path, `${stats.dev}:${stats.ino} ${want}`);
    }
  }

  /** Removes drafts that an undo left when it was killed. Never fails: what it cannot remove stays. */
  removeDrafts(directory: RawPath): void {
    try {
      for (const name of readdirSync(this.#system(directory), { encoding: 'latin1' })) {
        const path = directory === '' ? name : `${directory}/${name}`;
        if (DRAFT.test(name) && this.#statOf(path)?.isDirectory() === false) unlinkSync(this.#system(path));
      }
    } catch {
      // The directory is to be made, or is not ours to read.
    }
  }

  /** Throws if it is a directory that is not empty: something else was put there. */
  remove(path: RawPath, now: FileState | null): void {
    this.#openParents(path);
    this.#modes.delete(path);
    if (!isDirectoryState(now)) unlinkSync(this.#system(path));
    else if (readdirSync(this.#system(path)).length > 0) throw new Error('it holds something else');
    else rmdirSync(this.#system(path));
  }

  write(path: RawPath, want: FileState, objects: ObjectStore): void {
    const [kind = '', id = ''] = want.split(' ');
    const content = isDirectoryState(want) ? null : objects.read(id);
    const above = parentsOf(path).find((one) => this.#statOf(one)?.isSymbolicLink());
    if (above !== undefined) throw new Error(`${above} is a link`);
    this.#openParents(path);
    const end = path.lastIndexOf('/');
    const parent = end < 0 ? '' : path.slice(0, end);
    mkdirSync(this.#system(parent), { recursive: true, mode: PARENT_MODE });
    const mode = Number.parseInt(kind.slice(1), 8) & MODE_BITS;
    if (content === null) {
      if (this.#statOf(path)?.isDirectory() !== true) mkdirSync(this.#system(path), { mode: mode | 0o700 });
      this.#modes.set(path, mode);
      return;
    }
    this.#drafts += 1;
    const name = `.contextd-undo-${this.#run}-${this.#drafts}`;
    const draft = this.#system(parent === '' ? name : `${parent}/${name}`);
    try {
      const link = this.#links.get(path);
      const other = link === undefined ? undefined : this.#written.get(link);
      if (kind === 'l') symlinkSync(content, draft);
      else if (other !== undefined) linkSync(this.#system(other), draft);
      else {
        writeFileSync(draft, content, { flag: 'wx', mode: 0o600 });
        chmodSync(draft, mode);
      }
      renameSync(draft, this.#system(path));
      if (link !== undefined && other === undefined) this.#written.set(link, path);
    } catch (cause) {
      try {
        unlinkSync(draft);
      } catch {
        // It was never made.
      }
      throw cause;
    }
  }

  /** Gives the directories their modes, the deepest first. Returns why one does not have it. */
  setModes(): Map<RawPath, string> {
    const failed = new Map<RawPath, string>();
    for (const [path, mode] of [...this.#modes].sort(([a], [b]) => b.length - a.length)) {
      try {
        this.#setMode(path, mode);
      } catch (cause) {
        failed.set(path, cause instanceof Error ? cause.message : String(cause));
      }
    }
    return failed;
  }

  #setMode(path: RawPath, mode: number): void {
    const stats = this.#statOf(path);
    if (stats === null || (stats.mode & MODE_BITS) === mode) return;
    const fd = openPlace(this.#pathOf(path));
    if (fd === null) return;
    try {
      chmodSync(fdPath(fd), (stats.mode & IDENTITY_BITS) | mode);
    } finally {
      closeSync(fd);
    }
  }

  /** The outermost first: one that is closed hides those in it. */
  #openParents(path: RawPath): void {
    for (const parent of ['', ...parentsOf(path)]) this.#open(parent);
  }

  /** Lets the owner write in a directory until `setModes`. */
  #open(directory: RawPath): void {
    const stats = this.#statOf(directory);
    if (stats?.isDirectory() !== true || (stats.mode & 0o700) === 0o700) return;
    if (!this.#modes.has(directory)) this.#modes.set(directory, stats.mode & MODE_BITS);
    reopenDirectory(this.#pathOf(directory));
  }

  #statOf(path: RawPath): Stats | null {
    try {
      return lstatSync(this.#system(path));
    } catch {
      return null;
    }
  }

  #system(path: RawPath): Buffer {
    return Buffer.from(this.#pathOf(path), 'latin1');
  }

  #pathOf(path: RawPath): RawPath {
    return path === '' ? this.#root : `${this.#root}/${path}`;
  }
}

/** The directories above it in the workspace, the outermost first. */
function parentsOf(path: RawPath): RawPath[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
