import { closeSync, fstatSync } from 'node:fs';
import type { TreeProtection } from '../../guard/client/guard-set.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { LayerMounts } from '../contract/mounted.ts';
import type { SandboxNetworkLease } from '../egress/bridge.ts';
import type { NetworkPlace, Networks } from '../egress/networks.ts';
import type { GitView } from '../git/git-views.ts';
import { Jail } from '../jail/bubblewrap.ts';
import { type Launch, mountWorkspace } from '../jail/launch.ts';
import { OutputReader } from '../jail/output-reader.ts';
import type { GroupFiles } from '../machine/cgroup/files.ts';
import { ownerOf } from '../machine/identity.ts';
import { mountStorage } from '../machine/mount-plan.ts';
import type { LoopbackNamespace } from '../machine/network.ts';
import { Releases } from '../machine/releases.ts';
import type { Storage, StorageLease } from '../storage/storage.ts';
import { withAuthority } from '../trust/trust.ts';
import type { CheckedPolicy } from './checked-policy.ts';
import { type Job, planMounts, prepareJob } from './plan-launch.ts';
import { checkNotReplaced } from './replaced.ts';
import { tidyOnce } from './stubs.ts';
import { programsOf } from './toolchains.ts';

/** A sandbox that runs a command or waits for its command. */
export interface StartedSandbox extends NetworkPlace {
  readonly jail: Jail;
  readonly stdout: OutputReader;
  readonly stderr: OutputReader;
  readonly group: GroupFiles | null;
  /** Null for tool processes. */
  readonly git: GitView | null;
  /** All its mounts. */
  readonly mounts: readonly Mount[];
  /** Null if its HOME and /tmp are in memory. */
  readonly storage: StorageLease | null;
  /** Removes the mount points that bubblewrap had to create in the workspace; called when the sandbox is built. */
  tidy(): void;
}

/** Starts sandboxes, and releases the resources of each when its last process is dead. */
export class Starter {
  readonly #jails = new Set<Jail>();
  readonly #releasing = new Set<Promise<void>>();
  readonly #network: Pick<Networks, 'loopbacks' | 'bridge'>;
  readonly #storage: Storage;
  readonly #layers: LayerMounts;
  #isStopped = false;

  constructor(network: Pick<Networks, 'loopbacks' | 'bridge'>, storage: Storage, layers: LayerMounts) {
    this.#network = network;
    this.#storage = storage;
    this.#layers = layers;
  }

  async start(given: CheckedPolicy, protection: TreeProtection, job: Job): Promise<StartedSandbox> {
    const { host, identity } = given;
    const owner = ownerOf(identity);
    const { git } = job;
    const used = new Releases();
    used.add(given.guard.hold());
    if (git !== null) used.add(() => git.remove());
    const [stdout, stderr] = await Promise.all([host.pipes.take(owner), host.pipes.take(owner)]).catch(
      (cause: unknown) => {
        used.release();
        throw cause;
      },
    );
    const readers = { stdout: new OutputReader(stdout.read), stderr: new OutputReader(stderr.read) };
    const childFds = [job.stdin, stdout.write, stderr.write] as const;
    let launch: Launch | null = null;
    try {
      const network = await this.#joinNetwork(given, used);
      const checked = { ...given, policy: withAuthority(given.policy, network.authority) };
      const group = host.cgroups?.create(checked.policy.limits) ?? null;
      if (group !== null) used.add(() => host.cgroups?.remove(group));
      // Order matters: `prepare` opens descriptors in the workspace, which must already be mounted.
      const workspace = await mountWorkspace(checked.policy.workspace, this.#layers);
      const { layer } = workspace;
      if (layer !== null) used.add(layer.release);
      const planned = planMounts(checked, protection, job, {
        isWatched: group === null,
        hasNames: network.way?.hasNames === true,
      });
      const storage = await this.#storage.lease(checked.policy, identity, planned);
      const mounts = storage === null ? planned : mountStorage(planned, storage.mounts);
      launch = prepareJob(checked, workspace, mounts, job, { group, network: network.namespace }, network.way);
      for (const { path, directory } of checked.guard.hostTrees) checkNotReplaced(path, directory, launch.pinned);
      const input = {
        stdin: typeof job.stdin === 'number' ? fstatSync(job.stdin) : null,
        isTerminal: job.isTerminal === true,
      };
      const jail = new Jail(launch, job.takesScript ? [...childFds, 'pipe'] : childFds, input);
      layer?.uses(jail);
      this.#follow(jail, used);
      const [loopback, lane] = [network.namespace?.name ?? '', network.way?.lane ?? null];
      return {
        jail,
        ...readers,
        group,
        git,
        mounts,
        loopback,
        lane,
        authority: network.authority,
        storage,
        tidy: tidyOnce(checked, launch.pinned, jail),
      };
    } catch (cause) {
      readers.stdout.close();
      readers.stderr.close();
      used.release();
      throw cause;
    } finally {
      // The child has its own copies. A pipe end left open here would prevent EOF from being seen.
      launch?.release();
      for (const fd of childFds) if (typeof fd === 'number') closeSync(fd);
    }
  }

  /** Kills what runs and what is started from now on. Returns when all of it is dead and released. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const jail of this.#jails) jail.kill();
    await Promise.all(this.#releasing);
  }

  /** Leases the namespace that the sandbox joins, and its network access. */
  async #joinNetwork(
    { loopback }: CheckedPolicy,
    used: Releases,
  ): Promise<{ namespace: LoopbackNamespace | null; way: SandboxNetworkLease | null; authority: string | null }> {
    const { loopbacks, bridge } = this.#network;
    const lease = loopback === null ? null : await loopbacks.lease(loopback.key, loopback.scope);
    if (lease === null) return { namespace: null, way: null, authority: null };
    used.add(lease.release);
    const { namespace } = lease;
    await bridge.settled(namespace.name);
    const way = bridge.lease(namespace.name);
    if (way !== null) used.add(way.release);
    return { namespace, way, authority: bridge.certificateOf(namespace.name) };
  }

  #follow(jail: Jail, used: Releases): void {
    this.#jails.add(jail);
    const released = jail.gone.then(() => {
      this.#jails.delete(jail);
      this.#releasing.delete(released);
      used.release();
    });
    this.#releasing.add(released);
    if (this.#isStopped) jail.kill();
  }
}

/** Prepares git's settings for the sandbox; null if the policy gives it none. */
export async function prepareGit(
  { git, identity, person, policy }: CheckedPolicy,
  { gitConfigs }: TreeProtection,
): Promise<GitView | null> {
  // Changes of a command to a configuration would be carried over to the base.
  const configs = policy.workspace.layer === null ? gitConfigs : [];
  const writable = [policy.workspace.path, ...(policy.allowedPaths ?? [])];
  return person === null ? null : git.prepare({ identity, person, configs, writable, hasProgram: programsOf(policy) });
}

/** Kills a sandbox and closes its readers. For sandboxes that are not followed. */
export function discard({ jail, stdout, stderr }: StartedSandbox): void {
  jail.kill();
  stdout.close();
  stderr.close();
}
