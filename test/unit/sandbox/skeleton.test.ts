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
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Mount } from '#src/sandbox/policy.js';
import { buildSkeleton, removeOldSkeletons } from '#src/sandbox/skeleton.js';

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

function etcOf(mounts: readonly Mount[]): string {
  const mount = mounts.find((one) => one.dest === '/etc');
  if (mount?.kind !== 'ro-bind') throw new Error('no /etc');
  return mount.source;
}

test('SEC-2.3 it holds no accounts, names or keys of the host, and everything that programs need', () => {
  const made = etcOf(buildSkeleton(join(base, 'sandbox'), etc));
  expect(readdirSync(made).sort()).toEqual(
    ['group', 'hostname', 'hosts', 'ld.so.cache', 'localtime', 'nsswitch.conf', 'passwd', 'resolv.conf', 'ssl'].sort(),
  );
  expect(readdirSync(join(made, 'ssl'))).toEqual(['certs']);
  expect(readdirSync(join(made, 'ssl/certs'))).toEqual(['ca.pem']);
  expect(readFileSync(join(made, 'passwd'), 'utf8')).not.toContain('of the host');
  expect(readlinkSync(join(made, 'localtime'))).toBe('/usr/share/zoneinfo/UTC');
  expect([lstatSync(made).mode & 0o777, lstatSync(join(made, 'passwd')).mode & 0o777]).toEqual([0o755, 0o644]);
});

test('it is built once, again if an input has changed, and old ones can be removed', () => {
  const sandbox = join(base, 'sandbox');
  const first = etcOf(buildSkeleton(sandbox, etc));
  const built = lstatSync(first).ino;
  expect(etcOf(buildSkeleton(sandbox, etc))).toBe(first);
  expect(lstatSync(first).ino).toBe(built);
  writeFileSync(join(etc, 'ld.so.cache'), 'another cache');
  const second = buildSkeleton(sandbox, etc);
  expect(etcOf(second)).not.toBe(first);
  expect(readFileSync(join(etcOf(second), 'ld.so.cache'), 'utf8')).toBe('another cache');
  expect(readdirSync(sandbox)).toHaveLength(2);
  removeOldSkeletons(sandbox, second);
  expect(readdirSync(sandbox)).toHaveLength(1);
});

test('/usr is read-only, and what is beside it is a link or read-only too', () => {
  for (const mount of buildSkeleton(join(base, 'sandbox'), etc)) expect(['ro-bind', 'symlink']).toContain(mount.kind);
});

test('SEC-2.3 every user can read and traverse the skeleton, whatever umask the daemon has', () => {
  mkdirSync(join(etc, 'pki/tls/certs'), { recursive: true });
  writeFileSync(join(etc, 'pki/tls/certs/ca.pem'), 'certificate', { mode: 0o644 });
  const before = process.umask(0o077);
  try {
    buildSkeleton(join(base, 'sandbox'), etc);
  } finally {
    process.umask(before);
  }
  const top = join(base, 'sandbox');
  const closed = readdirSync(top, { recursive: true, encoding: 'utf8' }).filter((path) => {
    const stats = lstatSync(join(top, path));
    const wanted = stats.isDirectory() ? 0o755 : 0o644;
    return !stats.isSymbolicLink() && (stats.mode & 0o777) !== wanted;
  });
  expect(closed).toEqual([]);
});
