import type { Denial } from '../core/envelope.ts';
import type { CheckedPolicy } from './checked-policy.ts';
import { type DenialFacts, findDenials, placesOf } from './denials.ts';
import type { CommandSpec } from './sandbox.ts';
import type { StartedSandbox } from './starter.ts';
import { findOnHost } from './toolchains.ts';
import type { TreeProtection } from './workspace/guard-set.ts';

/** What the sandbox refused: nothing, if the command succeeded and printed nothing on stderr. */
export function denialsOf(
  { policy, isFiltered, repositoryAbove }: CheckedPolicy,
  { hidden, repository }: TreeProtection,
  { mounts }: StartedSandbox,
  { cwd }: CommandSpec,
  end: Pick<DenialFacts, 'exitCode' | 'endedBy' | 'stdout' | 'stderr'>,
): Denial[] {
  if (end.exitCode === 0 && end.endedBy === 'exit' && end.stderr.length === 0) return [];
  const seccomp = isFiltered ? policy.seccomp : null;
  return findDenials({
    ...end,
    ...placesOf(mounts, hidden),
    cwd,
    workspace: policy.workspace.path,
    repositoryAbove,
    isRepositoryMounted: repository !== null,
    seccomp,
    findOnHost: (program) => (policy.toolchains === undefined ? null : findOnHost(program, policy.toolchains, mounts)),
  });
}
