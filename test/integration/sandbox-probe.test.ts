import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptConfig } from '#src/config/load.js';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { collectFacts, findBubblewrap } from '#src/sandbox/machine/facts.js';
import { explainFailure } from '#src/sandbox/machine/failures.js';
import { Host } from '#src/sandbox/machine/host.js';
import { defaultFilter } from '#src/sandbox/machine/seccomp/filter.js';
import { Isolation } from '#src/sandbox/probe/isolation.js';

describe.runIf(process.platform === 'linux')('the probe, on this machine', () => {
  let dir: string;
  let host: Host | null;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'contextd-probe-'));
    const [toolSocketsDir, dialledSocketsDir] = [join(dir, 't'), join(dir, 'd')];
    const places = { storageDir: join(dir, 's'), proxyBinary: join(dir, 'proxy') };
    const paths = { sandboxDir: dir, ...places, toolSocketsDir, dialledSocketsDir };
    const { sandbox: config } = acceptConfig('config.json', {});
    host = await Host.open({ paths, config, logger: silentLogger, clock: systemClock });
  });
  afterAll(async () => {
    await host?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  function openHost(): Host {
    if (host === null) throw new Error('these tests need bubblewrap');
    return host;
  }

  test('SEC-2.2 SEC-2.3 really runs a sandbox with its own namespaces, the filter in force and no nested namespaces', async () => {
    const filter = defaultFilter({ inet: true, unix: true, debugger: false });
    const report = await Isolation.ofHost(openHost(), filter, systemClock).ofMachine();
    const enforced = report.layers.filter((layer) => layer.enforced).map(({ name }) => name);
    for (const name of ['user', 'pid', 'network', 'mount', 'ipc', 'uts', 'cgroup'])
      expect(enforced).toContain(`${name} namespace`);
    expect(enforced).toContain('no namespaces inside');
    expect(enforced).toContain('unprivileged user');
    expect(enforced.includes('seccomp filter')).toBe(filter !== null);
    expect(enforced.includes('memory limit')).toBe(openHost().cgroups !== null);
    const file = join(dir, 'probe.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain('"filtered":true');
  });

  test('SEC-2.2 notices a missing filter and lowers the level', async () => {
    const report = await Isolation.ofHost(openHost(), null, systemClock).ofMachine();
    expect(report.level).toBe('reduced');
    expect(report.layers.find(({ name }) => name === 'seccomp filter')).toMatchObject({ enforced: false });
  });

  test('leaves out a filter that the kernel refuses, and reports it', async () => {
    const broken = Buffer.from('0600000000000000', 'hex').fill(0xff, 0, 2);
    const report = await Isolation.ofHost(openHost(), broken, systemClock).ofMachine();
    expect(report.missing).toContain('a seccomp filter (this kernel does not accept one)');
  });

  test('recognises the message of bubblewrap if user namespaces are limited to 0', async () => {
    const bubblewrap = await findBubblewrap();
    // The setting applies to each user namespace separately, so a new namespace can set it without affecting the
    // machine.
    const script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"';
    const command = [bubblewrap?.path ?? '', '--unshare-user', '--ro-bind', '/', '/', 'true'];
    const said = spawnSync('unshare', ['--user', '--map-root-user', 'sh', '-c', script, 'sh', ...command], {
      encoding: 'utf8',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    });
    expect(said.status).not.toBe(0);
    expect(explainFailure(said.stderr, collectFacts(bubblewrap)).remedy).toContain(
      'sysctl -w user.max_user_namespaces=15000',
    );
  });

  test('reports a bubblewrap that fails as on Ubuntu 24.04 as unavailable, and does not remember that', async () => {
    const stand = join(dir, 'bwrap');
    writeFileSync(stand, '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n');
    chmodSync(stand, 0o755);
    chmodSync(dir, 0o711);
    const { bubblewrap, cgroups, strayFds, sandboxDir } = openHost();
    const changed = {
      bubblewrap: { ...bubblewrap, path: stand },
      cgroups,
      strayFds,
      sandboxDir,
      baseFor: () => openHost().base(),
    };
    const report = await Isolation.ofHost(changed, null, systemClock).ofMachine();
    expect(report).toMatchObject({ level: 'unavailable', layers: [] });
    expect(report.missing[0]).toMatch(/AppArmor/);
    expect(readFileSync(join(dir, 'probe.json'), 'utf8')).not.toContain(stand);
  });
});
