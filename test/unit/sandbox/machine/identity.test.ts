import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { becomeOwner, chooseIdentity, identityFor, idsInside } from '#src/sandbox/machine/identity.js';
import { canReach } from '#src/sandbox/machine/reach.js';

const PASSWD = 'root:x:0:0::/root:/bin/sh\nann:x:1001:100::/home/ann:/bin/sh\nodd:x:1002:0::/:/bin/sh\n';

test("SEC-2.3 the user inside is the daemon's own, the workspace’s owner, or root only for root’s workspace", () => {
  expect(chooseIdentity(1001, 0, 0, PASSWD)).toEqual({ kind: 'self' });
  expect(chooseIdentity(0, 1001, 1001, PASSWD)).toEqual({ kind: 'owner', uid: 1001, gid: 100 });
  expect(chooseIdentity(0, 4000, 4001, PASSWD)).toEqual({ kind: 'owner', uid: 4000, gid: 4001 });
  expect(chooseIdentity(0, 0, 0, PASSWD)).toEqual({ kind: 'root' });
});

test('SEC-2.3 no command runs as a member of root’s group', () => {
  expect(chooseIdentity(0, 4000, 0, PASSWD)).toMatchObject({ gid: 65534 });
  expect(chooseIdentity(0, 1002, 0, PASSWD)).toMatchObject({ gid: 65534 });
});

test('SEC-2.3 switching to the owner drops groups and every capability', () => {
  expect(becomeOwner({ kind: 'root' })).toEqual([]);
  expect(becomeOwner({ kind: 'owner', uid: 7, gid: 8 })).toEqual([
    'setpriv',
    '--reuid=7',
    '--regid=8',
    '--clear-groups',
    '--inh-caps=-all',
    '--ambient-caps=-all',
    '--bounding-set=-all',
    '--',
  ]);
});

test('a workspace that does not exist is PATH_NOT_FOUND', () => {
  expect(() => identityFor('/nonexistent/x', 0)).toThrow(expect.objectContaining({ code: 'PATH_NOT_FOUND' }));
});

test('the modes of every parent decide what another user can reach', () => {
  const base = mkdtempSync(join(tmpdir(), 'contextd-reach-'));
  onTestFinished(() => rmSync(base, { recursive: true }));
  const inner = join(base, 'inner');
  mkdirSync(inner);
  chmodSync(inner, 0o755);
  expect(canReach(inner, 12345, 12345)).toBe(false);
  chmodSync(base, 0o711);
  expect(canReach(inner, 12345, 12345)).toBe(true);
  chmodSync(inner, 0o700);
  expect(canReach(inner, 12345, 12345)).toBe(false);
  expect(canReach(inner, process.getuid?.() ?? 0, 0)).toBe(true);
});

test('a command sees its own ids as the host does, except in a project of root', () => {
  expect(idsInside({ kind: 'owner', uid: 1234, gid: 100 })).toEqual({ uid: 1234, gid: 100 });
  expect(idsInside({ kind: 'self' })).toEqual({ uid: process.getuid?.(), gid: process.getgid?.() });
  expect(idsInside({ kind: 'root' })).toEqual({ uid: 1000, gid: 1000 });
});
