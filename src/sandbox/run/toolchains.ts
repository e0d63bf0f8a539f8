import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import { SYSTEM_PLACES } from '../../fs/system-places.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { SandboxPolicy, Toolchains } from '../contract/policy.ts';
import type { Bubblewrap } from '../machine/facts.ts';
import { binDirsOf } from '../machine/host.ts';
import type { Identity } from '../machine/identity.ts';
import { STANDARD_PATH } from '../machine/mount-plan.ts';
import { canReach } from '../machine/reach.ts';

/**
 * Mounts of the usable toolchains. Skips paths that are gone or now resolve elsewhere, and paths in writable trees,
 * which are visible anyway. Pinned, because commands of another project may be able to replace a path by a link to
 * anything.
 */
export function mountToolchains(
  { mounts, hidden }: Toolchains,
  writable: readonly string[],
  { bubblewrap, identity, emptyFile }: ToolchainPlace,
): Mount[] {
  const usable = mounts.filter((path) => !writable.some((tree) => isWithin(tree, path)) && realOrNull(path) === path);
  const covered = hidden.filter((path) => usable.some((mount) => isWithin(mount, path)) && existsSync(path));
  return [
    ...usable.map(
      (path): Mount => ({ kind: 'ro-bind', source: path, dest: path, pin: canPin(path, bubblewrap, identity) }),
    ),
    ...covered.map((path): Mount => ({ kind: 'ro-bind', source: emptyFile, dest: path })),
  ];
}

/** What mounting toolchains needs from the host. */
interface ToolchainPlace {
  readonly bubblewrap: Bubblewrap;
  readonly identity: Identity;
  readonly emptyFile: string;
}

/**
 * bubblewrap cannot mount a descriptor of a path that its user cannot reach. Such a path is mounted by name, which is
 * safe: only its owner can replace it.
 */
function canPin(path: string, { features }: Bubblewrap, identity: Identity): boolean {
  return features.bindFd && (identity.kind !== 'owner' || canReach(path, identity.uid, identity.gid));
}

/** Entries of the person's PATH that are visible in a sandbox with these mounts. */
export function searchPathOf({ path }: Toolchains, mounts: readonly Mount[]): string[] {
  return path.filter((entry) => isVisible(entry, mounts));
}

function isVisible(path: string, mounts: readonly Mount[]): boolean {
  return (
    SYSTEM_PLACES.some((place) => isWithin(place, path)) ||
    mounts.some(({ kind, dest }) => kind === 'ro-bind' && isWithin(dest, path))
  );
}

/** Entries of the person's PATH whose programs a command can run but not change, in any project. */
export function readOnlyPathOf(toolchains: Toolchains): string[] {
  const mounts = toolchains.mounts.map((path): Mount => ({ kind: 'ro-bind', source: path, dest: path }));
  return searchPathOf(toolchains, mounts);
}

/** Path of a program on the person's PATH that is missing in a sandbox with these mounts; null if not found. */
export function findOnHost(name: string, { hostPath }: Toolchains, mounts: readonly Mount[]): string | null {
  if (!/^[\w.+-]{1,100}$/.test(name) || /^\.*$/.test(name)) return null;
  for (const entry of hostPath) {
    const program = join(entry, name);
    if (isExecutable(program) && !isVisible(program, mounts)) return program;
  }
  return null;
}

/**
 * Returns a predicate: whether commands of a policy have a program, by name on their PATH or by path. A relative path
 * is inside a repository, where commands find what the host finds.
 */
export function programsOf({
  roPaths,
  toolchains,
  allowedPaths = [],
  workspace,
}: Pick<SandboxPolicy, 'roPaths' | 'toolchains' | 'allowedPaths' | 'workspace'>): (program: string) => boolean {
  const visible = [...SYSTEM_PLACES, ...roPaths, ...(toolchains?.mounts ?? []), workspace.path, ...allowedPaths];
  const isInside = (path: string): boolean => visible.some((place) => isWithin(place, path));
  const has = (path: string): boolean => {
    const real = isInside(path) && isExecutable(path) ? realOrNull(path) : null;
    return real !== null && isInside(real);
  };
  const onPath = [...binDirsOf(roPaths), ...(toolchains?.path ?? []), ...STANDARD_PATH];
  return (program) => {
    if (program.startsWith('/')) return has(program);
    return program.includes('/') || onPath.some((dir) => has(join(dir, program)));
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
