import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { BESIDE_USR } from '../../fs/system-places.ts';
import type { SandboxLimits } from '../contract/policy.ts';
import { LIMIT_SCRIPT, perProcessLimits, scriptLimits } from '../machine/limits.ts';
import type { BubblewrapFeatures } from '../machine/mount-plan.ts';

/** What the proxy process may use. A connection takes some ten kilobytes. */
export const EGRESS_LIMITS: SandboxLimits = {
  memoryBytes: 512 * 1024 * 1024,
  pids: 64,
  fileBytes: 1024 * 1024,
  openFiles: 32_768,
  cpus: 0,
};
/** No system gives these out: between the users of packages and those that systemd makes. */
const OWN_UIDS = { first: 60_578, last: 61_183 } as const;

const NODE_INSIDE = '/opt/contextd/node';
const PROGRAM_INSIDE = '/opt/contextd/program';
/** Files of the host by which names are resolved and certificates are checked. All are public. */
const ETC = [
  'resolv.conf',
  'hosts',
  'host.conf',
  'nsswitch.conf',
  'gai.conf',
  'services',
  'protocols',
  'localtime',
  'ld.so.cache',
  'ssl/openssl.cnf',
  'ssl/certs',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
  'ca-certificates',
  'crypto-policies',
];

/**
 * As in the launcher of sandboxes: limits first, then the cgroups, so that no moment is outside. No core is dumped, because
 * the process holds credentials.
 */
const SCRIPT = `
umask 022
ulimit -c 0
${LIMIT_SCRIPT}
while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done
shift
exec "$@"
`;

export interface EgressJail {
  readonly bubblewrap: { readonly path: string; readonly features: BubblewrapFeatures };
  /** Directory of the program, and its file in it. */
  readonly programDir: string;
  readonly entry: string;
  /** Files by which the process joins its cgroups; null without cgroups. */
  readonly joinFiles: readonly string[] | null;
  /** The descriptor of the filter in bubblewrap; null without one. */
  readonly seccompFd: number | null;
  readonly isRoot: boolean;
  /** The text of /etc/passwd. */
  readonly passwd: string;
}

/**
 * The command line of the proxy process. It shares the host's network, which nothing else that contextd starts does, and
 * has almost no files, no capability and no process but its own. A root daemon gives it a user of its own: bubblewrap
 * builds the tree as root, which any parent directory lets through, and setpriv gives up everything after that.
 */
export function egressCommandLine(jail: EgressJail): string[] {
  const { bubblewrap, entry, joinFiles, seccompFd, isRoot } = jail;
  const uid = isRoot ? freeUid(jail.passwd) : null;
  return [
    'sh',
    '-c',
    SCRIPT,
    'contextd-egress',
    ...scriptLimits(EGRESS_LIMITS),
    ...(joinFiles ?? []),
    '--',
    bubblewrap.path,
    '--die-with-parent',
    '--new-session',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--hostname',
    'contextd-egress',
    '--cap-drop',
    'ALL',
    ...(isRoot ? TO_CHANGE_USER : ['--unshare-user', '--uid', '1000', '--gid', '1000']),
    ...(!isRoot && bubblewrap.features.disableUserns ? ['--disable-userns'] : []),
    ...files(jail),
    ...(seccompFd === null ? [] : ['--seccomp', String(seccompFd)]),
    '--',
    ...(uid === null ? [] : becomeUser(uid)),
    ...(joinFiles === null ? perProcessLimits(EGRESS_LIMITS, true) : []),
    NODE_INSIDE,
    '--no-warnings',
    join(PROGRAM_INSIDE, entry),
  ];
}

const TO_CHANGE_USER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((one) => ['--cap-add', one]);

function becomeUser(uid: number): string[] {
  return [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${uid}`,
    '--clear-groups',
    '--inh-caps=-all',
    '--ambient-caps=-all',
    '--bounding-set=-all',
    '--no-new-privs',
    '--',
  ];
}

/** A user that no account of this machine has. */
export function freeUid(passwd: string): number {
  const taken = new Set(passwd.split('\n').flatMap((line) => line.split(':').slice(2, 4).map(Number)));
  for (let uid: number = OWN_UIDS.last; uid >= OWN_UIDS.first; uid--) if (!taken.has(uid)) return uid;
  throw new Error(`every uid from ${OWN_UIDS.first} to ${OWN_UIDS.last} has an account`);
}

function files({ programDir }: EgressJail): string[] {
  const etc = ETC.map((name) => join('/etc', name)).filter((path) => existsSync(path));
  const parents = new Set([...etc, NODE_INSIDE].flatMap(parentsOf));
  return [
    '--ro-bind',
    '/usr',
    '/usr',
    ...BESIDE_USR.flatMap((name) => besideUsr(`/${name}`)),
    // Of those that bubblewrap makes by itself, only root could enter the directories.
    ...[...parents].flatMap((path) => ['--perms', '0755', '--dir', path]),
    ...etc.flatMap((path) => ['--ro-bind', path, path]),
    '--ro-bind',
    process.execPath,
    NODE_INSIDE,
    '--ro-bind',
    programDir,
    PROGRAM_INSIDE,
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--remount-ro',
    '/dev',
    '--remount-ro',
    '/',
    '--chdir',
    '/',
  ];
}

/** Outermost first, without the root. */
function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`);
}

function besideUsr(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

/** What name resolution depends on. A file that is replaced on the host stays the old one inside. */
export function resolverState(): string {
  return ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf'].map(textOf).join('\0');
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
