import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { baseView } from '#src/sandbox/contract/policy.js';
import { createKeeper } from '#src/sandbox/storage/keeper.js';
import { Storage } from '#src/sandbox/storage/storage.js';

const MIB = 1024 * 1024;
const MAX_MIB = 64;
/** A file system on which nobody else writes as much as a test. */
const QUIET = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** Beyond every rest between two measurements. */
const LATER_MS = 3_600_000;

let root: string;
let nowMs: number;
let failures: number;
let storage: Storage;
let home: string;
let onExceeded: ReturnType<typeof vi.fn<() => void>>;
let end: AbortController;

/** A command runs in a storage that was measured once, and no keeper can be started from now on. */
beforeEach(async () => {
  root = mkdtempSync(join(QUIET, 'ctx-unmeasured-'));
  [nowMs, failures] = [0, 0];
  storage = new Storage({
    root: async () => root,
    config: { cache_max_mb: MAX_MIB, session_max_mb: MAX_MIB },
    keeper: createKeeper(async () => null),
    cachesInside: null,
    logger: { ...silentLogger, warn: (event) => (failures += event === 'storage.not_measured' ? 1 : 0) },
    clock: { now: () => nowMs, monotonic: () => nowMs },
  });
  const lease = await storage.lease(
    { workspace: baseView('/project'), storage: { session: 's' } },
    { kind: 'self' },
    [],
  );
  onExceeded = vi.fn<() => void>();
  end = new AbortController();
  lease?.use(onExceeded, end.signal);
  home = lease?.mounts.home ?? '';
});
afterEach(() => {
  end.abort();
  storage.stop();
  rmSync(root, { recursive: true });
});
const measured = (): Promise<void> => expect.poll(() => failures, { timeout: 10_000 }).toBeGreaterThan(1);

test('SEC-2.5: a command goes on while its storage cannot be measured, as long as the disk shows that it cannot be too large', async () => {
  nowMs = LATER_MS;
  await measured();
  expect(onExceeded).not.toHaveBeenCalled();
});

test('SEC-2.5: a command ends if its storage cannot be measured and the disk shows that it can be too large', async () => {
  writeFileSync(join(home, 'large'), Buffer.alloc(2 * MAX_MIB * MIB, 1));
  nowMs = LATER_MS;
  await measured();
  expect(onExceeded).toHaveBeenCalled();
});
