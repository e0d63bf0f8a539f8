import { ContextdError } from '../../core/errors.ts';
import type { PinnedPath } from '../jail/launch.ts';

/** `details.reason` if the workspace is no longer the directory that was checked. */
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

/** Maximum number of attempts to build a sandbox while the project changes. */
const ATTEMPTS_MAX = 4;

/** Retries if the project was changed while the sandbox was being built: nothing has run by then. */
export async function retryIfReplaced<T>(attempt: () => Promise<T>, left = ATTEMPTS_MAX - 1): Promise<T> {
  return attempt().catch((cause: unknown) => {
    if (left === 0 || !wasReplacedMeanwhile(cause)) throw cause;
    return retryIfReplaced(attempt, left - 1);
  });
}

function wasReplacedMeanwhile(cause: unknown): boolean {
  if (cause instanceof ContextdError && cause.details.reason === WORKSPACE_REPLACED) return true;
  const stderr = cause instanceof ContextdError && cause.cause instanceof Error ? cause.cause.message : '';
  return /^contextd: .* was replaced$|^bwrap: (Can't (find|get type of) source |Can't bind mount |Race condition binding dirfd)/m.test(
    stderr,
  );
}
