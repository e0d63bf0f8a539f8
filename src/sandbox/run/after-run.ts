import { lstatSync } from 'node:fs';
import type { Denial } from '../../core/envelope.ts';
import type { TreeProtection } from '../../guard/client/guard-set.ts';
import type { CommandSpec } from '../contract/sandbox.ts';
import { mergeDenials } from '../denials/deduplicate.ts';
import { type DenialFacts, findDenials, placesOf } from '../denials/denials.ts';
import type { CheckedPolicy } from './checked-policy.ts';
import type { StartedSandbox } from './starter.ts';
import { findOnHost } from './toolchains.ts';

/** Refusals of the sandbox. Only recorded network refusals if the command succeeded with an empty stderr. */
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

/** Only commands of a project have a network by default; tools request one in their tool.json. */
function isOff({ network, git }: CheckedPolicy['policy']): boolean {
  return network === 'none' && git === 'working';
}

interface RunFacts extends Pick<DenialFacts, 'exitCode' | 'endedBy' | 'stdout' | 'stderr'> {
  /** Recorded refusals of the network. */
  readonly refused: readonly Denial[];
  /** Why the network is down for all sandboxes; null if it is up. */
  readonly networkFailure: string | null;
}

/** A network complaint without a host is already covered by a recorded connection. */
function isNotUnnamed({ kind, host }: Denial): boolean {
  return kind !== 'network' || host !== undefined;
}
