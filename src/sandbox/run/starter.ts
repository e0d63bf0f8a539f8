import { closeSync, fstatSync, lstatSync, rmdirSync, type Stats, unlinkSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { isBelow, isWithin } from '../../core/paths.ts';
import type { TreeProtection } from '../../guard/client/guard-set.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { LayerMounts } from '../contract/mounted.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import type { SandboxNetworkLease } from '../egress/bridge.ts';
import type { NetworkPlace, Networks } from '../egress/networks.ts';
import { proxyVariables, withoutSet } from '../egress/variables.ts';
import type { GitView } from '../git/git-views.ts';
import { Jail } from '../jail/bubblewrap.ts';
import {
  type Launch,
  type LaunchRequest,
  type MountedWorkspace,
  mountWorkspace,
  type PinnedPath,
  prepareLaunch,
} from '../jail/launch.ts';
import { OutputReader } from '../jail/output-reader.ts';
import type { GroupFiles } from '../machine/cgroup/files.ts';
import { binDirsOf, coverProc } from '../machine/host.ts';
import { ownerOf } from '../machine/identity.ts';
import { buildEnvironment, CACHES_INSIDE, mountStorage, planTree } from '../machine/mount-plan.ts';
import type { LoopbackNamespace } from '../machine/network.ts';
import { Releases } from '../machine/releases.ts';
import { mountNameService } from '../machine/skeleton.ts';
import { readablePaths } from '../machine/tool-paths.ts';
import { cacheVariables } from '../storage/caches.ts';
import type { Storage, StorageLease } from '../storage/storage.ts';
import { hostVariables, trustOf, withAuthority } from '../trust/trust.ts';
import type { CheckedPolicy } from './checked-policy.ts';
import { checkNotReplaced } from './replaced.ts';
import { mountToolchains, programsOf, searchPathOf } from './toolchains.ts';

/** Milliseconds after which a sandbox counts as built if no report arrives. */
const BUILT_WITHIN_MS = 2_000;

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

/** A command or tool process to start. */
export interface Job {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programMounts: readonly Mount[];
  /** Time limit in milliseconds; 0: none. */
  readonly wallMs: number;
  /** A file descriptor, which `start` closes, or 'ignore' for an empty stdin. */
  readonly stdin: number | 'ignore';
  /** True: `argv` is a program that runs the command on a terminal. Default: false. */
  readonly isTerminal?: boolean;
  /** True: descriptor 3 is a socket, on which a waiting shell gets its script, and a shell reports statuses. */
  readonly takesScript: boolean;
  /** Removed when the sandbox has ended or could not be started. Null for tool processes. */
  readonly git: GitView | null;
}

/** Size of a file system that stays empty. */
const EMPTY_BYTES = 4096;

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
      const planned = plan(checked, protection, job, {
        isWatched: group === null,
        hasNames: network.way?.hasNames === true,
      });
      const storage = await this.#storage.lease(checked.policy, identity, planned);
      const mounts = storage === null ? planned : mountStorage(planned, storage.mounts);
      launch = prepare(checked, workspace, mounts, job, { group, network: network.namespace }, network.way);
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

/**
 * Removes mount points that building the sandbox left in the workspace: when called, after a timeout, or when the
 * sandbox has ended.
 */
function tidyOnce({ guard, policy }: CheckedPolicy, all: readonly PinnedPath[], jail: Jail): () => void {
  const { path: workspace, layer } = policy.workspace;
  // In a layer they are created in the branch.
  const pinned = layer === null ? all : all.filter(({ path }) => !isWithin(workspace, path));
  const startedAtMs = Date.now();
  const isBuilt = guard.building(pinned.map(({ path }) => path));
  let isTidy = false;
  const tidy = (): void => {
    if (isTidy) return;
    isTidy = true;
    clearTimeout(timer);
    removeStubs(pinned, startedAtMs);
    isBuilt();
  };
  const timer = setTimeout(tidy, BUILT_WITHIN_MS).unref();
  jail.ended.then(tidy, tidy);
  return tidy;
}

/** All mounts of a sandbox. */
function plan(
  { host, identity, policy, allowedPaths }: CheckedPolicy,
  protection: TreeProtection,
  job: Job,
  { isWatched, hasNames }: { readonly isWatched: boolean; readonly hasNames: boolean },
): Mount[] {
  const isLayered = policy.workspace.layer !== null;
  // A repository that the base shares with others is not part of a layer.
  const gitDirs = isLayered ? [] : protection.commonGitDirs;
  const isHidden = policy.isWorkspaceHidden === true;
  const project = [policy.workspace.path, ...(isHidden ? [] : gitDirs)];
  const isHeld = policy.isWorkspaceReadOnly === true || isHidden;
  const writable = [...new Set([...(isHeld ? [] : project), ...allowedPaths])];
  const readOnly = [...(protection.repository === null ? [] : [protection.repository]), ...(isHeld ? project : [])];
  if (isLayered) readOnly.push(...protection.commonGitDirs);
  const { toolchains } = policy;
  const place = { bubblewrap: host.bubblewrap, identity, emptyFile: host.emptyFile() };
  return planTree({
    base: host.baseFor(identity),
    writable,
    roPaths: [...policy.roPaths, ...readablePaths(policy)],
    readOnly,
    toolchains: [
      ...(toolchains === undefined ? [] : mountToolchains(toolchains, writable, place)),
      ...host.proxyMounts(),
    ],
    protectedMounts: protection.mounts
      .filter(({ dest }) => job.git?.links.includes(dest) !== true)
      .map((mount) =>
        (isLayered || isHeld) && !writable.some((tree) => isWithin(tree, mount.dest)) ? asReadOnly(mount) : mount,
      ),
    proc: coverProc(identity),
    program: [
      ...(isHidden ? emptyInPlaceOf(policy.workspace.path) : []),
      ...job.programMounts,
      ...(job.git?.mounts ?? []),
      ...(hasNames ? mountNameService(host.base()) : []),
      ...trustOf(policy, host.base()).mounts,
    ],
    isWatched,
  });
}

function emptyInPlaceOf(path: string): Mount[] {
  return [
    { kind: 'tmpfs', dest: path, sizeBytes: EMPTY_BYTES },
    { kind: 'remount-ro', dest: path },
  ];
}

function asReadOnly(mount: Mount): Mount {
  return mount.kind === 'bind' ? { ...mount, kind: 'ro-bind' } : mount;
}

function prepare(
  { host, identity, policy, isFiltered }: CheckedPolicy,
  workspace: MountedWorkspace,
  mounts: readonly Mount[],
  job: Job,
  { group, network }: Pick<LaunchRequest, 'group' | 'network'>,
  way: SandboxNetworkLease | null,
): Launch {
  return prepareLaunch({
    bubblewrap: host.bubblewrap,
    strayFds: host.strayFds,
    identity,
    workspace,
    network,
    mounts,
    env: environmentOf(policy, mounts, {
      ...(mounts.some(({ dest }) => dest === CACHES_INSIDE) ? withoutSet(cacheVariables(CACHES_INSIDE), job.env) : {}),
      ...(way === null ? {} : proxyVariables(way.lane, job.env)),
      ...hostVariables(policy, host.base()),
    }),
    callerEnv: job.env,
    cwd: job.cwd,
    argv: job.argv,
    limits: policy.limits,
    group,
    firstFreeFd: job.takesScript ? 4 : 3,
    wallMs: job.wallMs,
    seccompFile: isFiltered ? host.filters.fileFor(policy.seccomp, group === null ? 'watchdog' : 'cgroup') : null,
    enter: job.git?.enter ?? [],
    links: job.git?.links ?? [],
  });
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

/** Toolchains listed in sandbox.ro_paths come before those of the person's PATH. */
function environmentOf(
  { roPaths, toolchains }: SandboxPolicy,
  mounts: readonly Mount[],
  network: Readonly<Record<string, string>>,
): Record<string, string> {
  const listed = binDirsOf(roPaths);
  if (toolchains === undefined) return buildEnvironment(listed, network);
  return buildEnvironment([...listed, ...searchPathOf(toolchains, mounts)], { ...network, ...toolchains.variables });
}

/**
 * Removes stubs: bubblewrap creates missing mount points, so if a person removes a protected path while a sandbox is
 * being built over it, an empty file or directory would remain in the person's tree. Removes entries that differ from
 * the pinned ones, are empty, and are younger than `startedAtMs` (milliseconds since the epoch).
 */
export function removeStubs(pinned: readonly PinnedPath[], startedAtMs: number): void {
  // Innermost first: a stub may contain another stub.
  for (const pin of [...pinned].reverse()) {
    const stats = lstatSync(pin.path, { throwIfNoEntry: false });
    if (stats === undefined || isPinned(pin, stats) || !liesInPinnedRoot(pin, pinned)) continue;
    if (stats.birthtimeMs >= startedAtMs) removeEmpty(pin.path, stats);
  }
}

function isPinned({ dev, ino }: PinnedPath, stats: Stats): boolean {
  return stats.ino === ino && stats.dev === dev;
}

/**
 * bubblewrap creates mount points only inside the trees that it mounts, which were opened before. So the project folder
 * itself is never a stub, and the contents of a directory that replaced it belong to the person.
 */
function liesInPinnedRoot(pin: PinnedPath, pinned: readonly PinnedPath[]): boolean {
  const roots = pinned.filter(({ path }) => isBelow(path, pin.path));
  const [root] = roots.sort((a, b) => a.path.length - b.path.length);
  const stats = root === undefined ? undefined : lstatSync(root.path, { throwIfNoEntry: false });
  return root !== undefined && stats !== undefined && isPinned(root, stats);
}

/** Removes a directory only if it is empty, and a file only if it has no bytes. */
function removeEmpty(path: string, stats: Stats): void {
  try {
    if (stats.isDirectory()) rmdirSync(path);
    else if (stats.isFile() && stats.size === 0) unlinkSync(path);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
}
