import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';
import { BESIDE_USR } from '../../fs/system-places.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import { SANDBOX_HOME } from '../contract/places.ts';
import { STAND_IN_FILE, STAND_IN_SCRIPT } from './git-stand-in.ts';
import type { Ids } from './identity.ts';
import { isAsShipped, packageStamps, type ShippedFile, shippedFiles } from './package-files.ts';

/** Increase this if the content below changes. */
const SKELETON_VERSION = 7;
const EMPTY_FILE = 'empty';
const NAME_SERVICE_DIR = 'names';
const ACCOUNTS_DIR = 'accounts';
/** Takes the place of the installed proxy, to which the links of tools in a project lead. */
const PROXY_FILE = 'proxy';
const PROXY_SCRIPT = `#!/bin/sh
echo 'contextd: a command cannot call a tool: run the command itself' >&2
exit 2
`;

/** Take the place of the files of the same name in a sandbox in which names can be looked up. */
const NAME_SERVICE: Readonly<Record<string, string>> = {
  'resolv.conf': 'nameserver 127.0.0.1\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n',
};

/** Written, never copied: no account, name or resolver of the host is visible. */
const SYNTHETIC: Readonly<Record<string, string>> = {
  // Commands have the names of their own ids mounted over these.
  passwd: '',
  group: '',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'resolv.conf': '',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n',
  hostname: 'sandbox\n',
  // Commands have the person's harmless settings mounted over these.
  gitconfig: '',
  gitignore: '',
  gitattributes: '',
  [STAND_IN_FILE]: STAND_IN_SCRIPT,
};

/**
 * Copied from the host's /etc if present, also if they were generated or changed on this machine: what programs below
 * /usr need to start, and what is public by its purpose. Only what everybody may read.
 */
const COPIED = [
  'alternatives',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/tls/cert.pem',
  'pki/ca-trust/extracted',
  'crypto-policies',
  'ca-certificates',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'os-release',
  'debian_version',
  'mime.types',
  'protocols',
  'services',
  'fonts',
  'perl',
  'python3',
  'default/locale',
  'inputrc',
  'mailcap',
  'mtab',
  'networks',
  'shells',
  'timezone',
  'xml',
] as const;

/** Data of packages outside /usr that programs below /usr read. Mounted read-only if present. */
const PACKAGE_DATA = ['/var/lib/dpkg', '/var/cache/fontconfig', '/var/lib/texmf', '/var/lib/ghc'] as const;

/** Words that begin a key which nobody but its owner should have. */
const PRIVATE_KEY = 'PRIVATE KEY-----';

/** Where the content of /etc comes from. */
export interface EtcSource {
  /** The host's /etc. */
  readonly etc: string;
  /** Names in /etc that a person listed (`sandbox.etc`). */
  readonly listed: readonly string[];
  /** Files that tell when `shipped` changes. */
  readonly stamps: readonly string[];
  /** The configuration files of packages, as the packages ship them. */
  shipped(): readonly ShippedFile[];
}

/** The /etc of this machine. */
export function hostEtc(listed: readonly string[]): EtcSource {
  return { etc: '/etc', listed, stamps: packageStamps(), shipped: shippedFiles };
}

/**
 * Builds the /etc below `sandboxDir`, named after its inputs, if they have changed. Returns what the sandbox is based
 * on: /usr, the links beside it and this /etc. Old ones stay for the sandboxes that use them.
 *
 * A configuration file of a package is copied if its bytes are those that the package ships: such a file is public, so
 * it holds no secret of this machine. A file that somebody changed or generated is copied only if it is listed.
 */
export function buildSkeleton(sandboxDir: string, source: EtcSource): Mount[] {
  const names = copiedNames(source);
  const etc = join(sandboxDir, `skeleton-${fingerprint(source, names)}`, 'etc');
  if (!existsSync(etc)) build(dirname(etc), source, names);
  return [
    { kind: 'ro-bind', source: '/usr', dest: '/usr' },
    ...besideUsr(),
    { kind: 'ro-bind', source: etc, dest: '/etc' },
    ...PACKAGE_DATA.filter((path) => existsSync(path)).map(
      (path): Mount => ({ kind: 'ro-bind', source: path, dest: path }),
    ),
  ];
}

/** An empty file beside the /etc of `base`. */
export function emptyFileOf(base: readonly Mount[]): string {
  return join(skeletonOf(base), EMPTY_FILE);
}

/** What a command finds in the place of the proxy: the links of tools lead somewhere, and a call of one is explained. */
export function mountProxy(base: readonly Mount[], proxyBinary: string): Mount {
  return { kind: 'ro-bind', source: join(skeletonOf(base), PROXY_FILE), dest: proxyBinary };
}

/** What programs look names up with, if something in their network namespace answers. */
export function mountNameService(base: readonly Mount[]): Mount[] {
  return Object.keys(NAME_SERVICE).map((name) => ({
    kind: 'ro-bind',
    source: join(skeletonOf(base), NAME_SERVICE_DIR, name),
    dest: `/etc/${name}`,
  }));
}

/**
 * Names for the ids of a command, in /etc/passwd and /etc/group. The first name of an id counts, so one that belongs to
 * `nobody` is called `sandbox` too.
 */
export function mountAccounts(base: readonly Mount[], { uid, gid }: Ids): Mount[] {
  const dir = join(skeletonOf(base), ACCOUNTS_DIR, `${uid}-${gid}`);
  if (!existsSync(dir)) {
    placeWhole(dir, (draft) => {
      makePublicDir(draft);
      writePublic(
        join(draft, 'passwd'),
        'root:x:0:0:root:/root:/usr/sbin/nologin\n' +
          `sandbox:x:${uid}:${gid}:sandbox:${SANDBOX_HOME}:/bin/bash\n` +
          'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
      );
      writePublic(join(draft, 'group'), `root:x:0:\nsandbox:x:${gid}:\nnogroup:x:65534:\n`);
    });
  }
  return ['passwd', 'group'].map((name) => ({ kind: 'ro-bind', source: join(dir, name), dest: `/etc/${name}` }));
}

/** The directory that holds the /etc of `base`. */
export function skeletonOf(base: readonly Mount[]): string {
  const etc = base.find(({ dest }) => dest === '/etc');
  if (etc?.kind !== 'ro-bind') throw new Error('a sandbox without an /etc');
  return dirname(etc.source);
}

/** Removes every skeleton but the one that `base` uses; call it only while no sandbox runs. */
export function removeOldSkeletons(sandboxDir: string, base: readonly Mount[]): void {
  const used = base.flatMap((mount) => ('source' in mount ? [dirname(mount.source)] : []));
  for (const name of readdirSync(sandboxDir)) {
    const path = join(sandboxDir, name);
    if (name.startsWith('skeleton-') && !used.includes(path)) rmSync(path, { recursive: true, force: true });
  }
}

function copiedNames({ etc, listed }: EtcSource): string[] {
  const java = readdirSync(etc).filter((name) => /^java-[\w.-]+$/.test(name));
  const names = [...new Set([...COPIED, ...java, ...listed])];
  return names.filter((name) => {
    const isInside = names.some((other) => isBelow(other, name));
    return !isInside && lstatSync(join(etc, name), { throwIfNoEntry: false }) !== undefined;
  });
}

function fingerprint({ etc, stamps }: EtcSource, names: readonly string[]): string {
  const facts = [...stamps, ...names.map((name) => join(etc, name))].map((path) => {
    const { mtimeMs, size, ino } = lstatSync(path);
    return [path, mtimeMs, size, ino];
  });
  return createHash('sha256')
    .update(JSON.stringify([SKELETON_VERSION, SYNTHETIC, NAME_SERVICE, facts]))
    .digest('hex')
    .slice(0, 16);
}

function besideUsr(): Mount[] {
  return BESIDE_USR.flatMap((name): Mount[] => {
    const path = `/${name}`;
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    return stats.isSymbolicLink()
      ? [{ kind: 'symlink', target: readlinkSync(path), dest: path }]
      : [{ kind: 'ro-bind', source: path, dest: path }];
  });
}

/** Synchronous: some thousand small steps, at the first start and after the host's /etc has changed. */
function build(target: string, source: EtcSource, names: readonly string[]): void {
  placeWhole(target, (draft) => fill(draft, source, names));
}

function fill(draft: string, source: EtcSource, names: readonly string[]): void {
  const etc = join(draft, 'etc');
  makePublicDir(etc);
  makePublicDir(join(draft, ACCOUNTS_DIR));
  writePublic(join(draft, EMPTY_FILE), '');
  writePublic(join(draft, PROXY_FILE), PROXY_SCRIPT);
  chmodSync(join(draft, PROXY_FILE), 0o755);
  makePublicDir(join(draft, NAME_SERVICE_DIR));
  for (const [name, text] of Object.entries(NAME_SERVICE)) writePublic(join(draft, NAME_SERVICE_DIR, name), text);
  for (const name of names) {
    makePublicDir(dirname(join(etc, name)));
    copyPublic(join(source.etc, name), join(etc, name));
  }
  for (const file of source.shipped()) copyShipped(source.etc, file, etc);
  // Last, so that nothing of the host takes their place.
  for (const [name, text] of Object.entries(SYNTHETIC)) {
    rmSync(join(etc, name), { force: true });
    writePublic(join(etc, name), text);
  }
}

/** Makes a directory that is either absent or complete; one that another process makes meanwhile stays. */
function placeWhole(target: string, fillDraft: (draft: string) => void): void {
  const draft = `${target}.${randomBytes(4).toString('hex')}`;
  fillDraft(draft);
  try {
    renameSync(draft, target);
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    if (!isErrno(cause, 'ENOTEMPTY', 'EEXIST')) throw cause;
  }
}

/** A file that cannot be read, is a link or lies behind one, or differs from the package's, is left out. */
function copyShipped(hostEtc: string, file: ShippedFile, etc: string): void {
  const to = join(etc, file.name);
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined || !isPublicFile(hostEtc, file.name)) return;
  const bytes = readFileSync(join(hostEtc, file.name));
  if (!isAsShipped(file, bytes)) return;
  makePublicDir(dirname(to));
  writePublic(to, bytes);
}

/** True for a file that everybody may read, in directories that everybody may enter, without links on the way. */
function isPublicFile(hostEtc: string, name: string): boolean {
  const parts = name.split('/');
  return parts.every((part, i) => {
    const stats = lstatSync(join(hostEtc, ...parts.slice(0, i + 1)), { throwIfNoEntry: false });
    if (part === '' || part === '..' || stats === undefined || !isPublic(stats)) return false;
    return i === parts.length - 1 ? stats.isFile() : stats.isDirectory();
  });
}

/**
 * Copies links as links; files and directories only if everybody may read them on the host. Leaves out manual pages and
 * private keys.
 */
function copyPublic(from: string, to: string): void {
  const stats = lstatSync(from);
  if (from.endsWith('.gz')) return;
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  if (!isPublic(stats)) return;
  if (stats.isFile()) copyUnlessKey(from, to);
  if (!stats.isDirectory()) return;
  makePublicDir(to);
  for (const name of readdirSync(from)) copyPublic(join(from, name), join(to, name));
}

function copyUnlessKey(from: string, to: string): void {
  const bytes = readFileSync(from);
  if (!bytes.includes(PRIVATE_KEY)) writePublic(to, bytes);
}

/** Sets the modes whatever the daemon's umask is: the workspace's owner reads these and passes through every parent. */
function makePublicDir(path: string): void {
  const outermost = mkdirSync(path, { recursive: true });
  if (outermost === undefined) return;
  for (let made = path; made.length >= outermost.length; made = dirname(made)) chmodSync(made, 0o755);
}

function writePublic(path: string, content: string | Buffer): void {
  writeFileSync(path, content);
  chmodSync(path, 0o644);
}

function isPublic(stats: Stats): boolean {
  const bits = stats.isDirectory() ? 0o005 : 0o004;
  return (stats.mode & bits) === bits;
}
