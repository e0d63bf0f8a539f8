import type { RawPath } from '../../fs/raw-path.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';

/**
 * Those of these paths of a project that git ignores, as `git status` sees it: a tracked file is not ignored. The path of a
 * directory ends with a slash; no path need exist. git runs in the sandbox of the keeper of files and reads no configuration
 * of the project: on the host it would run what that names. Throws SANDBOX_UNAVAILABLE.
 */
export async function ignoredByGit(
  project: string,
  paths: readonly RawPath[],
  sandbox: Pick<Sandbox, 'snapshot'>,
): Promise<ReadonlySet<RawPath>> {
  if (paths.length === 0) return new Set();
  const reply = await sandbox.snapshot(project, { do: 'ignored', paths });
  return new Set(reply?.ignored ?? []);
}
