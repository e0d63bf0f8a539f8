import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acceptConfig } from '#src/config/load.js';
import { resolvePaths } from '#src/config/paths.js';
import { silentLogger } from '#src/core/log.js';
import { policyFor } from '#src/features/outside/policy.js';
import type { WorkspaceGuard } from '#src/guard/client/workspace-guard.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import { CheckedPolicies } from '#src/sandbox/run/checked-policy.js';
import { bareEnvironment } from '../helpers/bare-environment.ts';

const IDLE_MS = 60_000;

describe('the guard of an idle workspace', () => {
  let base: string;
  let nowMs: number;
  let policies: CheckedPolicies;
  let policy: SandboxPolicy;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-idle-')));
    const workspace = join(base, 'workspace');
    mkdirSync(workspace);
    const { sandbox } = acceptConfig('the test', { sandbox: { idle_ms: IDLE_MS } });
    const environment = bareEnvironment({ home: base, contextdHome: join(base, 'home') });
    nowMs = 0;
    policies = new CheckedPolicies({
      paths: resolvePaths(environment, join(base, 'install')),
      config: sandbox,
      logger: silentLogger,
      clock: { now: () => nowMs, monotonic: () => nowMs },
    });
    policy = policyFor({ path: workspace, layer: null }, sandbox);
  });
  afterEach(async () => {
    await policies.close();
    rmSync(base, { recursive: true, force: true });
  });

  const guardNow = (): WorkspaceGuard => {
    const [tree] = policies.guardsOf(policy).trees;
    if (tree === undefined) throw new Error('the workspace has no guard');
    return tree.guard;
  };
  const passes = (ms: number): void => {
    nowMs += ms;
    policies.closeIdleGuards();
  };

  test('is closed after a while, and the next use gets another one that works', async () => {
    const first = guardNow();
    const { fingerprint } = await first.protection();
    passes(IDLE_MS - 1);
    expect(guardNow()).toBe(first);
    passes(1);
    const second = guardNow();
    expect(second).not.toBe(first);
    expect((await second.protection()).fingerprint).toBe(fingerprint);
    await expect(first.protection()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  });

  test('stays as long as a sandbox has its mounts, and a while longer', async () => {
    const guard = guardNow();
    await guard.protection();
    const letGo = guard.hold();
    passes(10 * IDLE_MS);
    expect(guardNow()).toBe(guard);
    letGo();
    passes(IDLE_MS - 1);
    expect(guardNow()).toBe(guard);
    passes(1);
    expect(guardNow()).not.toBe(guard);
  });

  test('stays until what a run may have changed has been searched', async () => {
    const guard = guardNow();
    const watch = guard.begin(await guard.protection());
    passes(10 * IDLE_MS);
    expect(guardNow()).toBe(guard);
    await guard.finish(watch);
    await guard.settled();
    await expect.poll(() => guard.idleMs >= 0 && guardNow() === guard).toBe(true);
    await expect.poll(() => passes(IDLE_MS) ?? guardNow() !== guard).toBe(true);
  });
});
