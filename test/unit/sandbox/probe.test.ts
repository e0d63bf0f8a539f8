import { expect, test } from 'vitest';
import {
  composeReport,
  explainFailure,
  findBubblewrap,
  NO_BUBBLEWRAP,
  NO_CGROUP,
  ROOT_OWNED,
  readFeatures,
} from '#src/sandbox/probe.js';
import { UnavailableSandbox } from '#src/sandbox/unavailable.js';

test.each([
  ['bwrap: setting up uid map: Permission denied', 'bwrap-userns-restrict'],
  ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', 'apparmor_parser'],
  [
    'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
    'user.max_user_namespaces',
  ],
  [
    'bwrap: No permissions to create new namespace, likely because the kernel does not allow',
    'unprivileged_userns_clone',
  ],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", 'systempaths=unconfined'],
  ['unshare: unshare failed: Operation not permitted', '--cap-add SYS_ADMIN'],
  ['mount: /run/contextd-sandbox/d0: permission denied.', '--cap-add SYS_ADMIN'],
  ['sh: 10: exec: setpriv: not found', 'apt-get install -y util-linux'],
  ['bwrap: Unknown option --disable-userns', '0.8'],
])('the way out of %s', (stderr, remedy) => {
  expect(explainFailure(stderr).remedy).toContain(remedy);
});

test('what is not known is shown', () => {
  expect(explainFailure('one\nbwrap: something new\n').missing).toBe('the sandbox did not start: bwrap: something new');
});

test('without bubblewrap the remedy is the exact command', async () => {
  expect(await findBubblewrap(['/nonexistent/bwrap'])).toBeNull();
  const report = composeReport(null, NO_BUBBLEWRAP, []);
  expect(report).toMatchObject({ level: 'unavailable', backend: 'none', version: null });
  expect(report.remedy).toContain('apt-get install -y bubblewrap');
});

test('a report is full, reduced with everything missing, or unavailable', () => {
  expect(composeReport('0.8.0', null, [])).toEqual({
    level: 'full',
    missing: [],
    remedy: null,
    backend: 'bubblewrap',
    version: '0.8.0',
  });
  expect(composeReport('0.8.0', null, [ROOT_OWNED, NO_CGROUP])).toMatchObject({
    level: 'reduced',
    missing: [ROOT_OWNED.missing, NO_CGROUP.missing],
  });
  expect(composeReport('0.8.0', NO_CGROUP, [ROOT_OWNED])).toMatchObject({
    level: 'unavailable',
    missing: [NO_CGROUP.missing],
  });
});

test('features are read from --help', () => {
  expect(readFeatures('--disable-userns  x\n--ro-bind-fd FD DEST')).toEqual({ disableUserns: true, bindFd: true });
  expect(readFeatures('')).toEqual({ disableUserns: false, bindFd: false });
});

test('where nothing isolates, everything is refused with the remedy', async () => {
  const sandbox = new UnavailableSandbox('no isolation here', 'Use Linux.');
  await sandbox.start();
  expect(await sandbox.isolationFor()).toMatchObject({ level: 'unavailable', remedy: 'Use Linux.', backend: 'none' });
  await expect(sandbox.run()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', remedy: 'Use Linux.' });
  await expect(sandbox.open()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
});
