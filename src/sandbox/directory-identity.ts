import { lstatSync, realpathSync, statSync } from 'node:fs';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { PinnedPath } from './launch.ts';

/**
 * Which directory is at a path: device, inode number and time of birth; '' if nothing is there. A directory that replaced
 * another has a different identity, even if it got the same inode number.
 */
export function directoryIdentity(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}

/** A link may lead somewhere else inside the sandbox than outside. */
export function isRealDirectory(path: string): boolean {
  try {
    return realpathSync(path) === path && statSync(path).isDirectory();
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

/** `details.reason` if the workspace is not the directory that was checked. */
const WORKSPACE_REPLACED = 'workspace_replaced';

/** Refuses to mount the protection of one directory over another directory that replaced it in the meantime. */
export function checkNotReplaced(workspace: string, identity: string, pinned: readonly PinnedPath[]): void {
  const root = pinned.find(({ path }) => path === workspace);
  if (root === undefined || isDirectoryOf(identity, root)) return;
  throw new ContextdError('SANDBOX_UNAVAILABLE', `${workspace} was replaced while a sandbox was being started`, {
    remedy: 'Call again once the project folder stays in its place.',
    details: { reason: WORKSPACE_REPLACED },
  });
}

function isDirectoryOf(identity: string, { dev, ino }: { dev: number; ino: number }): boolean {
  const numbers = identity.split(':');
  return Number(numbers[0]) === dev && Number(numbers[1]) === ino;
}

/** Tries once more if the project was changed while the sandbox was being built: nothing has run by then. */
export async function retryIfReplaced<T>(attempt: () => Promise<T>): Promise<T> {
  return attempt().catch((cause: unknown) => {
    if (!wasReplacedMeanwhile(cause)) throw cause;
    return attempt();
  });
}

function wasReplacedMeanwhile(cause: unknown): boolean {
  if (cause instanceof ContextdError && cause.details.reason === WORKSPACE_REPLACED) return true;
  const stderr = cause instanceof ContextdError && cause.cause instanceof Error ? cause.cause.message : '';
  return /^contextd: .* was replaced$|^bwrap: (Can't (find|get type of) source |Can't bind mount |Race condition binding dirfd)/m.test(
    stderr,
  );
}
