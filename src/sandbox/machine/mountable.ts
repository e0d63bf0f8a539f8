import { realpathSync } from 'node:fs';
import type { Paths } from '../../config/paths.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import { BUNDLE_DIR, NODE_BINARY } from './mount-plan.ts';

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
  const own = [paths.configDir, paths.dataDir, paths.stateDir, paths.runDir];
  const near = own.find((dir) => isWithin(dir, path) || isWithin(path, dir));
  if (near !== undefined) throw refuse(path, `contextd keeps its own files in ${near}`);
  const covered =
    OWN_PLACES.find((place) => isWithin(path, place)) ?? NEVER_BELOW.find((place) => isWithin(place, path));
  if (covered !== undefined) throw refuse(path, `${covered} is a system directory`);
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
