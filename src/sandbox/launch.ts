import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { ContextdError, isErrno } from '../core/errors.ts';
import { steers } from '../core/variable-names.ts';
import type { GroupFiles } from './cgroup/files.ts';
import { becomeOwner, type Identity } from './identity.ts';
import type { LayerMounts, MountedLayer } from './layers/mounted.ts';
import { bindToProcessors, perProcessLimits } from './limits.ts';
import { enterNamespace, type LoopbackNamespace, namespaceFds } from './network.ts';
import { encodeArguments, type Mount, NODE_BINARY, renderArguments } from './policy.ts';
import type { Bubblewrap } from './probe/facts.ts';
import { makeReachable, type PublicBind } from './reach.ts';
import type { SandboxLimits, WorkspaceView } from './sandbox-policy.ts';

/** A Linux value that node:fs has no name for. */
const O_PATH = 0o10000000;

/**
 * Runs between the spawner and bubblewrap, as one process: restores the usual umask (the spawner's own is private),
 * sets limits, joins the cgroups (`0` means "me", so no moment is outside), binds what the owner could not reach, checks
 * that links cover the configurations of git, and becomes the owner.
 */
const LAUNCH_SCRIPT = `
umask 022
ulimit -f "$1" 2>/dev/null
ulimit -n "$2" 2>/dev/null
shift 2
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done
shift
while [ "$1" != -- ]; do [ -h "$1" ] || { echo "contextd: $1 was replaced" >&2; exit 125; }; shift; done
shift
exec "$@"
`;

/**
 * Everything needed to start one sandbox. `release` closes the pinned descriptors: it must be called, and may be called
 * twice.
 */
export interface Launch {
  readonly commandLine: readonly string[];
  readonly args: Buffer;
  /** The namespaces if some are joined, then the pinned sources, then the seccomp filter. */
  readonly inheritedFds: readonly number[];
  /** Descriptors of the daemon, which the sandbox must not get. */
  readonly strayFds: readonly number[];
  readonly group: GroupFiles | null;
  /** Which files the pinned sources were, by where they are mounted. */
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
  /** The namespace to join; null: a network namespace of its own. */
  readonly network: LoopbackNamespace | null;
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /** The variables that the caller adds. */
  readonly callerEnv: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly limits: SandboxLimits;
  readonly group: GroupFiles | null;
  /** The first descriptor after stdin, stdout, stderr and what else the command inherits. */
  readonly firstFreeFd: number;
  /** Milliseconds after which it has ended; 0: no limit. */
  readonly wallMs: number;
  /** File with the seccomp filter; null: no filter. */
  readonly seccompFile: string | null;
  /** Command line that enters the mount namespace to start in; empty for the spawner's own. A layer has its own. */
  readonly enter: readonly string[];
  /** Files that must be links there. */
  readonly links: readonly string[];
}

/**
 * A workspace with its layer in place. Only `mountWorkspace` makes one, so that nothing in the workspace can be pinned
 * earlier.
 */
export interface MountedWorkspace {
  readonly path: string;
  /** Null: it is the base. */
  readonly layer: MountedLayer | null;
  readonly [mounted]: true;
}

const mounted: unique symbol = Symbol('mounted');

/**
 * Puts the layer of a view over its base. A descriptor that was opened earlier would always lead to the base, so this
 * comes before `prepareLaunch`, which opens descriptors. Release the layer when the sandbox is dead. Throws SANDBOX_UNAVAILABLE.
 */
export async function mountWorkspace(view: WorkspaceView, layers: LayerMounts): Promise<MountedWorkspace> {
  const layer = view.layer === null ? null : await layers.lease(view);
  return { path: view.path, layer, [mounted]: true };
}

/** Opens the files that the sandbox is made of, in the mounted workspace, and builds the command line. */
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
    // The namespaces first, so that their numbers have one digit: a POSIX shell cannot close descriptors above 9.
    const inheritedFds = [...namespaces, ...opened];
    const args = encodeArguments(
      renderArguments({
        mounts: pinned.mounts,
        env: { ...request.env, ...variablesFor('jail', request) },
        cwd: request.cwd,
        features: request.bubblewrap.features,
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
    // The descriptors of the namespaces must not reach the sandbox.
    joined.map((fd) => `exec ${fd}<&-\n`).join('') + LAUNCH_SCRIPT,
    'contextd-sandbox',
    String(Math.ceil(limits.fileBytes / 512)),
    String(limits.openFiles),
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
 * The caller's variables, by what sets them: the jail, on a descriptor, or a command line, which `ps` shows. Only
 * variables that could change how the limits are set wait until the limits are set; none of these holds a secret.
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
 * False for what is protected or hidden in the base, if a branch has removed it or has put a link in its path: in the view of
 * the branch there is nothing of the base in that place, and bubblewrap would make a file for the mount.
 */
function isInView(mount: Mount, { path, layer }: MountedWorkspace): boolean {
  const { dest } = mount;
  if (layer === null || !dest.startsWith(`${path}/`)) return true;
  const fd = openInView(`${layer.root}${path}`, dest.slice(path.length + 1));
  if (fd === null) return false;
  try {
    const stats = fstatSync(fd);
    if (stats.isSymbolicLink() || readlinkSync(`/proc/self/fd/${fd}`) !== dest) return false;
    // What hides a directory of the base cannot be mounted on a file, nor the other way round.
    const isPinned = (mount.kind === 'bind' || mount.kind === 'ro-bind') && mount.pin === true;
    return isPinned || stats.isDirectory() === (mount.kind === 'tmpfs' || mount.kind === 'remount-ro');
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens each pinned source without following a link anywhere in its path. Leaves out a source that no longer exists.
 */
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
  const isInLayer = workspace?.layer != null && path.startsWith(`${workspace.path}/`);
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
 * One name after the other: from here an absolute link in a branch would lead into the base, even one that leads to itself
 * inside. Null if a part of the path is missing or is a link.
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
