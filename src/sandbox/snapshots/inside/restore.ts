import { randomBytes } from 'node:crypto';
import {
  chmodSync,
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
import { reopenDirectory } from '../../workspace/file-access.ts';
import type { RawPath } from '../../workspace/raw-path.ts';
import { type FileState, HIDDEN, type RestoreItem, type RestoreReply } from '../messages.ts';
import { stateNow } from './disk.ts';
import type { ObjectStore } from './object-store.ts';

/** `.contextd-undo-<16 hex digits of the run>-<number>` */
const DRAFT = /^\.contextd-undo-[0-9a-f]{16}-\d+$/;
const DRAFT_RUN_BYTES = 8;

type Refused = RestoreReply['conflicts'][number];

/** Puts files back, each by a rename. Writes nothing if a file is not what the caller saw. */
export function restore(root: string, objects: ObjectStore, items: readonly RestoreItem[]): RestoreReply {
  const place = new Place(root, new Set(items.filter(({ want }) => want === null).map(({ path }) => path)));
  const conflicts = items.flatMap((item): Refused[] => {
    const why = place.conflict(item);
    return why === null ? [] : [{ path: item.path, why }];
  });
  if (conflicts.length > 0) return { restored: [], conflicts, failed: [] };
  for (const directory of new Set(items.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/'))))))
    place.removeDrafts(directory);
  const restored: RawPath[] = [];
  const failed: Refused[] = [];
  // A file may take the place of a directory, and the other way round: what goes, goes first, the deepest first.
  const removals = items.filter(({ want }) => want === null).sort((a, b) => b.path.length - a.path.length);
  for (const item of [...removals, ...items.filter(({ want }) => want !== null)]) {
    try {
      if (item.want === null) place.remove(item.path);
      else place.write(item.path, item.want, objects);
      restored.push(item.path);
    } catch (cause) {
      failed.push({ path: item.path, why: cause instanceof Error ? cause.message : String(cause) });
    }
  }
  return { restored, conflicts, failed };
}

class Place {
  readonly #root: string;
  readonly #run = randomBytes(DRAFT_RUN_BYTES).toString('hex');
  readonly #removals: ReadonlySet<RawPath>;
  #drafts = 0;

  /** `removals`: what goes before anything is written. */
  constructor(root: string, removals: ReadonlySet<RawPath>) {
    this.#root = root;
    this.#removals = removals;
  }

  conflict({ path, now }: RestoreItem): string | null {
    const parts = path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..')) return 'it is no path in the workspace';
    if (parts.includes('.git')) return 'it belongs to a repository';
    for (const parent of parentsOf(path)) {
      const stats = this.#statOf(parent);
      if (stats?.isSymbolicLink()) {
        if (this.#removals.has(parent)) break;
        return `${parent} is a link now`;
      }
      // The call closed the directory, and nobody can have changed the file behind it.
      if (now === HIDDEN && stats?.isDirectory()) reopenDirectory(`${this.#root}/${parent}`);
    }
    return now === HIDDEN || stateNow(this.#root, path) === now ? null : 'it was changed since';
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

  remove(path: RawPath): void {
    unlinkSync(this.#system(path));
    // Directories that hold nothing any more were made for the file.
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      try {
        rmdirSync(this.#system(path.slice(0, end)));
      } catch {
        return;
      }
    }
  }

  write(path: RawPath, want: FileState, objects: ObjectStore): void {
    const [kind = '', id = ''] = want.split(' ');
    const content = objects.read(id);
    const link = parentsOf(path).find((one) => this.#statOf(one)?.isSymbolicLink());
    if (link !== undefined) throw new Error(`${link} is a link`);
    const end = path.lastIndexOf('/');
    const parent = end < 0 ? '' : path.slice(0, end);
    mkdirSync(this.#system(parent), { recursive: true });
    this.#drafts += 1;
    const name = `.contextd-undo-${this.#run}-${this.#drafts}`;
    const draft = this.#system(parent === '' ? name : `${parent}/${name}`);
    try {
      if (kind === 'l') symlinkSync(content, draft);
      else {
        writeFileSync(draft, content, { flag: 'wx', mode: 0o600 });
        chmodSync(draft, Number.parseInt(kind.slice(1), 8) & 0o777);
      }
      if (this.#statOf(path)?.isDirectory()) rmdirSync(this.#system(path));
      renameSync(draft, this.#system(path));
    } catch (cause) {
      try {
        unlinkSync(draft);
      } catch {
        // It was never made.
      }
      throw cause;
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

/** The directories above it in the workspace, the outermost first. */
function parentsOf(path: RawPath): RawPath[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
