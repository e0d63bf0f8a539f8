import { isWithin } from '../../core/paths.ts';
import type { TreeProtection } from '../../guard/client/guard-set.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import type { SandboxNetworkLease } from '../egress/bridge.ts';
import { proxyVariables, withoutSet } from '../egress/variables.ts';
import type { GitView } from '../git/git-views.ts';
import { type Launch, type LaunchRequest, type MountedWorkspace, prepareLaunch } from '../jail/launch.ts';
import { binDirsOf, coverProc } from '../machine/host.ts';
import { buildEnvironment, CACHES_INSIDE, planTree } from '../machine/mount-plan.ts';
import { mountNameService } from '../machine/skeleton.ts';
import { readablePaths } from '../machine/tool-paths.ts';
import { cacheVariables } from '../storage/caches.ts';
import { hostVariables, trustOf } from '../trust/trust.ts';
import type { CheckedPolicy } from './checked-policy.ts';
import { mountToolchains, searchPathOf } from './toolchains.ts';

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

/** All mounts of a sandbox. */
export function planMounts(
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

export function prepareJob(
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
