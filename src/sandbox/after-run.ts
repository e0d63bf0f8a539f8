import type { Denial } from '../core/envelope.ts';
import type { CheckedPolicy } from './checked-policy.ts';
import { type DenialFacts, findDenials, placesOf } from './denials.ts';
import { directoryIdentity } from './directory-identity.ts';
import type { QuarantineReport } from './quarantine.ts';
import type { CommandSpec } from './sandbox.ts';
import type { StartedSandbox } from './starter.ts';
import type { RunWatch } from './workspace/guard.ts';
import type { Protection } from './workspace/protection.ts';

/** What the sandbox refused: nothing, if the command succeeded and printed nothing on stderr. */
export function denialsOf(
  { policy, isFiltered }: CheckedPolicy,
  { hidden }: Protection,
  { mounts }: StartedSandbox,
  { cwd }: CommandSpec,
  end: Pick<DenialFacts, 'exitCode' | 'endedBy' | 'stdout' | 'stderr'>,
): Denial[] {
  if (end.exitCode === 0 && end.endedBy === 'exit' && end.stderr.length === 0) return [];
  const hiddenPaths = hidden.map(({ path }) => path);
  const seccomp = isFiltered ? policy.seccomp : null;
  return findDenials({
    ...end,
    ...placesOf(mounts, hiddenPaths),
    cwd,
    workspace: policy.workspace.path,
    seccomp,
  });
}

/**
 * What the run created and what was moved away. Nothing if another directory replaced the project meanwhile: the run
 * was in the old one and has nothing to do with the files in the new one.
 */
export async function endWatch(
  { guard, directory, policy }: CheckedPolicy,
  watch: RunWatch,
): Promise<QuarantineReport> {
  if (directoryIdentity(policy.workspace.path) === directory) return guard.finish(watch);
  guard.forget(watch);
  return { quarantined: [], complete: true };
}
