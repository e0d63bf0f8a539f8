import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import type { Identity } from './identity.ts';
import type { Mount } from './policy.ts';
import type { Bubblewrap } from './probe/facts.ts';
import { canReach } from './reach.ts';
import type { Toolchains } from './sandbox-policy.ts';

/** What every sandbox has. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64'];

/**
 * The mounts of toolchains that can be used now. Left out are paths that are gone or lead somewhere else by now, and
 * paths in writable trees, which are visible anyway. Pinned, because commands of another project may be able to replace
 * a path by a link to anything.
 */
export function mountToolchains(
  { mounts, hidden }: Toolchains,
  writable: readonly string[],
  { bubblewrap, identity, emptyFile }: ToolchainPlace,
): Mount[] {
  const usable = mounts.filter((path) => !writable.some((tree) => holds(tree, path)) && realOrNull(path) === path);
  const covered = hidden.filter((path) => usable.some((mount) => holds(mount, path)) && existsSync(path));
  return [
    ...usable.map(
      (path): Mount => ({ kind: 'ro-bind', source: path, dest: path, pin: canPin(path, bubblewrap, identity) }),
    ),
    ...covered.map((path): Mount => ({ kind: 'ro-bind', source: emptyFile, dest: path })),
  ];
}

/** Where toolchains are mounted. */
interface ToolchainPlace {
  readonly bubblewrap: Bubblewrap;
  readonly identity: Identity;
  readonly emptyFile: string;
}

/**
 * bubblewrap cannot mount a descriptor of what its user cannot reach. Such a path is mounted by its name instead: nobody
 * but its owner can replace it.
 */
function canPin(path: string, { features }: Bubblewrap, identity: Identity): boolean {
  return features.bindFd && (identity.kind !== 'owner' || canReach(path, identity.uid, identity.gid));
}

/** The person's PATH as far as a sandbox with these mounts has it. */
export function searchPathOf({ path }: Toolchains, mounts: readonly Mount[]): string[] {
  return path.filter((entry) => isVisible(entry, mounts));
}

function isVisible(path: string, mounts: readonly Mount[]): boolean {
  return (
    SYSTEM.some((place) => holds(place, path)) ||
    mounts.some(({ kind, dest }) => kind === 'ro-bind' && holds(dest, path))
  );
}

/** The person's PATH as far as a command can run its programs and not change them, whatever the project. */
export function readOnlyPathOf(toolchains: Toolchains): string[] {
  const mounts = toolchains.mounts.map((path): Mount => ({ kind: 'ro-bind', source: path, dest: path }));
  return searchPathOf(toolchains, mounts);
}

/** Where the person's PATH has a program that a sandbox with these mounts does not have; null if nowhere. */
export function findOnHost(name: string, { hostPath }: Toolchains, mounts: readonly Mount[]): string | null {
  if (!/^[\w.+-]{1,100}$/.test(name) || /^\.*$/.test(name)) return null;
  for (const entry of hostPath) {
    const program = join(entry, name);
    if (isExecutable(program) && !isVisible(program, mounts)) return program;
  }
  return null;
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

function holds(outer: string, inner: string): boolean {
  return outer === inner || inner.startsWith(`${outer}/`);
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
