import type { Clock } from '../../core/clock.ts';
import { isBelow } from '../../core/paths.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import { type Consents, pathOfSubject } from '../../stores/consents.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import type { Database } from '../../stores/sqlite.ts';
import { createToolchainStore, type ToolchainStore } from '../../stores/toolchains.ts';
import type { HostNetworks } from '../network/host-network.ts';
import { overlappingProject } from '../projects/project-root.ts';
import { ToolchainSettings } from './toolchain-settings.ts';

export interface OutsideDeps {
  database: Database;
  consents: Pick<Consents, 'list'>;
  projects: Pick<ProjectStore, 'roots'>;
  /** The daemon's own PATH. */
  path: string;
  hostNetworks: Pick<HostNetworks, 'part'>;
  clock: Clock;
}

/** The parts of a policy that are about places outside the workspace. */
export type OutsideParts = Required<Pick<SandboxPolicy, 'toolchains' | 'allowedPaths' | 'hostNetwork'>> &
  Pick<SandboxPolicy, 'repository'>;

/** What commands of a project may use outside it: toolchains, directories and the settings of network clients. */
export interface Outside {
  readonly toolchains: ToolchainStore;
  start(): Promise<void>;
  partsFor(project: string): OutsideParts;
  /** What a person allowed, without what is found on the disk: it costs no look at a file. */
  decidedFor(project: string): {
    toolchains: ReturnType<ToolchainStore['list']>;
    path: readonly string[];
    paths: readonly string[];
  };
  /**
   * Directories that commands may write, and the repository around the project if they may use it. Sorted. An allowed
   * directory that overlaps a project registered later is left out: that project's files are its own.
   */
  pathsOf(project: string): string[];
}

export function createOutside({ database, consents, projects, path, hostNetworks, clock }: OutsideDeps): Outside {
  const toolchains = createToolchainStore({ database, clock });
  const settings = new ToolchainSettings();
  const pathsOf = (project: string): string[] =>
    consents
      .list(project)
      .flatMap(({ subject }) => pathOfSubject(subject) ?? [])
      .filter((one) => isAround(project, one) || overlappingProject(one, projects.roots(), project) === undefined);
  return {
    toolchains,
    start: () => toolchains.start(),
    pathsOf,
    decidedFor: (project) => ({ toolchains: toolchains.list(), path: toolchains.path(), paths: pathsOf(project) }),
    partsFor(project) {
      const list = toolchains.list();
      const paths = pathsOf(project);
      const repository = paths.find((path) => isAround(project, path));
      const stored = toolchains.path();
      const mounts = list.flatMap((toolchain) => toolchain.mounts);
      return {
        toolchains: {
          mounts,
          hidden: settings.find(mounts),
          path: stored,
          variables: Object.assign({}, ...list.map(({ variables }) => variables)),
          // The stored PATH is as old as the last `ctxd init`; the daemon may have been started with a newer one.
          hostPath: [...new Set([...stored, ...path.split(':').filter((entry) => entry.startsWith('/'))])],
        },
        allowedPaths: paths.filter((path) => !isAround(project, path)),
        hostNetwork: hostNetworks.part(),
        ...(repository === undefined ? {} : { repository }),
      };
    },
  };
}

/** Whether an allowed path is the repository of which the project is a part. No other directory that holds it can be allowed. */
export function isAround(project: string, path: string): boolean {
  return isBelow(path, project);
}
