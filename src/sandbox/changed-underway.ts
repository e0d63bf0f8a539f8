import { ContextdError } from '../core/errors.ts';
import { isDirectoryOf } from './directory-identity.ts';
import type { PinnedPath } from './launch.ts';
import type { Site } from './sites.ts';

/** One more try when the project was changed while the sandbox was being built: nothing has run then. */
export async function onceMore<T>(attempt: () => Promise<T>): Promise<T> {
  return attempt().catch((cause: unknown) => {
    if (!wasChangedUnderway(cause)) throw cause;
    return attempt();
  });
}

/** A protected path was taken away or replaced while the sandbox was being built: nothing has run, and another try helps. */
function wasChangedUnderway(cause: unknown): boolean {
  if (cause instanceof ContextdError && cause.details.reason === WORKSPACE_REPLACED) return true;
  const said = cause instanceof ContextdError && cause.cause instanceof Error ? cause.cause.message : '';
  return /^bwrap: (Can't (find|get type of) source |Can't bind mount |Race condition binding dirfd)/m.test(said);
}

/** `details.reason` when the workspace is not the directory that was checked. */
const WORKSPACE_REPLACED = 'workspace_replaced';

/** What protects one directory must not be mounted over another that took its place meanwhile. */
export function checkWorkspace({ policy, directory }: Site, pinned: readonly PinnedPath[]): void {
  const root = pinned.find(({ path }) => path === policy.workspace);
  if (root === undefined || isDirectoryOf(directory, root)) return;
  throw new ContextdError('SANDBOX_UNAVAILABLE', `${policy.workspace} was replaced while a sandbox was being started`, {
    remedy: 'Call again once the project folder stays in its place.',
    details: { reason: WORKSPACE_REPLACED },
  });
}
