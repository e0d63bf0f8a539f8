import { ContextdError } from '../../core/errors.ts';
import type { HostNetwork, SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import type { Branches } from '../branches/branches.ts';
import type { HostNetworks } from '../network/host-network.ts';
import type { Network } from '../network/network.ts';
import type { Outside } from './outside.ts';

export interface StillAllowedDeps {
  projects: Pick<ProjectStore, 'roots' | 'notRegistered'>;
  branches: Pick<Branches, 'layersOf'>;
  outside: Pick<Outside, 'decidedFor'>;
  hostNetworks: Pick<HostNetworks, 'part'>;
  network: Pick<Network, 'isOn' | 'placeholdersFor'>;
}

/**
 * The policy that an earlier daemon made for a call that it still runs, without what a person has taken back since. Throws
 * PERMISSION_DENIED if the project is no longer registered, and CONFLICT if its branch is closed.
 */
export function stillAllowed(
  policy: SandboxPolicy,
  { projects, branches, outside, hostNetworks, network }: StillAllowedDeps,
): SandboxPolicy {
  const { path: project, layer } = policy.workspace;
  if (!projects.roots().includes(project)) throw projects.notRegistered('PERMISSION_DENIED', project);
  const branch = layer?.at(-1) ?? null;
  // Branches that were closed before this daemon started are unknown to it.
  if (branch !== null && branches.layersOf({ branch }) === null) throw closed(branch);
  const { paths, toolchains } = outside.decidedFor(project);
  const mounts = new Set(toolchains.flatMap((toolchain) => toolchain.mounts));
  const { repository, ...rest } = policy;
  return {
    ...rest,
    ...(repository !== undefined && paths.includes(repository) && { repository }),
    ...(policy.allowedPaths && { allowedPaths: policy.allowedPaths.filter((path) => paths.includes(path)) }),
    ...(policy.toolchains && {
      toolchains: { ...policy.toolchains, mounts: policy.toolchains.mounts.filter((mount) => mounts.has(mount)) },
    }),
    ...(policy.hostNetwork && {
      hostNetwork: shared(policy.hostNetwork, hostNetworks.part(), network.placeholdersFor(project)),
    }),
    network: network.isOn(project) ? policy.network : 'none',
  };
}

/** What both have. `placeholders`: variables that stand for credentials of the project. */
function shared(before: HostNetwork, now: HostNetwork, placeholders: Readonly<Record<string, string>>): HostNetwork {
  const variables = { ...now.variables, ...placeholders };
  return {
    certificates: before.certificates.filter((pem) => now.certificates.includes(pem)),
    caVariables: before.caVariables.filter((name) => now.caVariables.includes(name)),
    variables: Object.fromEntries(
      Object.entries(before.variables).filter(([name, value]) => variables[name] === value),
    ),
    homeFiles: before.homeFiles.filter(({ path, text }) =>
      now.homeFiles.some((file) => file.path === path && file.text === text),
    ),
  };
}

function closed(branch: string): ContextdError {
  return new ContextdError('CONFLICT', `branch ${branch} is closed, and so are its files`, {
    remedy: 'Leave "branch" out, or open another branch.',
  });
}
