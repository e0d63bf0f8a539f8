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
import { isErrno } from '../core/errors.ts';
import type { Mount } from './policy.ts';

/** Increase this if the content below changes. */
const SKELETON_VERSION = 2;

/** Written, never copied: no account, name or resolver of the host is visible. */
const SYNTHETIC: Readonly<Record<string, string>> = {
  passwd:
    'root:x:0:0:root:/root:/usr/sbin/nologin\n' +
    'sandbox:x:1000:1000:sandbox:/home/sandbox:/bin/bash\n' +
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
  group: 'root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'resolv.conf': '',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n',
  hostname: 'sandbox\n',
};

/** Copied from the host's /etc if present: what programs below /usr need to start. Only what everybody may read. */
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
  'maven/m2.conf',
] as const;

/** Directories that are links into /usr if /usr is merged, otherwise mounted read-only. */
const BESIDE_USR = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'] as const;

/**
 * Builds the /etc below `sandboxDir`, named after its inputs, if they have changed. Returns what the sandbox is based
 * on: /usr, the links beside it and this /etc. Old ones stay for the sandboxes that use them.
 */
export function buildSkeleton(sandboxDir: string, hostEtc = '/etc'): Mount[] {
  const inputs = copiedNames(hostEtc);
  const etc = join(sandboxDir, `skeleton-${fingerprint(hostEtc, inputs)}`, 'etc');
  if (!existsSync(etc)) build(dirname(etc), hostEtc, inputs);
  return [
    { kind: 'ro-bind', source: '/usr', dest: '/usr' },
    ...besideUsr(),
    { kind: 'ro-bind', source: etc, dest: '/etc' },
  ];
}

/** Removes every skeleton but the one that `base` uses; call it only while no sandbox runs. */
export function removeOldSkeletons(sandboxDir: string, base: readonly Mount[]): void {
  const used = base.flatMap((mount) => ('source' in mount ? [dirname(mount.source)] : []));
  for (const name of readdirSync(sandboxDir)) {
    const path = join(sandboxDir, name);
    if (name.startsWith('skeleton-') && !used.includes(path)) rmSync(path, { recursive: true, force: true });
  }
}

function copiedNames(hostEtc: string): string[] {
  const java = readdirSync(hostEtc).filter((name) => /^java-[\w.-]+$/.test(name));
  return [...COPIED, ...java].filter((name) => lstatSync(join(hostEtc, name), { throwIfNoEntry: false }) !== undefined);
}

function fingerprint(hostEtc: string, names: readonly string[]): string {
  const facts = names.map((name) => {
    const { mtimeMs, size, ino } = lstatSync(join(hostEtc, name));
    return [name, mtimeMs, size, ino];
  });
  return createHash('sha256')
    .update(JSON.stringify([SKELETON_VERSION, SYNTHETIC, facts]))
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
function build(target: string, hostEtc: string, names: readonly string[]): void {
  const draft = `${target}.${randomBytes(4).toString('hex')}`;
  const etc = join(draft, 'etc');
  makePublicDir(etc);
  for (const [name, text] of Object.entries(SYNTHETIC)) writePublic(join(etc, name), text);
  for (const name of names) {
    makePublicDir(dirname(join(etc, name)));
    copyPublic(join(hostEtc, name), join(etc, name));
  }
  try {
    renameSync(draft, target);
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    if (!isErrno(cause, 'ENOTEMPTY', 'EEXIST')) throw cause;
  }
}

/**
 * Copies links as links; files and directories only if everybody may read them on the host. Leaves out manual pages.
 */
function copyPublic(from: string, to: string): void {
  const stats = lstatSync(from);
  if (from.endsWith('.gz')) return;
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  if (!isPublic(stats)) return;
  if (stats.isFile()) writePublic(to, readFileSync(from));
  if (!stats.isDirectory()) return;
  makePublicDir(to);
  for (const name of readdirSync(from)) copyPublic(join(from, name), join(to, name));
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
