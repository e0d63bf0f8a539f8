import type { Clock } from '../core/clock.ts';
import type { SandboxPolicy } from '../sandbox/sandbox.ts';
import { type Consents, pathOfSubject } from '../stores/consents.ts';
import type { Database } from '../stores/sqlite.ts';
import { createToolchainStore, type ToolchainStore } from '../stores/toolchains.ts';
import type { HostNetworks } from './host-network.ts';
import { findSettings } from './toolchain-settings.ts';

/** Milliseconds after which toolchains are searched for settings again. */
const SETTINGS_FRESH_MS = 60_000;

export interface OutsideDeps {
  database: Database;
  consents: Pick<Consents, 'list'>;
  /** The daemon's own PATH, until `ctxd` has sent the person's. */
  path: string;
  hostNetworks: Pick<HostNetworks, 'partFor'>;
  clock: Clock;
}

/** What commands of a project may use outside it: toolchains, directories and the settings of network clients. */
export interface Outside {
  readonly toolchains: ToolchainStore;
  start(): Promise<void>;
  partsFor(project: string): Required<Pick<SandboxPolicy, 'toolchains' | 'allowedPaths' | 'hostNetwork'>>;
  /** Sorted. */
  pathsOf(project: string): string[];
  /** Searches the toolchains for settings: call it when they have changed. */
  refresh(): Promise<void>;
}

export function createOutside({ database, consents, path, hostNetworks, clock }: OutsideDeps): Outside {
  const toolchains = createToolchainStore({ database, clock });
  let hidden: readonly string[] = [];
  let searchedMs = 0;
  const refresh = async (): Promise<void> => {
    searchedMs = clock.monotonic();
    hidden = await findSettings(toolchains.list().flatMap(({ mounts }) => mounts));
  };
  const pathsOf = (project: string): string[] =>
    consents.list(project).flatMap(({ subject }) => pathOfSubject(subject) ?? []);
  return {
    toolchains,
    async start() {
      await toolchains.start();
      await refresh();
    },
    refresh,
    pathsOf,
    partsFor(project) {
      if (clock.monotonic() - searchedMs > SETTINGS_FRESH_MS) void refresh();
      const list = toolchains.list();
      const stored = toolchains.path();
      return {
        toolchains: {
          mounts: list.flatMap(({ mounts }) => mounts),
          hidden,
          path: stored,
          variables: Object.assign({}, ...list.map(({ variables }) => variables)),
          hostPath: stored.length > 0 ? stored : path.split(':').filter((entry) => entry.startsWith('/')),
        },
        allowedPaths: pathsOf(project),
        hostNetwork: hostNetworks.partFor({ project, tool: null }),
      };
    },
  };
}
