import { lstatSync } from 'node:fs';
import type { Denial } from '../core/envelope.ts';
import type { CheckedPolicy } from './checked-policy.ts';
import { mergeDenials } from './denials/merge.ts';
import { type DenialFacts, findDenials, placesOf } from './denials.ts';
import type { CommandSpec } from './sandbox.ts';
import type { StartedSandbox } from './starter.ts';
import { findOnHost } from './toolchains.ts';
import type { TreeProtection } from './workspace/guard-set.ts';

/** What the sandbox refused: nothing, if the command succeeded and printed nothing on stderr. */
export function denialsOf(
  { policy, isFiltered, repositoryAbove, unshared }: CheckedPolicy,
  { hidden, repository }: TreeProtection,
  { mounts, lane }: StartedSandbox,
  { cwd }: CommandSpec,
  { refused, networkFailure, ...end }: RunFacts,
): Denial[] {
  if (end.exitCode === 0 && end.endedBy === 'exit' && end.stderr.length === 0) return [...refused];
  const seccomp = isFiltered ? policy.seccomp : null;
  const found = findDenials({
    ...end,
    ...placesOf(mounts, hidden),
    cwd,
    workspace: policy.workspace.path,
    repositoryAbove,
    isRepositoryMounted: repository !== null,
    seccomp,
    network: lane !== null ? 'by name' : isOff(policy) ? 'off' : { missing: networkFailure ?? unshared },
    findOnHost: (program) => (policy.toolchains === undefined ? null : findOnHost(program, policy.toolchains, mounts)),
    isAtRoot: (name) => lstatSync(`/${name}`, { throwIfNoEntry: false }) !== undefined,
  });
  return mergeDenials([refused, refused.length === 0 ? found : found.filter(isNotUnnamed)]);
}

/** Only commands of a project have a network by default; tools ask for one in their tool.json. */
function isOff({ network, git }: CheckedPolicy['policy']): boolean {
  return network === 'none' && git === 'working';
}

interface RunFacts extends Pick<DenialFacts, 'exitCode' | 'endedBy' | 'stdout' | 'stderr'> {
  /** What the network refused, as facts. */
  readonly refused: readonly Denial[];
  /** Why nobody has a network at the moment; null otherwise. */
  readonly networkFailure: string | null;
}

/** A message about the network that names no host is about one of the facts. */
function isNotUnnamed({ kind, host }: Denial): boolean {
  return kind !== 'network' || host !== undefined;
}
