import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { GuardThread } from '#src/guard/client/guard-thread.js';
import { WorkspaceGuard } from '#src/guard/client/workspace-guard.js';
import { type Bench, letTimePass, openBench, pathsOf, recordingLogger } from '../helpers/workspace-bench.ts';

let bench: Bench;
let threads: GuardThread[];
beforeEach(() => {
  bench = openBench();
  threads = [];
});
afterEach(async () => {
  for (const thread of threads) await thread.stop();
  bench.close();
});

function openThread(program?: URL, logger = silentLogger): GuardThread {
  const thread = new GuardThread(logger, systemClock, program);
  threads.push(thread);
  return thread;
}

function openCrashingThread(): GuardThread {
  return openThread(new URL('../fixtures/crashing-guard-worker.mjs', import.meta.url));
}

/** Makes a crashing thread crash at the next request. */
function crash(guard: WorkspaceGuard): void {
  guard.building(['/crash'])();
}

function guardOf(thread: GuardThread, workspace = bench.workspace): WorkspaceGuard {
  const person = { home: '/nonexistent', gitConfigs: [] };
  const ledgerFile = join(bench.base, 'state/ledger.json');
  return new WorkspaceGuard(thread, { workspace, deny: [], person, ledgerFile, ownDirectories: [bench.own] });
}

/** Lets a script do the work of a run. Returns what was set aside by the end of the search, however busy the machine is. */
async function run(guard: WorkspaceGuard, script: string): Promise<string[]> {
  const watch = guard.begin(await guard.protection());
  bench.sh(script);
  const { quarantined } = pathsOf(await guard.finish(watch));
  await guard.settled();
  const next = guard.begin(await guard.protection());
  return [...quarantined, ...pathsOf(await guard.finish(next)).quarantined].sort();
}

describe('the thread of the workspace guards', () => {
  it('SEC-2.3: sets aside what a run made, plans the mounts, and restores what a person asks for', async () => {
    bench.sh('git init -q . && mkdir .vscode');
    const guard = guardOf(openThread());
    const before = await guard.protection();
    expect(before.mounts.map((mount) => 'dest' in mount && mount.dest)).toContain(join(bench.workspace, '.vscode'));
    expect(await guard.protection()).toBe(before);
    expect(await run(guard, 'mkdir d; echo x >d/.envrc')).toEqual(['d/.envrc']);
    const { items } = await guard.quarantine({ kind: 'list', which: null });
    await guard.quarantine({ kind: 'restore', which: items[0]?.id ?? '' });
    expect(bench.names('d')).toEqual(['.envrc']);
    expect((await guard.protection()).fingerprint).not.toBe(before.fingerprint);
  });

  it('SEC-2.3: writes its ledgers before it stops, and refuses sandboxes afterwards', async () => {
    const thread = openThread();
    const guard = guardOf(thread);
    await run(guard, 'echo x >.envrc');
    guard.close();
    await thread.stop();
    expect(bench.ledger().items.map(({ path }) => path)).toEqual(['.envrc']);
    await expect(guard.protection()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    await expect(guard.settled()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  });

  it('NFR-1.4: answers the guard of a small project while it reads a large directory of another', async () => {
    const thread = openThread();
    const small = guardOf(thread);
    await small.protection();
    const large = join(bench.base, 'large');
    mkdirSync(large);
    bench.sh('cd ../large && seq 60000 | xargs touch');
    let isWalked = false;
    const walk = guardOf(thread, large)
      .protection()
      .finally(() => {
        isWalked = true;
      });
    let answers = 0;
    for (; !isWalked; answers++) await small.protection();
    await walk;
    expect(answers).toBeGreaterThan(3);
  });

  it('NFR-1.4: answers every call, also a call that arrives while the background search decides about a file', async () => {
    bench.sh('mkdir -p p/d{1..100}');
    const guard = guardOf(openThread());
    for (let i = 0; i < 300; i++) {
      const watch = guard.begin(await guard.protection());
      writeFileSync(join(bench.workspace, 'p/f'), String(i));
      expect(pathsOf(await guard.finish(watch)).quarantined).toEqual([]);
      await turns(i % 60);
    }
  });
});

/** Lets the event loop turn, so that the thread is at different points of its work when the next call arrives. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await setImmediate();
}

describe('a crash of the thread', () => {
  it('SEC-2.3: fails every pending call with one reason; the next thread searches for the run again', async () => {
    bench.sh('git init -q . && git config user.name me && mkdir -p .vscode sub/.vscode && touch sub/.vscode/a .envrc');
    bench.sh('mkdir -p node_modules/p && touch node_modules/p/.mcp.json');
    const guard = guardOf(openCrashingThread());
    await guard.protection();
    letTimePass();
    const watch = guard.begin(await guard.protection());
    bench.sh('touch f sub/g node_modules/p/new; mkdir -p d/e; echo x >d/e/.envrc; echo x >.mcp.json; mkdir .git/x');
    crash(guard);
    const calls = await Promise.allSettled([guard.finish(watch), guard.protection(), guard.settled()]);
    const reasons = calls.map((call) => call.status === 'rejected' && call.reason);
    expect(reasons[0]).toMatchObject({ code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('crashed') });
    expect(new Set(reasons).size).toBe(1);
    await guard.settled();
    expect(bench.names()).toEqual(['.envrc', '.git', '.vscode', 'd', 'f', 'node_modules', 'sub']);
    expect(bench.names('d/e')).toEqual([]);
    expect(bench.stored().map((path) => basename(path))).toEqual(['.envrc', '.mcp.json']);
    expect(bench.names('sub')).toEqual(['.vscode', 'g']);
    expect(bench.names('node_modules/p')).toEqual(['.mcp.json', 'new']);
    expect(await run(guard, 'true')).toEqual(['.mcp.json', 'd/e/.envrc']);
    expect(await run(guard, 'true')).toEqual([]);
  });

  it('SEC-2.3: leaves a run alone that goes on, and its end is searched as ever', async () => {
    bench.sh('mkdir .claude');
    const guard = guardOf(openCrashingThread());
    await guard.protection();
    letTimePass();
    const watch = guard.begin(await guard.protection());
    bench.sh('mkdir d; echo x >d/.envrc');
    crash(guard);
    await expect(guard.quarantine({ kind: 'list', which: null })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
    });
    bench.sh('echo x >.mcp.json');
    const report = await guard.finish(watch);
    await guard.settled();
    const late = await run(guard, 'true');
    expect([...pathsOf(report).quarantined, ...late].sort()).toEqual(['.mcp.json', 'd/.envrc']);
    expect(bench.names()).toEqual(['.claude', 'd']);
  });

  it('SEC-2.3: is an error of each call, not a loop, if the thread cannot even start', async () => {
    const { logger, events } = recordingLogger();
    const guard = guardOf(openThread(new URL('../fixtures/no-such-worker.mjs', import.meta.url), logger));
    for (let i = 0; i < 2; i++) await expect(guard.protection()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    expect(events.map(({ event }) => event)).toEqual(['workspace.guard.crashed', 'workspace.guard.crashed']);
  });
});
