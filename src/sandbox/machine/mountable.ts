import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Paths } from '../../config/paths.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import { BUNDLE_DIR, NODE_BINARY } from '../contract/places.ts';

/** The sandbox's own places: a workspace there, or one that contains them, would cover them. */
const OWN_PLACES = [
  '/usr',
  '/etc',
  '/proc',
  '/sys',
  '/dev',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/run',
  '/tmp',
  '/home/sandbox',
];
const NEVER_BELOW = ['/etc', '/proc', '/sys', '/dev', '/boot', BUNDLE_DIR, NODE_BINARY];

/**
 * The second check after registration: a workspace is a real path and is not the root, a system directory, or next to
 * contextd's own files. Throws PATH_INVALID and PATH_NOT_FOUND.
 */
export function checkWorkspace(workspace: string, paths: Paths): void {
  const remedy = 'Create it, or run `ctxd init` where the project is now.';
  if (realPath(workspace, remedy) !== workspace) throw refuse(workspace, 'it is not a real path');
  if (isWithin(workspace, paths.installRoot)) throw refuse(workspace, 'contextd itself is installed in it');
  checkApart(workspace, paths);
}

/** Checks a read-only directory that a person listed. Throws PATH_INVALID or PATH_NOT_FOUND. */
export function checkRoPath(path: string, paths: Paths): void {
  realPath(path, 'Create it, or remove it from `sandbox.ro_paths`.');
  checkApart(path, paths);
}

function checkApart(path: string, paths: Paths): void {
  const own = [paths.configDir, paths.dataDir, paths.stateDir, paths.runDir, paths.userGitleaksDir];
  const near = own.find((dir) => isWithin(dir, path) || isWithin(path, dir));
  if (near !== undefined) throw refuse(path, `contextd keeps its own files in ${near}`);
  const covered = coveredBy(path);
  if (covered !== undefined) throw refuse(path, `${covered} is a system directory`);
}

function coveredBy(path: string): string | undefined {
  return OWN_PLACES.find((place) => isWithin(path, place)) ?? NEVER_BELOW.find((place) => isWithin(place, path));
}

/** Directories in the home in which programs keep keys and settings that other programs act on. */
const PRIVATE = ['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.config', '.mozilla', '.password-store'];

export interface Surroundings {
  /** The project. */
  readonly root: string;
  /** Real paths of the homes of the person who runs contextd and of the project's owner. */
  readonly homes: readonly string[];
  readonly paths: Paths;
  /** Directories of toolchains. */
  readonly toolchains: readonly string[];
}

/**
 * Why commands of a project may never write a directory outside it, as far as its path says; null if a person can allow it.
 * Looks at no file, so that an advice that follows from it does not reveal which files the host has.
 */
export function whyNeverWritable(path: string, { root, homes, paths, toolchains }: Surroundings): string | null {
  const own = ownPlaces(paths).find((place) => isWithin(place, path) || isWithin(path, place));
  if (own !== undefined) return `contextd keeps its own files in ${own}`;
  if (isWithin(root, path)) return 'it lies in the project, where commands can write already';
  // `/srv`, `/var/lib` and the like belong to no project.
  if (path === '/' || dirname(path) === '/' || dirname(path) === '/var' || coveredBy(path) !== undefined)
    return 'it is a directory of the system';
  for (const home of homes) {
    if (isWithin(path, home)) return `it is the home directory ${home} or holds it`;
    if (dirname(path) === home && basename(path).startsWith('.'))
      return 'it is a hidden directory of the home, which holds settings of programs';
    const secret = PRIVATE.map((name) => join(home, name)).find((place) => isWithin(place, path));
    if (secret !== undefined) return `it lies in ${secret}, which holds keys and settings`;
  }
  // The repository around the project: commands read it, and write its git directory only.
  if (isWithin(path, root)) return null;
  const programs = toolchains.find((mount) => isWithin(path, mount) || isWithin(mount, path));
  return programs === undefined ? null : `it overlaps ${programs}, whose programs commands run`;
}

/** CONTEXTD_HOME if everything is in it, and the four directories. */
function ownPlaces({ configDir, dataDir, stateDir, runDir, userGitleaksDir, installRoot }: Paths): string[] {
  const home = dirname(configDir);
  const isOne = dirname(dataDir) === home && dirname(stateDir) === home;
  return [...(isOne ? [home] : []), configDir, dataDir, stateDir, runDir, userGitleaksDir, installRoot];
}

function realPath(path: string, remedy: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    throw new ContextdError('PATH_NOT_FOUND', `${path} does not exist`, {
      remedy,
      cause,
    });
  }
}

function refuse(path: string, why: string): ContextdError {
  return new ContextdError('PATH_INVALID', `${path} cannot be mounted into a sandbox: ${why}`, {
    remedy: 'Use a directory of your own, neither the system’s nor contextd’s.',
  });
}
