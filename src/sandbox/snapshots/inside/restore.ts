import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import type { RawPath } from '../../workspace/raw-path.ts';
import type { FileState, RestoreItem, RestoreReply } from '../messages.ts';
import { stateOf } from './file-tree.ts';
import { idOf, type ObjectStore } from './object-store.ts';

const DRAFT = /^\.contextd-undo-\d+-\d+$/;

type Refused = RestoreReply['conflicts'][number];

/** Puts files back, each by a rename. Writes nothing if a file is not what the caller saw. */
export function restore(root: string, objects: ObjectStore, items: readonly RestoreItem[]): RestoreReply {
  const place = new Place(root);
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
  #drafts = 0;

  constructor(root: string) {
    this.#root = root;
  }

  conflict({ path, now }: RestoreItem): string | null {
    const parts = path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..')) return 'it is no path in the workspace';
    if (parts.includes('.git')) return 'it belongs to a repository';
    for (let end = 1; end < parts.length; end++) {
      const parent = parts.slice(0, end).join('/');
      if (this.#statOf(parent)?.isSymbolicLink()) return `${parent} is a link now`;
    }
    return this.#stateOf(path) === now ? null : 'it was changed since';
  }

  /** Those that an undo left that was killed. */
  removeDrafts(directory: RawPath): void {
    const names = this.#statOf(directory)?.isDirectory()
      ? readdirSync(this.#system(directory), { encoding: 'latin1' })
      : [];
    for (const name of names)
      if (DRAFT.test(name)) unlinkSync(this.#system(directory === '' ? name : `${directory}/${name}`));
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
    const end = path.lastIndexOf('/');
    const parent = end < 0 ? '' : path.slice(0, end);
    mkdirSync(this.#system(parent), { recursive: true });
    this.#drafts += 1;
    const name = `.contextd-undo-${process.pid}-${this.#drafts}`;
    const draft = this.#system(parent === '' ? name : `${parent}/${name}`);
    try {
      if (kind === 'l') symlinkSync(content, draft);
      else {
        writeFileSync(draft, content, { flag: 'wx', mode: 0o600 });
        chmodSync(draft, Number.parseInt(kind.slice(1), 8) & 0o777);
      }
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

  #stateOf(path: RawPath): FileState | null {
    const stats = this.#statOf(path);
    if (stats === null || stats.isDirectory()) return null;
    if (stats.isSymbolicLink()) return stateOf(stats, idOf(readlinkSync(this.#system(path), { encoding: 'buffer' })));
    return stats.isFile() ? stateOf(stats, idOf(readFileSync(this.#system(path)))) : 'special';
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
