import type { Mount } from '../policy.ts';
import type { RawPath } from './raw-path.ts';

/** A protected path that exists. */
export interface ProtectedEntry {
  readonly path: string;
  /** The writable tree around it: the workspace, or a worktree's common git directory. */
  readonly root: string;
  /** The text of the link, if the path is a symbolic link. A link cannot be mounted over; it is checked after the run. */
  readonly link: string | null;
}

/** A path that exists and matches a deny glob. */
export interface HiddenEntry {
  readonly path: string;
  readonly kind: 'file' | 'dir';
}

export interface LinkState {
  readonly text: RawPath;
  /** Where it leads in the end; null if nowhere. */
  readonly target: RawPath | null;
  /** The identity of the target: another directory may take its place under the same path. */
  readonly targetIdentity: string;
}

/** The paths that the mounts of a sandbox protect from its run. */
export interface Cover {
  /** Read-only and hidden paths with their identities. */
  readonly mounted: ReadonlyMap<RawPath, string>;
  /** The identities of everything that is mounted read-only. */
  readonly identities: ReadonlySet<string>;
  readonly links: ReadonlyMap<RawPath, LinkState>;
}

/** What a sandbox that starts now must mount. */
export interface Protection {
  readonly commonGitDir: string | null;
  /** The git directory of the repository around the workspace, if a person allowed it. */
  readonly enclosingGitDir: string | null;
  readonly entries: readonly ProtectedEntry[];
  readonly hidden: readonly HiddenEntry[];
  /** The configurations of repositories among `entries`, the project's own first. */
  readonly gitConfigs: readonly string[];
  /** In the order in which they must be made: parents first. */
  readonly mounts: readonly Mount[];
  /** Changes with each field above, and with kind, device, inode or link text of anything mounted. */
  readonly fingerprint: string;
  readonly cover: Cover;
}

/** A protection whose cover is limited to what all of `covers` protect: processes that run already have their own mounts. */
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
