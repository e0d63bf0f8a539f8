import { posix } from 'node:path';
import type { Mount } from '../policy.ts';

/** What is mounted in a sandbox, as absolute paths. The most specific one decides about a path. */
export interface MountedPlaces {
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
  /** Covered by a deny glob. */
  readonly hidden: readonly string[];
  /** Everything else that is mounted: /proc and the like. */
  readonly visible: readonly string[];
}

export interface Place {
  readonly kind: 'writable' | 'read_only' | 'hidden' | 'visible' | 'absent';
  /** The mount that decides; `/` when there is none. */
  readonly root: string;
}

/** The places of a planned tree; `hidden` are those of its mounts that cover what a deny glob matched. */
export function placesOf(mounts: readonly Mount[], hidden: readonly string[]): MountedPlaces {
  const kinds = new Map<string, 'writable' | 'readOnly' | 'visible'>();
  for (const mount of mounts) {
    const kind = kindOf(mount);
    if (kind !== null) kinds.set(mount.dest, kind);
  }
  const withKind = (kind: string): string[] => [...kinds].flatMap(([dest, own]) => (own === kind ? [dest] : []));
  return { writable: withKind('writable'), readOnly: withKind('readOnly'), visible: withKind('visible'), hidden };
}

function kindOf(mount: Mount): 'writable' | 'readOnly' | 'visible' | null {
  switch (mount.kind) {
    case 'bind':
    case 'dev-bind':
    case 'tmpfs':
      return 'writable';
    case 'ro-bind':
    case 'symlink':
    case 'remount-ro':
      return 'readOnly';
    case 'proc':
    case 'dev':
      return 'visible';
    case 'dir':
      return null;
  }
}

/** Finds the mount that a path lies under. */
export class PlaceMap {
  readonly #kinds = new Map<string, Place['kind']>();
  /** Directories that exist because a mount lies below them. */
  readonly #ways = new Set<string>();

  constructor(places: MountedPlaces) {
    this.#add('visible', places.visible);
    this.#add('read_only', places.readOnly);
    this.#add('writable', places.writable);
    this.#add('hidden', places.hidden);
  }

  /** `path` is absolute and normal. Under the root itself nothing is mounted: `absent`. */
  find(path: string): Place {
    for (let root = path; root !== '/'; root = posix.dirname(root)) {
      const kind = this.#kinds.get(root);
      if (kind !== undefined) return { kind, root };
    }
    return { kind: 'absent', root: '/' };
  }

  /** True for the root, and for what leads to a mount. */
  isWay(path: string): boolean {
    return path === '/' || this.#ways.has(path);
  }

  #add(kind: Place['kind'], roots: readonly string[]): void {
    for (const root of roots) {
      this.#kinds.set(root, kind);
      for (let way = posix.dirname(root); !this.isWay(way); way = posix.dirname(way)) this.#ways.add(way);
    }
  }
}
