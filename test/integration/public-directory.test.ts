import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { acceptConfig } from '#src/config/load.js';
import { resolvePaths } from '#src/config/paths.js';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { Host } from '#src/sandbox/machine/host.js';
import { PUBLIC_MOUNT_POINTS, publicDirFor } from '#src/sandbox/machine/reach.js';
import { openBench } from '../fixtures/sandbox-harness.ts';
import { bareEnvironment } from '../helpers/bare-environment.ts';

test.skipIf(process.getuid?.() !== 0)(
  'a root daemon that stops leaves nothing in its public directory, and keeps the storage (skipped without root)',
  async () => {
    const parent = mkdtempSync(join(tmpdir(), 'public-'));
    const bench = await openBench('workspace of uid 65534', {}, undefined, parent);
    const { sandboxDir, storageDir } = resolvePaths(
      bareEnvironment({ home: bench.base, contextdHome: bench.home }),
      join(bench.base, 'install'),
    );
    const storage = { storage: { session: 's' }, network: 'project', git: 'working' } as const;
    await bench.bash('echo kept >~/.cache/mark', {}, storage);
    const dir = publicDirFor(sandboxDir);
    expect(readdirSync(dir)).toEqual(expect.arrayContaining(['storage', expect.stringMatching(/^skeleton-/)]));
    await bench.sandbox.stop();
    expect(existsSync(dir)).toBe(false);
    expect(existsSync(join(PUBLIC_MOUNT_POINTS, 'd0'))).toBe(true);
    const kept = readdirSync(storageDir, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('/mark'),
    );
    expect(kept.map((path) => readFileSync(join(storageDir, path), 'utf8'))).toEqual(['kept\n']);
    await bench.close();
    rmSync(parent, { recursive: true, force: true });
  },
);

test.runIf(process.platform === 'linux')(
  'NFR-2.3: the spawner of a killed daemon that ends late takes nothing from the daemon that follows',
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'successor-'));
    const places = { storageDir: join(dir, 's'), proxyBinary: join(dir, 'proxy') };
    const paths = { sandboxDir: dir, ...places, toolSocketsDir: join(dir, 't'), dialledSocketsDir: join(dir, 'd') };
    const { sandbox: config } = acceptConfig('config.json', {});
    const open = async (): Promise<Host> => {
      const host = await Host.open({ paths, config, logger: silentLogger, clock: systemClock });
      if (host === null) throw new Error('this test needs bubblewrap');
      return host;
    };
    const killed = await open();
    const next = await open();
    const file = next.emptyFile();
    await killed.close();
    expect(existsSync(file)).toBe(true);
    expect(next.emptyFile()).toBe(file);
    rmSync(dirname(file), { recursive: true });
    expect(existsSync(next.emptyFile())).toBe(true);
    await next.close();
    expect(existsSync(file)).toBe(process.getuid?.() !== 0);
    rmSync(dir, { recursive: true, force: true });
  },
);
