import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { O_PATH } from '../../core/descriptors.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';
import { steers } from '../../core/variable-names.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { LayerMounts, MountedLayer } from '../contract/mounted.ts';
import { NODE_BINARY } from '../contract/places.ts';
import type { SandboxLimits, WorkspaceView } from '../contract/policy.ts';
import type { GroupFiles } from '../machine/cgroup/files.ts';
import type { Bubblewrap } from '../machine/facts.ts';
import { becomeOwner, type Identity, idsInside } from '../machine/identity.ts';
import { bindToProcessors, LIMIT_SCRIPT, perProcessLimits, scriptLimits } from '../machine/limits.ts';
import { encodeArguments, renderArguments } from '../machine/mount-plan.ts';
import { enterNamespace, type LoopbackNamespace, namespaceFds } from '../machine/network.ts';
import { makeReachable, type PublicBind } from '../machine/reach.ts';

/**
 * Runs between the spawner and bubblewrap, in the same process: restores the usual umask (the spawner's is private),
 * sets limits, joins the cgroups (`0` means "this process", so nothing runs outside them), bind-mounts what the owner
 * could not reach, checks that the configurations of git are links, and becomes the owner.
 */
const LAUNCH_SCRIPT = `
umask 022
${LIMIT_SCRIPT}
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done
shift
while [ "$1" != -- ]; do [ -h "$1" ] || { echo "contextd: $1 was replaced" >&2; exit 125; }; shift; done
shift
exec "$@"
`;

/** Everything needed to start one sandbox. `release` closes the pinned descriptors. It must be called; idempotent. */
export interface Launch {
  readonly commandLine: readonly string[];
  readonly args: Buffer;
  /** In order: the joined namespaces, the pinned sources, the seccomp filter. */
  readonly inheritedFds: readonly number[];
  /** Descriptors of the daemon that must not leak into the sandbox. */
  readonly strayFds: readonly number[];
  readonly group: GroupFiles | null;
  /** Device and inode of the pinned sources, by mount point. */
  readonly pinned: readonly PinnedPath[];
  release(): void;
}

export interface PinnedPath {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
}

export interface LaunchRequest {
  readonly bubblewrap: Bubblewrap;
  readonly strayFds: readonly number[];
  readonly identity: Identity;
  /** Null for a probe. */
  readonly workspace: MountedWorkspace | null;
  /** The network namespace to join; null: a private one. */
  readonly network: LoopbackNamespace | null;
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables added by the caller. */
  readonly callerEnv: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly limits: SandboxLimits;
  readonly group: GroupFiles | null;
  /** First descriptor after stdin, stdout, stderr and others that the command inherits. */
  readonly firstFreeFd: number;
  /** Time limit in milliseconds; 0: none. */
  readonly wallMs: number;
  /** File with the seccomp filter; null: no filter. */
  readonly seccompFile: string | null;
  /** Command prefix that enters the mount namespace to start in; empty for the spawner's own. Layers have their own. */
  readonly enter: readonly string[];
  /** Files that must be links in that namespace. */
  readonly links: readonly string[];
}

/** A workspace with its layer mounted. Only `mountWorkspace` makes one, so that nothing in it is pinned earlier. */
export interface MountedWorkspace {
  readonly path: string;
  /** Null for the base. */
  readonly layer: MountedLayer | null;
  readonly [mounted]: true;
}

const mounted: unique symbol = Symbol('mounted');

/**
 * Mounts the layer of a view over its base. Descriptors opened earlier would still lead to the base, so call this
 * before `prepareLaunch`, which opens them. Release the layer when the sandbox is dead. Throws SANDBOX_UNAVAILABLE.
 */
export async function mountWorkspace(view: WorkspaceView, layers: LayerMounts): Promise<MountedWorkspace> {
  const layer = view.layer === null ? null : await layers.lease(view);
  return { path: view.path, layer, [mounted]: true };
}

/** Opens the files that the sandbox mounts, in the mounted workspace, and builds the command line. */
export function prepareLaunch(request: LaunchRequest): Launch {
  const { mounts, publicBinds } = makeReachable(request.mounts, request.identity, request.workspace?.path ?? null);
  const { workspace } = request;
  const visible = workspace?.layer == null ? mounts : mounts.filter((mount) => isInView(mount, workspace));
  const pinned = request.bubblewrap.features.bindFd
    ? openPins(visible, workspace)
    : { fds: [], mounts: visible, byMount: [] };
  const opened = [...pinned.fds];
  try {
    const namespaces = namespaceFds(request.network);
    const firstPin = request.firstFreeFd + 2 + namespaces.length;
    const pins = new Map(pinned.byMount.map((mount, i) => [mount, firstPin + i]));
    const seccompFd = request.seccompFile === null ? null : firstPin + pinned.fds.length;
    if (request.seccompFile !== null) opened.push(openSync(request.seccompFile, constants.O_RDONLY));
    // Namespaces first, so that their descriptor numbers have one digit: a POSIX shell cannot close descriptors above
    // 9.
    const inheritedFds = [...namespaces, ...opened];
    const args = encodeArguments(
      renderArguments({
        mounts: pinned.mounts,
        env: { ...request.env, ...variablesFor('jail', request) },
        cwd: request.cwd,
        features: request.bubblewrap.features,
        ids: idsInside(request.identity),
        joinsNetwork: request.network !== null,
        pins,
        statusFd: request.firstFreeFd + 1,
        seccompFd,
      }),
    );
    return {
      commandLine: commandLine(request, publicBinds),
      args,
      inheritedFds,
      strayFds: request.strayFds,
      group: request.group,
      pinned: pinned.byMount.map((mount, i) => identityOfPin(mount, pinned.fds[i])),
      release: () => closeAll(opened.splice(0)),
    };
  } catch (cause) {
    closeAll(opened);
    throw cause;
  }
}

function commandLine(request: LaunchRequest, publicBinds: readonly PublicBind[]): string[] {
  const { limits, bubblewrap, group, network } = request;
  const joined = namespaceFds(network).map((_, i) => request.firstFreeFd + 2 + i);
  return [
    ...(request.workspace?.layer?.enter ?? request.enter),
    ...(publicBinds.length > 0 ? ['unshare', '--mount', '--propagation', 'private', '--'] : []),
    ...enterNamespace(joined),
    'sh',
    '-c',
    // The namespace descriptors must not leak into the sandbox.
    joined.map((fd) => `exec ${fd}<&-\n`).join('') + LAUNCH_SCRIPT,
    'contextd-sandbox',
    ...scriptLimits(limits),
    ...(group?.joinFiles ?? []),
    '--',
    ...publicBinds.flatMap((bind) => [bind.source, bind.target]),
    '--',
    ...request.links,
    '--',
    ...(group === null ? bindToProcessors(limits.cpus) : []),
    ...becomeOwner(request.identity),
    bubblewrap.path,
    '--args',
    String(request.firstFreeFd),
    '--',
    ...(group === null ? withLimits(request) : []),
    ...request.argv,
  ];
}

/**
 * The caller's variables, split by how they are set: by the jail, through a descriptor, or on a command line, which
 * `ps` shows. Only variables that could affect the setting of limits go on the command line, after the limits are set;
 * none of them holds a secret.
 */
function variablesFor(setter: 'jail' | 'command line', { group, callerEnv }: LaunchRequest): Record<string, string> {
  const isLate = (name: string): boolean => group === null && steers(name);
  return Object.fromEntries(Object.entries(callerEnv).filter(([name]) => isLate(name) === (setter === 'command line')));
}

function withLimits(request: LaunchRequest): string[] {
  const { limits, argv, wallMs } = request;
  const variables = Object.entries(variablesFor('command line', request)).map(([name, value]) => `${name}=${value}`);
  return [
    ...perProcessLimits(limits, argv[0] === NODE_BINARY, wallMs),
    ...(variables.length === 0 ? [] : ['/usr/bin/env', ...variables]),
  ];
}

function identityOfPin(mount: Mount, fd: number | undefined): PinnedPath {
  const { dev, ino } = fd === undefined ? { dev: 0, ino: 0 } : fstatSync(fd);
  return { path: mount.dest, dev, ino };
}

interface Pins {
  readonly fds: number[];
  readonly mounts: Mount[];
  readonly byMount: Mount[];
}

/**
 * False for a protected or hidden path of the base that a branch has removed or replaced by a link. The branch's view
 * has nothing of the base there, and bubblewrap would create a file for the mount.
 */
function isInView(mount: Mount, { path, layer }: MountedWorkspace): boolean {
  const { dest } = mount;
  if (layer === null || !isBelow(path, dest)) return true;
  const fd = openInView(`${layer.root}${path}`, dest.slice(path.length + 1));
  if (fd === null) return false;
  try {
    const stats = fstatSync(fd);
    if (stats.isSymbolicLink() || readlinkSync(`/proc/self/fd/${fd}`) !== dest) return false;
    // A mount that hides a directory of the base cannot cover a file, nor the other way round.
    const isPinned = (mount.kind === 'bind' || mount.kind === 'ro-bind') && mount.pin === true;
    return isPinned || stats.isDirectory() === (mount.kind === 'tmpfs' || mount.kind === 'remount-ro');
  } finally {
    closeSync(fd);
  }
}

/** Opens each pinned source without following any link in its path. Skips sources that no longer exist. */
function openPins(mounts: readonly Mount[], workspace: MountedWorkspace | null): Pins {
  const pins: Pins = { fds: [], mounts: [], byMount: [] };
  try {
    for (const mount of mounts) {
      const isPinned = (mount.kind === 'bind' || mount.kind === 'ro-bind') && mount.pin === true;
      const fd = isPinned ? openPin(mount.source, workspace) : null;
      if (isPinned && fd === null) continue;
      pins.mounts.push(mount);
      if (fd === null) continue;
      pins.fds.push(fd);
      pins.byMount.push(mount);
    }
    return pins;
  } catch (cause) {
    closeAll(pins.fds);
    throw cause;
  }
}

function openPin(path: string, workspace: MountedWorkspace | null): number | null {
  const root = workspace?.layer?.root ?? '';
  const isInLayer = workspace?.layer != null && isBelow(workspace.path, path);
  const fd = isInLayer
    ? openInView(`${root}${workspace.path}`, path.slice(workspace.path.length + 1))
    : openPath(`${root}${path}`);
  if (fd === null) return null;
  if (!fstatSync(fd).isSymbolicLink() && readlinkSync(`/proc/self/fd/${fd}`) === path) return fd;
  closeSync(fd);
  if (lstatSync(`${root}${path}`, { throwIfNoEntry: false }) === undefined) return null;
  throw new ContextdError('SANDBOX_UNAVAILABLE', `${path} is a symbolic link or lies behind one`, {
    remedy: 'If it was being changed, call again; a workspace is registered by its real path.',
  });
}

/**
 * Opens a path component by component: seen from the host, an absolute link in a branch would lead into the base. Null
 * if a component is missing or a link.
 */
function openInView(root: string, path: string): number | null {
  const names = path.split('/');
  let fd = openPath(root);
  for (const name of names) {
    if (fd === null) return null;
    const above = fd;
    try {
      fd = fstatSync(above).isDirectory() ? openPath(`/proc/self/fd/${above}/${name}`) : null;
    } finally {
      closeSync(above);
    }
  }
  return fd;
}

function openPath(path: string): number | null {
  try {
    return openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch (cause) {
    if (isErrno(cause, 'ENOENT', 'ENOTDIR')) return null;
    throw cause;
  }
}

function closeAll(fds: readonly number[]): void {
  for (const fd of fds) closeSync(fd);
}
