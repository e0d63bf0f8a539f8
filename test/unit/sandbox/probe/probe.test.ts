import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkConfig } from '#src/config/load.js';
import { resolvePaths } from '#src/config/paths.js';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { createSandbox, UnavailableSandbox } from '#src/sandbox/client/create-sandbox.js';
import { collectFacts, findBubblewrap, type MachineFacts, readFeatures } from '#src/sandbox/machine/facts.js';
import { explainFailure } from '#src/sandbox/machine/failures.js';
import { dependenciesOf, Isolation, readVerdicts, writeVerdicts } from '#src/sandbox/probe/isolation.js';
import type { Trial } from '#src/sandbox/probe/ladder.js';
import { readFindings, tryOut } from '#src/sandbox/probe/trial.js';
import { bareEnvironment } from '../../../helpers/bare-environment.ts';

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
])('gives the remedy for %s if nothing is known about the machine', (stderr, remedy) => {
  expect(explainFailure(stderr).remedy).toContain(remedy);
});

test('an unknown message is shown', () => {
  expect(explainFailure('one\nbwrap: something new\n').missing).toBe('the sandbox did not start: bwrap: something new');
});

test('issue 29: says how a sandbox ended that did not start and printed nothing', async () => {
  for (const [script, ended] of [
    ['exit 3', 'status 3'],
    ['kill -SEGV $$', 'SIGSEGV'],
  ]) {
    const dir = mkdtempSync(join(tmpdir(), 'contextd-silent-'));
    const path = join(dir, 'bwrap');
    writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const bubblewrap = { path, version: '0.8.0', features: { disableUserns: true, bindFd: true } };
    const host = { bubblewrap, cgroups: null, strayFds: [], baseFor: () => [] };
    expect(await tryOut(host, { kind: 'self' }, null)).toEqual({ ran: false, failure: `it ended with ${ended}` });
    rmSync(dir, { recursive: true });
  }
});

test('findBubblewrap returns null if bubblewrap is not installed', async () => {
  expect(await findBubblewrap(['/nonexistent/bwrap'])).toBeNull();
  expect(Isolation.none()).toMatchObject({ level: 'unavailable', backend: 'none', version: null, layers: [] });
});

test('reads features from --help', () => {
  expect(readFeatures('--disable-userns  x\n--ro-bind-fd FD DEST')).toEqual({ disableUserns: true, bindFd: true });
  expect(readFeatures('')).toEqual({ disableUserns: false, bindFd: false });
});

test('SEC-2.3 a namespace counts only if it differs from the one outside', () => {
  const outside = ['user:[1]', 'pid:[2]', 'net:[3]', 'mnt:[4]', 'ipc:[5]', 'uts:[6]', 'cgroup:[7]'];
  const said = 'user:[11]\npid:[12]\nnet:[3]\nmnt:[14]\nipc:[15]\nuts:[16]\nSeccomp:\t2\n';
  expect(readFindings(said, outside)).toEqual({
    ownNamespaces: ['user', 'pid', 'mnt', 'ipc', 'uts'],
    filtered: true,
    nestable: false,
  });
  expect(readFindings('Seccomp:\t0\nnestable\n', outside)).toEqual({
    ownNamespaces: [],
    filtered: false,
    nestable: true,
  });
});

test('NFR-3.4 on a system without Linux namespaces and seccomp nothing runs, unless it has a backend of its own', async () => {
  const paths = resolvePaths(
    bareEnvironment({ home: '/home/ann', contextdHome: '/home/ann/contextd' }),
    '/opt/contextd',
  );
  const { config } = checkConfig({});
  if (config === undefined) throw new Error('no defaults');
  const deps = { paths, config: config.sandbox, logger: silentLogger, clock: systemClock };
  for (const platform of ['freebsd', 'win32'] as const) {
    const sandbox = createSandbox(deps, platform);
    expect(await sandbox.probe()).toMatchObject({
      level: 'unavailable',
      missing: [`contextd cannot isolate tools on ${platform} yet`],
      remedy: expect.stringContaining('Linux'),
    });
    expect((await sandbox.status()).spawnerPid).toBeNull();
  }
});

test('if nothing isolates, everything is refused with the remedy', async () => {
  const sandbox = new UnavailableSandbox('no isolation here', 'Use Linux.');
  await sandbox.start();
  expect(await sandbox.isolationFor()).toMatchObject({ level: 'unavailable', remedy: 'Use Linux.', backend: 'none' });
  await expect(sandbox.run()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE', remedy: 'Use Linux.' });
  await expect(sandbox.open()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
});

const OWN = ['user', 'pid', 'net', 'mnt', 'ipc', 'uts', 'cgroup'];
const PASSED: Extract<Trial, { ran: true }> = {
  ran: true,
  findings: { ownNamespaces: OWN, filtered: true, nestable: false },
  refusedFilter: false,
  unshared: null,
};
const FAILED: Trial = { ran: false, failure: 'bwrap: setting up uid map: Permission denied' };

function factsOf(change: Partial<MachineFacts> = {}): MachineFacts {
  const facts = collectFacts(null);
  return {
    ...facts,
    wsl: null,
    uid: 1000,
    bubblewrap: {
      path: '/usr/bin/bwrap',
      version: '0.9.0',
      features: { disableUserns: true, bindFd: true },
      mtimeMs: 1,
      size: 2,
      mode: 0o100755,
    },
    sysctls: { maxUserNamespaces: 100, unprivilegedUsernsClone: 1, apparmorRestrictUserns: 0 },
    cgroup: {
      v1: null,
      v2: { path: '/x', writable: true, controllers: ['cpu', 'memory', 'pids'] },
      memoryController: true,
    },
    ...change,
  };
}

describe('a verdict', () => {
  let dir: string;
  let verdictFile: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'contextd-probe-'));
    verdictFile = join(dir, 'probe.json');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** An isolation of a machine whose facts and trials the test sets; `tried` counts the trials. */
  function isolationOver(state: { facts: MachineFacts; trial: Trial; now: number; tried: number }): Isolation {
    return new Isolation({
      cgroups: 'v2',
      verdictFile,
      filterHash: 'f00d',
      clock: { now: () => state.now, monotonic: () => state.now },
      collect: () => state.facts,
      tryOut: async () => {
        state.tried++;
        return state.trial;
      },
    });
  }

  function machineState(trial: Trial = PASSED) {
    return { facts: factsOf(), trial, now: 0, tried: 0 };
  }

  test('is not kept for the next daemon if a namespace could not be joined, so that a fix takes effect', async () => {
    const state = machineState({ ...PASSED, unshared: { missing: 'refused', remedy: 'Allow it.' } });
    expect((await isolationOver(state).of({ kind: 'self' })).loopback).toMatchObject({ isShared: false });
    state.trial = PASSED;
    expect((await isolationOver(state).of({ kind: 'self' })).loopback).toMatchObject({ isShared: true });
    expect(state.tried).toBe(2);
  });

  test('is found once, even if many ask at once, and by the next daemon from the file', async () => {
    const state = machineState();
    const isolation = isolationOver(state);
    const reports = await Promise.all([1, 2, 3].map(() => isolation.of({ kind: 'self' })));
    expect(reports.map(({ level }) => level)).toEqual(['full', 'full', 'full']);
    expect(state.tried).toBe(1);
    expect(statSync(verdictFile).mode & 0o777).toBe(0o600);

    state.now = 60_000;
    await isolation.of({ kind: 'self' });
    expect((await isolationOver(state).of({ kind: 'self' })).level).toBe('full');
    expect(state.tried).toBe(1);
    await isolation.of({ kind: 'owner', uid: 5, gid: 5 });
    expect(state.tried).toBe(2);
  });

  test('is found again if anything it depends on changes', async () => {
    const { bubblewrap, sysctls, cgroup } = factsOf();
    const changes: Partial<MachineFacts>[] = [
      { bubblewrap: bubblewrap && { ...bubblewrap, mtimeMs: 9 } },
      { bubblewrap: bubblewrap && { ...bubblewrap, size: 9 } },
      { bubblewrap: bubblewrap && { ...bubblewrap, version: '0.9.1' } },
      { bubblewrap: bubblewrap && { ...bubblewrap, path: '/bin/bwrap' } },
      { bubblewrap: bubblewrap && { ...bubblewrap, mode: 0o104755 } },
      { kernel: '9.9' },
      { uid: 1001 },
      { sysctls: { ...sysctls, maxUserNamespaces: 0 } },
      { sysctls: { ...sysctls, unprivilegedUsernsClone: 0 } },
      { sysctls: { ...sysctls, apparmorRestrictUserns: 1 } },
      { cgroup: { ...cgroup, v2: cgroup.v2 && { ...cgroup.v2, path: '/y' } } },
      { cgroup: { ...cgroup, v2: cgroup.v2 && { ...cgroup.v2, writable: false } } },
      { container: 'podman' },
    ];
    const state = machineState();
    const isolation = isolationOver(state);
    for (const [index, change] of [{}, ...changes].entries()) {
      state.facts = factsOf(change);
      state.now += 6_000;
      await isolation.of({ kind: 'self' });
      expect(state.tried, JSON.stringify(change)).toBe(index + 1);
    }
  });

  test('that is negative is never written, and is corrected without a restart', async () => {
    const state = machineState(FAILED);
    const isolation = isolationOver(state);
    expect((await isolation.of({ kind: 'self' })).level).toBe('unavailable');
    expect(() => readFileSync(verdictFile)).toThrow(/ENOENT/);
    await isolation.of({ kind: 'self' });
    expect(state.tried).toBe(1);

    state.trial = PASSED;
    state.now += 6_000;
    expect((await isolation.of({ kind: 'self' })).level).toBe('full');
    expect(state.tried).toBe(2);
  });

  test('is not even tried for uid 0 without a pids cgroup', async () => {
    const state = machineState();
    const isolation = new Isolation({
      cgroups: null,
      verdictFile,
      filterHash: null,
      clock: { now: () => 0, monotonic: () => 0 },
      collect: () => state.facts,
      tryOut: async () => {
        throw new Error('tried');
      },
    });
    expect((await isolation.of({ kind: 'root' })).missing[0]).toContain('a pids cgroup');
  });

  test('is ignored if its file belongs to others too, is broken, or has another shape', () => {
    const setup = { contextdVersion: '1', filterHash: null, cgroups: null };
    const key = dependenciesOf(factsOf(), setup);
    const trials = new Map([['self', PASSED] as const]);
    expect(writeVerdicts(verdictFile, key, trials)).toBe(true);
    expect(readVerdicts(verdictFile, key)).toEqual(trials);
    expect(readVerdicts(verdictFile, dependenciesOf(factsOf(), { ...setup, contextdVersion: '2' })).size).toBe(0);
    expect(readVerdicts(verdictFile, dependenciesOf(factsOf(), { ...setup, filterHash: 'a' })).size).toBe(0);

    const good = readFileSync(verdictFile, 'utf8');
    chmodSync(verdictFile, 0o640);
    expect(readVerdicts(verdictFile, key).size).toBe(0);
    chmodSync(verdictFile, 0o600);
    for (const bad of [
      '',
      '{',
      'null',
      good.replace('"ran":true', '"ran":false'),
      good.replace('"filtered":true', '"filtered":"yes"'),
      good.replace('"user"', '7'),
      good.replace('"self"', '"nobody"'),
      `${good}${' '.repeat(70_000)}`,
    ]) {
      writeFileSync(verdictFile, bad);
      expect(readVerdicts(verdictFile, key).size, bad.slice(0, 80)).toBe(0);
    }
    writeFileSync(join(dir, 'elsewhere'), good, { mode: 0o600 });
    rmSync(verdictFile);
    symlinkSync(join(dir, 'elsewhere'), verdictFile);
    expect(readVerdicts(verdictFile, key).size).toBe(0);
    expect(readVerdicts(join(dir, 'elsewhere'), key)).toEqual(trials);
  });

  test('that cannot be written is not an error', () => {
    expect(writeVerdicts(join(dir, 'no', 'where.json'), 'x', new Map())).toBe(false);
  });
});
