import type { LinkState } from '../../fs/file-access.ts';
import type { RawPath } from '../../fs/raw-path.ts';
import type { Mount } from './mount.ts';

/** A protected path that exists. */
export interface ProtectedEntry {
  readonly path: string;
  /** The writable tree around it: the workspace, or a worktree's common git directory. */
  readonly root: string;
  /** Link text if the path is a symlink. Links cannot be mounted over; they are checked after the run. */
  readonly link: string | null;
}

/** An existing path that matches a deny glob. */
export interface HiddenEntry {
  readonly path: string;
  readonly kind: 'file' | 'dir';
}

/** Paths that the mounts of a sandbox protect from its run. */
export interface Cover {
  /** Read-only and hidden paths → identity. */
  readonly mounted: ReadonlyMap<RawPath, string>;
  /** Identities of everything mounted read-only. */
  readonly identities: ReadonlySet<string>;
  readonly links: ReadonlyMap<RawPath, LinkState>;
  /** Writable directories below a read-only path: checkouts. Only mounts inside them protect their contents. */
  readonly open: ReadonlySet<RawPath>;
}

/** The mounts for a sandbox that starts now. */
export interface Protection {
  readonly commonGitDir: string | null;
  /** The git directory of the repository around the workspace, if a person allowed it. */
  readonly enclosingGitDir: string | null;
  readonly entries: readonly ProtectedEntry[];
  readonly hidden: readonly HiddenEntry[];
  /** Configurations of repositories among `entries`, the project's own first. */
  readonly gitConfigs: readonly string[];
  /** In mount order: parents first. */
  readonly mounts: readonly Mount[];
  /** Changes with each field above, and with kind, device, inode or link text of anything mounted. */
  readonly fingerprint: string;
  readonly cover: Cover;
}

/** Limits the cover of a protection to paths that all of `covers` protect: running processes keep their own mounts. */
export function narrowCover(protection: Protection, covers: ReadonlySet<Cover>): Protection {
  const { mounted, identities, links, open } = protection.cover;
  const areAll = (has: (cover: Cover) => boolean) => [...covers].every(has);
  const cover = {
    mounted: new Map([...mounted].filter(([path, one]) => areAll((other) => other.mounted.get(path) === one))),
    identities: new Set([...identities].filter((one) => areAll((other) => other.identities.has(one)))),
    links,
    open: new Set([open, ...[...covers].map((other) => other.open)].flatMap((paths) => [...paths])),
  };
  return { ...protection, cover };
}

/**
 * Mounts that hide paths. /dev/null covers a file (it cannot be opened on a mount without devices), an empty directory
 * covers a directory.
 */
export function hide(hidden: readonly HiddenEntry[]): Mount[] {
  return hidden.flatMap(({ path, kind }): Mount[] =>
    kind === 'file'
      ? [{ kind: 'ro-bind', source: '/dev/null', dest: path }]
      : [
          { kind: 'tmpfs', dest: path, sizeBytes: 4096 },
          { kind: 'remount-ro', dest: path },
        ],
  );
}
