import { ContextdError } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import { SANDBOX_HOME } from '../contract/places.ts';
import type { Ids } from './identity.ts';

/** Features of the installed bubblewrap, read from its `--help`. */
export interface BubblewrapFeatures {
  /** Since 0.8: disables user namespaces inside. */
  readonly disableUserns: boolean;
  /** Patched into distributions' 0.8 and 0.10: mounts descriptors, which closes the race between check and mount. */
  readonly bindFd: boolean;
}

export interface TreePlan {
  /** /usr, /etc and the links next to them. */
  readonly base: readonly Mount[];
  /** Read-write trees: the workspace, the common git directory of a worktree, and allowed directories. */
  readonly writable: readonly string[];
  readonly roPaths: readonly string[];
  /** Read-only repositories around or next to the workspace, whose paths others may replace. Default: none. */
  readonly readOnly?: readonly string[];
  /** Mounts of host toolchains, and empty files over their settings. */
  readonly toolchains: readonly Mount[];
  /** Mounts that protect paths in the writable trees, parents before children. */
  readonly protectedMounts: readonly Mount[];
  /** Mounts over parts of /proc. */
  readonly proc: readonly Mount[];
  /** For a tool process: its bundle and Node. For commands: git's settings and similar files. */
  readonly program: readonly Mount[];
  /** True if no cgroup limits the sandbox's memory, so the watchdog does. */
  readonly isWatched: boolean;
}

const MIB = 1024 * 1024;
const TMP_BYTES = 256 * MIB;
const SHM_BYTES = 64 * MIB;
const HOME_BYTES = 64 * MIB;

/** Where a command finds the caches of its project; links in HOME point to it. */
export const CACHES_INSIDE = '/var/cache/contextd';

export type TemporaryMount = Extract<Mount, { kind: 'tmpfs' }>;

/** In-memory file systems of a sandbox, unless a storage replaces them. */
export const TEMPORARY: readonly TemporaryMount[] = [
  { kind: 'tmpfs', dest: '/dev/shm', sizeBytes: SHM_BYTES },
  { kind: 'tmpfs', dest: '/tmp', sizeBytes: TMP_BYTES },
  { kind: 'tmpfs', dest: SANDBOX_HOME, sizeBytes: HOME_BYTES },
];

/**
 * /dev/full reads as zeros too but cannot be mapped. A shared mapping of /dev/zero is memory that is never counted, and
 * a seccomp filter cannot see which file is mapped.
 */
const UNMAPPABLE_ZERO: Mount = { kind: 'dev-bind', source: '/dev/full', dest: '/dev/zero' };

/** All mounts in build order: a later mount covers an earlier one. The root itself is a tmpfs. */
export function planTree(plan: TreePlan): Mount[] {
  const { writable, readOnly = [] } = plan;
  const trees: Mount[] = [
    // Pinned in a project's tree, because a command could replace the path by a link to anything.
    ...plan.roPaths.map(
      (path): Mount => ({
        kind: 'ro-bind',
        source: path,
        dest: path,
        ...([...writable, ...readOnly].some((tree) => isBelow(tree, path)) ? { pin: true } : {}),
      }),
    ),
    ...readOnly.map((path): Mount => ({ kind: 'ro-bind', source: path, dest: path, pin: true })),
    ...plan.toolchains,
    ...writable.map((path): Mount => ({ kind: 'bind', source: path, dest: path, pin: true })),
  ];
  const shields = shieldsFor(trees);
  return [
    ...plan.base,
    { kind: 'proc', dest: '/proc' },
    ...plan.proc,
    { kind: 'dev', dest: '/dev' },
    ...(plan.isWatched ? [UNMAPPABLE_ZERO] : []),
    ...TEMPORARY,
    { kind: 'dir', dest: '/run' },
    ...shields.map((dest): Mount => ({ kind: 'tmpfs', dest, sizeBytes: SHIELD_BYTES })),
    ...trees.sort((a, b) => depth(a.dest) - depth(b.dest)),
    ...plan.protectedMounts,
    ...plan.program,
    ...shields.map((dest): Mount => ({ kind: 'remount-ro', dest })),
    { kind: 'remount-ro', dest: '/dev' },
    { kind: 'remount-ro', dest: '/' },
  ];
}

/** Host directories of a storage. */
export interface StorageMounts {
  readonly home: string;
  readonly tmp: string;
  readonly caches: string;
}

/** The same mounts, with the storage in place of the in-memory file systems. */
export function mountStorage(mounts: readonly Mount[], { home, tmp, caches }: StorageMounts): Mount[] {
  const stored = new Map<string, Mount[]>([
    ['/tmp', [{ kind: 'bind', source: tmp, dest: '/tmp' }]],
    [
      SANDBOX_HOME,
      [
        { kind: 'bind', source: home, dest: SANDBOX_HOME },
        { kind: 'bind', source: caches, dest: CACHES_INSIDE },
      ],
    ],
  ]);
  return mounts.flatMap((mount) => stored.get(mount.dest) ?? [mount]);
}

/** The in-memory file systems of a planned tree. */
export function temporaryOf(mounts: readonly Mount[]): TemporaryMount[] {
  return TEMPORARY.filter((temporary) => mounts.includes(temporary));
}

/** Size of a tmpfs that holds only the directories above a tree. */
const SHIELD_BYTES = 1 * MIB;

/**
 * Directories between a temporary file system and the trees below it. They stand for host directories, so they are
 * read-only: a write next to a project below /tmp must fail instead of being lost.
 */
function shieldsFor(trees: readonly Mount[]): string[] {
  const shields = trees.flatMap(({ dest }) => {
    const place = TEMPORARY.find((temporary) => isBelow(temporary.dest, dest))?.dest;
    const [top = '', ...below] = place === undefined ? [] : dest.slice(place.length + 1).split('/');
    return place === undefined || below.length === 0 ? [] : [`${place}/${top}`];
  });
  return [...new Set(shields)].filter((shield) => !trees.some(({ dest }) => dest === shield));
}

function depth(path: string): number {
  return path.split('/').length;
}

export interface JailPlan {
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly features: BubblewrapFeatures;
  readonly ids: Ids;
  /** True if the launcher has already joined a network namespace, so that bubblewrap must not make one. */
  readonly joinsNetwork: boolean;
  /** Mount → descriptor of its pinned source inside bubblewrap. Empty if bubblewrap cannot take descriptors. */
  readonly pins: ReadonlyMap<Mount, number>;
  readonly statusFd: number;
  readonly seccompFd: number | null;
}

/** bubblewrap's argument list. Passed through a descriptor, so that host paths do not show in /proc/1/cmdline. */
export function renderArguments(plan: JailPlan): string[] {
  return [
    '--die-with-parent',
    '--new-session',
    '--unshare-user',
    '--unshare-pid',
    ...(plan.joinsNetwork ? [] : ['--unshare-net']),
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(plan.features.disableUserns ? ['--disable-userns'] : []),
    '--cap-drop',
    'ALL',
    '--uid',
    String(plan.ids.uid),
    '--gid',
    String(plan.ids.gid),
    '--hostname',
    'sandbox',
    '--clearenv',
    ...Object.entries(plan.env).flatMap(([name, value]) => ['--setenv', checkedName(name), value]),
    ...plan.mounts.flatMap((mount) => renderMount(mount, plan.pins.get(mount))),
    '--chdir',
    plan.cwd,
    '--json-status-fd',
    String(plan.statusFd),
    ...(plan.seccompFd === null ? [] : ['--seccomp', String(plan.seccompFd)]),
  ];
}

function renderMount(mount: Mount, fd: number | undefined): string[] {
  switch (mount.kind) {
    case 'bind':
    case 'ro-bind':
      return fd === undefined
        ? [`--${mount.kind}`, mount.source, mount.dest]
        : [`--${mount.kind}-fd`, String(fd), mount.dest];
    case 'dev-bind':
      return ['--dev-bind', mount.source, mount.dest];
    case 'tmpfs':
      return ['--size', String(mount.sizeBytes), '--tmpfs', mount.dest];
    case 'symlink':
      return ['--symlink', mount.target, mount.dest];
    case 'proc':
    case 'dev':
    case 'dir':
    case 'remount-ro':
      return [`--${mount.kind}`, mount.dest];
  }
}

/** NUL-separated arguments for `--args`. A NUL inside a value would start a new option, so it is ARGS_INVALID. */
export function encodeArguments(list: readonly string[]): Buffer {
  for (const item of list) {
    if (item.includes('\0')) {
      throw new ContextdError(
        'ARGS_INVALID',
        `a path or environment value holds a NUL character: ${JSON.stringify(item)}`,
        {
          remedy: 'Remove the NUL character.',
        },
      );
    }
  }
  return Buffer.from(list.map((item) => `${item}\0`).join(''));
}

function checkedName(name: string): string {
  if (name === '' || name.includes('=')) {
    throw new ContextdError('ARGS_INVALID', `${JSON.stringify(name)} cannot name an environment variable`, {
      remedy: 'Use a name that is not empty and has no "=".',
    });
  }
  return name;
}

export const STANDARD_PATH: readonly string[] = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
];

/** PATH, HOME, TMPDIR, LANG and `extra`, nothing else. `binDirs` come first on PATH. */
export function buildEnvironment(
  binDirs: readonly string[],
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    PATH: [...new Set([...binDirs, ...STANDARD_PATH])].join(':'),
    HOME: SANDBOX_HOME,
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    ...extra,
  };
}

/** Maximum size of one argument or environment string on Linux (MAX_ARG_STRLEN), in bytes including the final NUL. */
const ARGUMENT_MAX_BYTES = 131_072;

/** Throws ARGS_INVALID or PAYLOAD_TOO_LARGE for arguments that `execve` would reject. */
export function checkArgv(argv: readonly string[]): void {
  if (argv.length === 0) throw new ContextdError('ARGS_INVALID', 'the command is empty', { remedy: 'Name a program.' });
  encodeArguments(argv);
  const longest = Math.max(...argv.map((item) => Buffer.byteLength(item) + 1));
  if (longest > ARGUMENT_MAX_BYTES) {
    throw new ContextdError(
      'PAYLOAD_TOO_LARGE',
      `an argument of the command has ${longest} bytes; Linux allows ${ARGUMENT_MAX_BYTES}`,
      { remedy: 'Write the text to a file in the workspace, or give it on stdin.' },
    );
  }
}

/** bubblewrap accepts 9,000 arguments in total; each variable takes three. */
const VARIABLES_MAX = 2_000;
/** Arguments and environment may use a quarter of the stack limit, usually 2 MiB. Half is for the environment. */
const ENVIRONMENT_MAX_BYTES = 1024 * 1024;

/** Throws ARGS_INVALID or PAYLOAD_TOO_LARGE for an environment with which no program can be started. */
export function checkEnvironment(env: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(env)) checkedName(name);
  encodeArguments(Object.entries(env).flat());
  const sizes = Object.entries(env).map(([name, value]) => Buffer.byteLength(name) + Buffer.byteLength(value) + 2);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const why =
    sizes.length > VARIABLES_MAX
      ? `${sizes.length} variables; ${VARIABLES_MAX} are allowed`
      : sizes.some((size) => size > ARGUMENT_MAX_BYTES)
        ? `a variable of ${Math.max(...sizes)} bytes; Linux allows ${ARGUMENT_MAX_BYTES}`
        : total > ENVIRONMENT_MAX_BYTES
          ? `${total} bytes; ${ENVIRONMENT_MAX_BYTES} are allowed`
          : null;
  if (why === null) return;
  throw new ContextdError('PAYLOAD_TOO_LARGE', `the environment of the command has ${why}`, {
    remedy: 'Write the values to a file in the workspace, or give them on stdin.',
  });
}
