import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Mount } from '#src/guard/contract/mount.js';
import { parseApk, parseDpkg, parsePacman, type ShippedFile } from '#src/sandbox/machine/package-files.js';
import { buildSkeleton, type EtcSource, mountAccounts, removeOldSkeletons } from '#src/sandbox/machine/skeleton.js';

let base = '';
let etc = '';
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'contextd-skeleton-'));
  etc = join(base, 'etc');
  mkdirSync(join(etc, 'ssl/certs'), { recursive: true });
  mkdirSync(join(etc, 'ssl/private'));
  mkdirSync(join(base, 'sandbox'));
  for (const name of ['shadow', 'machine-id', 'passwd', 'hostname', 'ssl/private/key'])
    writeFileSync(join(etc, name), 'of the host');
  writeFileSync(join(etc, 'ssl/certs/ca.pem'), 'certificate', { mode: 0o644 });
  writeFileSync(join(etc, 'ssl/certs/closed.pem'), 'closed');
  chmodSync(join(etc, 'ssl/certs/closed.pem'), 0o600);
  writeFileSync(join(etc, 'ld.so.cache'), 'cache', { mode: 0o644 });
  symlinkSync('/usr/share/zoneinfo/UTC', join(etc, 'localtime'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function source(more: Partial<EtcSource> = {}): EtcSource {
  return { etc, listed: [], stamps: [], shipped: () => [], ...more };
}

/** A file in the host's /etc, and what its package says about it. */
function ship(name: string, shipped: string, found = shipped, mode = 0o644): ShippedFile {
  mkdirSync(dirname(join(etc, name)), { recursive: true, mode: 0o755 });
  writeFileSync(join(etc, name), found);
  chmodSync(join(etc, name), mode);
  return { name, algorithm: 'md5', digest: createHash('md5').update(shipped).digest('hex') };
}

function etcOf(mounts: readonly Mount[]): string {
  const mount = mounts.find((one) => one.dest === '/etc');
  if (mount?.kind !== 'ro-bind') throw new Error('no /etc');
  return mount.source;
}

test('SEC-2.3 it holds no accounts, names or keys of the host, and everything that programs need', () => {
  const made = etcOf(buildSkeleton(join(base, 'sandbox'), source()));
  expect(readdirSync(made).sort()).toEqual(
    [
      'contextd-git-driver',
      'gitattributes',
      'gitconfig',
      'gitignore',
      'group',
      'hostname',
      'hosts',
      'ld.so.cache',
      'localtime',
      'nsswitch.conf',
      'passwd',
      'resolv.conf',
      'ssl',
    ].sort(),
  );
  expect(readdirSync(join(made, 'ssl'))).toEqual(['certs']);
  expect(readdirSync(join(made, 'ssl/certs'))).toEqual(['ca.pem']);
  expect(readFileSync(join(made, 'passwd'), 'utf8')).not.toContain('of the host');
  expect(readlinkSync(join(made, 'localtime'))).toBe('/usr/share/zoneinfo/UTC');
  expect([lstatSync(made).mode & 0o777, lstatSync(join(made, 'passwd')).mode & 0o777]).toEqual([0o755, 0o644]);
});

test('the ids of a command have names in files of their own, also if they are those of the account nobody', () => {
  const skeleton = buildSkeleton(join(base, 'sandbox'), source());
  const fileOf = (ids: { uid: number; gid: number }, dest: string): string => {
    const mount = mountAccounts(skeleton, ids).find((one) => one.dest === dest);
    if (mount?.kind !== 'ro-bind') throw new Error(`no ${dest}`);
    expect(lstatSync(mount.source).mode & 0o777).toBe(0o644);
    return readFileSync(mount.source, 'utf8');
  };
  const names = (text: string, id: number) =>
    text
      .split('\n')
      .find((line) => Number(line.split(':')[2]) === id)
      ?.split(':')[0];
  for (const id of [33, 1000, 65_534]) {
    const passwd = fileOf({ uid: id, gid: 100 }, '/etc/passwd');
    expect(passwd).toContain(`sandbox:x:${id}:100:`);
    expect([names(passwd, id), names(passwd, 0)]).toEqual(['sandbox', 'root']);
    expect(names(fileOf({ uid: 33, gid: id }, '/etc/group'), id)).toBe('sandbox');
  }
});

test('it is built once, again if an input has changed, and old ones can be removed', () => {
  const sandbox = join(base, 'sandbox');
  const first = etcOf(buildSkeleton(sandbox, source()));
  const built = lstatSync(first).ino;
  expect(etcOf(buildSkeleton(sandbox, source()))).toBe(first);
  expect(lstatSync(first).ino).toBe(built);
  writeFileSync(join(etc, 'ld.so.cache'), 'another cache');
  const second = buildSkeleton(sandbox, source());
  expect(etcOf(second)).not.toBe(first);
  expect(readFileSync(join(etcOf(second), 'ld.so.cache'), 'utf8')).toBe('another cache');
  expect(readdirSync(sandbox)).toHaveLength(2);
  removeOldSkeletons(sandbox, second);
  expect(readdirSync(sandbox)).toHaveLength(1);
});

test('/usr is read-only, and what is beside it is a link or read-only too', () => {
  for (const mount of buildSkeleton(join(base, 'sandbox'), source()))
    expect(['ro-bind', 'symlink']).toContain(mount.kind);
});

test('SEC-2.3 every user can read and traverse the skeleton, whatever umask the daemon has', () => {
  mkdirSync(join(etc, 'pki/tls/certs'), { recursive: true });
  writeFileSync(join(etc, 'pki/tls/certs/ca.pem'), 'certificate', { mode: 0o644 });
  const before = process.umask(0o077);
  try {
    buildSkeleton(join(base, 'sandbox'), source());
  } finally {
    process.umask(before);
  }
  const top = join(base, 'sandbox');
  const closed = readdirSync(top, { recursive: true, encoding: 'utf8' }).filter((path) => {
    const stats = lstatSync(join(top, path));
    const wanted = stats.isDirectory() || basename(path) === 'proxy' ? 0o755 : 0o644;
    return !stats.isSymbolicLink() && (stats.mode & 0o777) !== wanted;
  });
  expect(closed).toEqual([]);
});

test('SEC-2.3 a configuration file is copied if it is as its package ships it, because then it holds nothing of this machine', () => {
  const shipped = [
    ship('maven/logging/simplelogger.properties', 'org.slf4j'),
    ship('maven/settings.xml', '<settings/>', '<settings><password>of the host</password></settings>'),
    ship('closed.conf', 'as shipped', 'as shipped', 0o640),
    ship('closed/inside.conf', 'as shipped'),
    ship('hosts', 'as shipped'),
  ];
  chmodSync(join(etc, 'closed'), 0o750);
  symlinkSync('maven', join(etc, 'linked'));
  const behindLink = { ...ship('maven/m2.conf', 'm2'), name: 'linked/m2.conf' };
  const made = etcOf(buildSkeleton(join(base, 'sandbox'), source({ shipped: () => [...shipped, behindLink] })));
  const files = readdirSync(made, { recursive: true, encoding: 'utf8' });
  expect(files).toContain('maven/logging/simplelogger.properties');
  for (const name of ['maven/settings.xml', 'closed.conf', 'closed', 'linked', 'machine-id'])
    expect(files).not.toContain(name);
  expect(readFileSync(join(made, 'hosts'), 'utf8')).toContain('localhost');
});

test('SEC-2.3 a listed name is copied as it is, without private keys and what others may not read', () => {
  ship('pip.conf', '', '[global]');
  ship('tls/server.key', '', '-----BEGIN RSA PRIVATE KEY-----\n');
  ship('tls/server.crt', '', '-----BEGIN CERTIFICATE-----\n');
  ship('tls/closed', '', 'x', 0o600);
  const listed = ['pip.conf', 'tls', 'tls/server.crt', 'absent'];
  const made = etcOf(buildSkeleton(join(base, 'sandbox'), source({ listed })));
  expect(readdirSync(made)).toContain('pip.conf');
  expect(readdirSync(join(made, 'tls'))).toEqual(['server.crt']);
});

test('the lists of dpkg, apk and pacman are read, and dpkg’s notes about obsolete files are respected', () => {
  const md5 = 'd41d8cd98f00b204e9800998ecf8427e';
  const status = `Package: a\nConffiles:\n /etc/a.conf ${md5}\n /etc/old.conf ${md5} obsolete\nDescription: /etc/b ${md5}\n`;
  expect(parseDpkg(status)).toEqual([{ name: 'a.conf', algorithm: 'md5', digest: md5 }]);
  const apk = 'F:usr/bin\nR:x\nZ:Q1AAAA\nF:etc/ssl\nR:openssl.cnf\na:0:0:644\nZ:Q12jmj7l5rSw0yVb/vlWAYkK/YBwk=\n';
  expect(parseApk(apk)).toEqual([
    { name: 'ssl/openssl.cnf', algorithm: 'sha1', digest: 'da39a3ee5e6b4b0d3255bfef95601890afd80709' },
  ]);
  expect(parsePacman(`%FILES%\netc/\netc/a.conf\n\n%BACKUP%\netc/a.conf\t${md5}\n\n`)).toEqual([
    { name: 'a.conf', algorithm: 'md5', digest: md5 },
  ]);
});
