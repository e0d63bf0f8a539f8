import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acceptConfig } from '#src/config/load.js';
import { resolvePaths } from '#src/config/paths.js';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { checkIsolation, checkSeeds, checkWorkspaceRules } from '#src/features/health/health.js';
import { UnavailableSandbox } from '#src/sandbox/client/create-sandbox.js';
import { SeatbeltSandbox } from '#src/sandbox/macos/seatbelt-sandbox.js';
import { bareEnvironment } from '../../../helpers/bare-environment.ts';

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-health-')));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const configWith = (minIsolation: 'full' | 'reduced') =>
  acceptConfig('config.json', { sandbox: { min_isolation: minIsolation } });

/** A sandbox that is reduced on any machine: the Mac's, with a stand-in program that says that it confined. */
function reducedSandbox(): SeatbeltSandbox {
  const sandboxExec = join(base, 'sandbox-exec');
  writeFileSync(sandboxExec, '#!/bin/sh\necho >&3\necho confined\n');
  chmodSync(sandboxExec, 0o755);
  const environment = bareEnvironment({ home: base, contextdHome: join(base, 'home') });
  const paths = resolvePaths(environment, join(base, 'install'));
  const { sandbox: config } = configWith('reduced');
  return new SeatbeltSandbox(
    { paths, config, logger: silentLogger, clock: systemClock },
    { sandboxExec, tempRoot: base },
  );
}

test('doctor shows one line for each layer, ok or with its remedy', async () => {
  const checks = await checkIsolation('', { sandbox: reducedSandbox(), config: configWith('reduced') });
  expect(checks[0]).toMatchObject({ name: 'isolation', status: 'warn', remedy: 'See the layers below.' });
  expect(checks).toContainEqual({
    name: 'isolation: network',
    status: 'ok',
    detail: 'the sandbox profile',
    remedy: '',
  });
  expect(checks).toContainEqual({
    name: 'isolation: memory limit',
    status: 'warn',
    detail: 'missing; instead: nothing',
    remedy: 'For full isolation run contextd in a Linux virtual machine.',
  });
  expect(checks).toContainEqual({
    name: 'loopback',
    status: 'warn',
    detail:
      'a server of one call is not reachable from another call: macOS has no network namespaces, so commands have no loopback',
    remedy: 'For full isolation run contextd in a Linux virtual machine.',
  });
  expect(checks.every(({ status, remedy }) => (status === 'ok') === (remedy === ''))).toBe(true);
});

test('doctor fails if the configuration requires more than the machine offers', async () => {
  const [summary] = await checkIsolation('', { sandbox: reducedSandbox(), config: configWith('full') });
  expect(summary).toMatchObject({ status: 'fail' });
  expect(summary?.detail).toContain('sandbox.min_isolation is full, so every call is refused');
  expect(summary?.remedy).toContain('ctxd config set sandbox.min_isolation reduced');
});

test('doctor fails with the remedy if nothing isolates', async () => {
  const sandbox = new UnavailableSandbox('bubblewrap is not installed', 'sudo apt-get install -y bubblewrap.');
  expect(await checkIsolation('', { sandbox, config: configWith('reduced') })).toEqual([
    {
      name: 'isolation',
      status: 'fail',
      detail: 'none: unavailable on this machine; missing: bubblewrap is not installed; every call is refused',
      remedy: 'sudo apt-get install -y bubblewrap.',
    },
  ]);
});

test('SEC-1.1 doctor names credential files that could not be read', async () => {
  expect(await checkSeeds({ seeds: null })).toMatchObject({ status: 'ok', detail: 'off (scrub.seeds)' });
  expect(await checkSeeds({ seeds: { skipped: () => [] } })).toMatchObject({ status: 'ok' });
  const seeds = { skipped: () => [{ file: '/home/ann/.netrc', why: 'EACCES' }] };
  expect(await checkSeeds({ seeds })).toMatchObject({ status: 'warn', detail: 'not read: /home/ann/.netrc (EACCES)' });
});

test('SEC-1.1 doctor names a .gitleaks.toml that adds nothing because it is invalid', async () => {
  const projects = {
    list: async () => [
      { root: '/a', tools: [] },
      { root: '/b', tools: [] },
    ],
  };
  const workspaceRules = {
    review: async (root: string) => ({
      path: `${root}/.gitleaks.toml`,
      sha256: null,
      approved: false,
      rules: 0,
      allowances: [],
      fault: root === '/b' ? 'it is a link' : null,
    }),
  };
  const check = await checkWorkspaceRules({ projects, workspaceRules });
  expect(check).toMatchObject({ status: 'warn', detail: '/b/.gitleaks.toml: it is a link' });
  expect(await checkWorkspaceRules({ projects: { list: async () => [] }, workspaceRules })).toMatchObject({
    status: 'ok',
  });
});
