import type { Mount } from '../policy.ts';
import type { RawPath } from './raw-path.ts';

/** One protected path that exists. */
export interface ProtectedEntry {
  readonly path: string;
  /** The writable tree it lies in: the workspace, or a worktree's common git directory. */
  readonly root: string;
  /** Text of the link, when the path is a symbolic link: it cannot be mounted over, only checked afterwards. */
  readonly link: string | null;
}

/** One match of a deny glob that exists. */
export interface HiddenEntry {
  readonly path: string;
  readonly kind: 'file' | 'dir';
}

export interface LinkState {
  readonly text: RawPath;
  /** Where it leads in the end; null when nowhere. */
  readonly target: RawPath | null;
  /** Of what is there: another directory may take its place under the same path. */
  readonly targetIdentity: string;
}

/** What the mounts keep a run from changing. */
export interface Cover {
  /** Read-only and hidden paths, each with the identity of what is there. */
  readonly mounted: ReadonlyMap<RawPath, string>;
  /** Of everything mounted read-only. */
  readonly identities: ReadonlySet<string>;
  readonly links: ReadonlyMap<RawPath, LinkState>;
}

/** What a sandbox started now has to mount. */
export interface Protection {
  readonly commonGitDir: string | null;
  readonly entries: readonly ProtectedEntry[];
  readonly hidden: readonly HiddenEntry[];
  /** In the order they are to be made: parents before what lies in them. */
  readonly mounts: readonly Mount[];
  /** Changes with any of the above, and with kind, device, inode or link text of anything mounted. */
  readonly fingerprint: string;
  readonly cover: Cover;
}

/** A protection that claims to cover only what all of `covers` do: processes that run already have their own mounts. */
export function narrowCover(protection: Protection, covers: ReadonlySet<Cover>): Protection {
  const { mounted, identities, links } = protection.cover;
  const areAll = (has: (cover: Cover) => boolean) => [...covers].every(has);
  const cover = {
    mounted: new Map([...mounted].filter(([path, one]) => areAll((other) => other.mounted.get(path) === one))),
    identities: new Set([...identities].filter((one) => areAll((other) => other.identities.has(one)))),
    links,
  };
  return { ...protection, cover };
}
