import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolvePaths } from '#src/config/paths.js';
import { PUBLIC_MOUNT_POINTS, publicDirFor } from '#src/sandbox/reach.js';
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
