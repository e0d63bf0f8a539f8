import { lstatSync } from 'node:fs';
import type { Denial } from '../../core/envelope.ts';
import { isWithin } from '../../core/paths.ts';
import type { TreeProtection } from '../../guard/client/guard-set.ts';
import type { CommandSpec } from '../contract/command.ts';
import { mergeDenials } from '../denials/deduplicate.ts';
import { type DenialFacts, findDenials, placesOf } from '../denials/denials.ts';
import { hookScriptIn } from '../denials/install-hooks.ts';
import { type Surroundings, whyNeverWritable } from '../machine/mountable.ts';
import type { CheckedPolicy } from './checked-policy.ts';
import type { StartedSandbox } from './starter.ts';
import { findOnHost } from './toolchains.ts';

/** Refusals of the sandbox. Only recorded network refusals if the command and its parts succeeded with an empty stderr. */
export function denialsOf(
  { policy, isFiltered, repositoryAbove, unshared, surroundings }: CheckedPolicy,
  { hidden, repository }: TreeProtection,
  { mounts, lane }: StartedSandbox,
  { cwd }: CommandSpec,
  { refused, networkFailure, ...end }: RunFacts,
): Denial[] {
  const hasSucceeded = end.exitCode === 0 && end.endedBy === 'exit' && end.pipeStatus.every((status) => status === 0);
  if (hasSucceeded && end.stderr.length === 0) return [...refused];
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
    isAllowable: (directory) => isAllowable(directory, surroundings, repositoryAbove),
    hookScript: () => hookScriptIn([cwd, policy.workspace.path]),
    fileMaxBytes: policy.limits.fileBytes,
    isAtRoot: (name) => lstatSync(`/${name}`, { throwIfNoEntry: false }) !== undefined,
  });
  return mergeDenials([refused, refused.length === 0 ? found : found.filter(isNotUnnamed)]);
}

/** Of the directories that hold the project, only the repository around it. */
function isAllowable(directory: string, surroundings: Surroundings, repositoryAbove: string | null): boolean {
  if (isWithin(directory, surroundings.root) && directory !== repositoryAbove) return false;
  return whyNeverWritable(directory, surroundings) === null;
}

/** Only commands of a project have a network by default; tools request one in their tool.json. */
function isOff({ network, git }: CheckedPolicy['policy']): boolean {
  return network === 'none' && git === 'working';
}

interface RunFacts extends Pick<DenialFacts, 'exitCode' | 'endedBy' | 'pipeStatus' | 'stdout' | 'stderr'> {
  /** Recorded refusals of the network. */
  readonly refused: readonly Denial[];
  /** Why the network is down for all sandboxes; null if it is up. */
  readonly networkFailure: string | null;
}

/** A network complaint without a host is already covered by a recorded connection. */
function isNotUnnamed({ kind, host }: Denial): boolean {
  return kind !== 'network' || host !== undefined;
}
