import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import type { Branches } from '../branches/branches.ts';
import type { Network } from '../network/network.ts';
import type { Outside } from './outside.ts';

export interface StillAllowedDeps {
  projects: Pick<ProjectStore, 'roots' | 'notRegistered'>;
  branches: Pick<Branches, 'layersOf'>;
  outside: Pick<Outside, 'decidedFor'>;
  network: Pick<Network, 'isOn'>;
}

/**
 * The policy that an earlier daemon made for a call that it still runs, without what a person has taken back since. Throws
 * PERMISSION_DENIED if the project is no longer registered, and CONFLICT if its branch is closed.
 */
export function stillAllowed(
  policy: SandboxPolicy,
  { projects, branches, outside, network }: StillAllowedDeps,
): SandboxPolicy {
  const { path: project, layer } = policy.workspace;
  if (!projects.roots().includes(project)) throw projects.notRegistered('PERMISSION_DENIED', project);
  if (layer !== null) branches.layersOf({ branch: layer.at(-1) ?? null });
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
    network: network.isOn(project) ? policy.network : 'none',
  };
}
