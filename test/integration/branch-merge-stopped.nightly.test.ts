import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newRequestId } from '#src/core/ids.js';
import { silentLogger } from '#src/core/log.js';
import { BranchStore } from '#src/features/branches/branch-store.js';
import { BranchFiles, type OwnBranch } from '#src/features/branches/files/branch-files.js';
import type { Undo } from '#src/features/undo/undo.js';
import { type MergeRequest, type ReplyOf, STAGE } from '#src/sandbox/contract/merge-messages.js';
import type { SandboxPolicy, WorkspaceView } from '#src/sandbox/contract/policy.js';
import type { Sandbox } from '#src/sandbox/contract/sandbox.js';
import { placeOf as layerOf } from '#src/sandbox/layers/place.js';
import { placeOf as storeOf } from '#src/sandbox/snapshots/place.js';
import { whoCanRun } from '../fixtures/sandbox-harness.ts';
import { openUndoGround, type UndoGround, undoOver } from '../fixtures/undo-ground.ts';
import { ROOT } from '../helpers/installation.ts';
import { stride } from '../helpers/property-runs.ts';
import { makeTempDir, openTestDatabase } from '../unit/stores/open-stores.ts';

const PROGRAM = join(ROOT, 'dist/program/merge.js');
const PRELOAD = join(import.meta.dirname, '../fixtures/stopped-at-step.mjs');
/** As the project is when the branch is opened: `text` is changed on both sides afterwards. */
const BASE = [
  'seq 9 >text; echo old >changed; echo old >gone; echo old >mode; ln -s gone link; mkdir -p full/deep tree',
  'echo old >full/deep/f; echo old >file-to-tree; echo old >tree/f',
].join('; ');
const WORK = [
  'sed -i s/2/branch/ text; echo new >changed; rm gone; chmod 750 mode; ln -sfn changed link; rm -r full',
  'mkdir -p new/deep; echo new >new/deep/f; rm file-to-tree; mkdir file-to-tree; echo new >file-to-tree/f',
  'rm -r tree; echo new >tree',
].join('; ');
const PERSON = 'sed -i s/8/person/ text';
const CHOICES = { keepBase: [], takeBranch: [], mergeText: ['text'] };
/** More steps than the merge has. */
const STEPS_MAX = 100;
/** Steps from one kill to the next, an odd number: the daemon dies with every second one. */
const STRIDE = stride(5);

/** Where the program that writes stops, and by what. */
interface Stop {
  readonly at: number;
  readonly by: 'kill' | 'full';
}

describe('a merge that stops at any of its steps', () => {
  const [who = 'root-owned workspace'] = whoCanRun();
  let ground: UndoGround;
  let store: BranchStore;
  beforeAll(async () => {
    ground = await openUndoGround(who);
  });
  beforeEach(async () => {
    store = new BranchStore(await openTestDatabase(await makeTempDir()));
  });
  afterAll(() => ground.close());

  const policyFor = (view: WorkspaceView): SandboxPolicy => ({ ...ground.bench.policy(), workspace: view });
  const places = (branch: string | null) => {
    const { home, workspace } = ground.bench;
    const layer = branch === null ? null : layerOf(join(home, 'data/layers'), workspace, branch);
    return {
      upper: layer === null ? '/nonexistent' : layer.upper,
      store: storeOf(join(home, 'data/undo'), workspace, { kind: 'root' }).store,
    };
  };

  /** The program of a merge, which is stopped; null if it was killed. */
  function stopped({ at, by }: Stop, branch: string | null, request: MergeRequest): unknown {
    const { upper, store: kept } = places(branch);
    const argv = ['--no-warnings', '--import', PRELOAD, PROGRAM, ground.bench.workspace, upper, kept];
    const ended = spawnSync(process.execPath, argv, {
      input: JSON.stringify(request),
      env: { PATH: '/usr/bin:/bin', CONTEXTD_TEST_STOP_AT: String(at), CONTEXTD_TEST_STOP_BY: by },
      maxBuffer: 64 * 1024 * 1024,
    });
    if (ended.signal === 'SIGKILL') return null;
    if (ended.status !== 0) throw new Error(String(ended.stderr));
    return JSON.parse(String(ended.stdout));
  }

  function filesOver(undo: Pick<Undo, 'save' | 'release' | 'trees' | 'before' | 'after'>, stop: Stop | null) {
    const { sandbox } = ground.bench;
    const merge = async <R extends MergeRequest>(policy: SandboxPolicy, branch: string | null, request: R) => {
      if (request.do !== 'apply' || stop === null) return sandbox.merge(policy, branch, request);
      const reply = stopped(stop, branch, request);
      if (reply === null) throw new Error('killed');
      return { reply: reply as ReplyOf<R>, quarantined: [] };
    };
    const parts: Pick<Sandbox, 'createLayer' | 'removeLayer' | 'keepLayers' | 'merge'> = {
      createLayer: (policy) => sandbox.createLayer(policy),
      removeLayer: (project, id) => sandbox.removeLayer(project, id),
      keepLayers: (live) => sandbox.keepLayers(live),
      merge,
    };
    const layersDir = join(ground.bench.home, 'data/layers');
    return new BranchFiles({ sandbox: parts, undo, store, layersDir, policyFor, logger: silentLogger });
  }

  async function openBranch(number: number): Promise<{ branch: OwnBranch; files: Record<string, string> }> {
    const { bench } = ground;
    for (const name of readdirSync(bench.workspace)) rmSync(join(bench.workspace, name), { recursive: true });
    await ground.call(BASE);
    const id = `br_${String(number).padStart(10, '0')}`;
    const branch: OwnBranch = { id, project: bench.workspace, session: 's', outer: [] };
    const about = { parent: null, description: '', brief: '', budgetTokens: 1, timeoutMs: 1, openedMs: 1 };
    await store.add({ ...branch, ...about, files: 'own' });
    await filesOver(ground.undo, null).open(branch);
    const done = await bench.bash(WORK, {}, { workspace: { path: bench.workspace, layer: [id] } });
    expect(done).toMatchObject({ exitCode: 0, err: '' });
    bench.host(PERSON);
    return { branch, files: ground.files() };
  }

  const MERGED = {
    '/': 'd755',
    'file-to-tree/': 'd755',
    'new/': 'd755',
    'new/deep/': 'd755',
    text: '644 1\nbranch\n3\n4\n5\n6\n7\nperson\n9\n',
    changed: '644 new\n',
    mode: '750 old\n',
    link: '-> changed',
    'new/deep/f': '644 new\n',
    'file-to-tree/f': '644 new\n',
    tree: '644 new\n',
  };

  /** Each file is as it was or as the merge makes it. */
  function expectHalfMerged(before: Record<string, string>, step: number): void {
    for (const [path, state] of Object.entries(ground.files()))
      if (!path.startsWith(`${STAGE}/`))
        expect([before[path], Reflect.get(MERGED, path)], `${path}, step ${step}`).toContain(state);
  }

  it('issue 19 part 9 killed, leaves each file either as it was or merged, goes on, and is undone as a whole', async () => {
    let killed = 0;
    for (let step = 1; step <= STEPS_MAX; step += STRIDE) {
      const { branch, files: before } = await openBranch(step);
      const call = callOfReturn();
      // The daemon dies with the merge in every second case, so that nothing is recorded of what was done.
      const undo = step % 2 === 0 ? ground.undo : { ...bound(ground.undo), after: async () => null };
      const ended = await filesOver(undo, { at: step, by: 'kill' })
        .merge(branch, CHOICES, call)
        .then(
          () => true,
          () => false,
        );
      if (ended) {
        expect(ground.files()).toEqual(MERGED);
        break;
      }
      killed += 1;
      expectHalfMerged(before, step);
      // What a person changed in a text since cannot be told from what the killed merge did to it: the text stays.
      const { text } = ground.files();
      const next = undoOver(ground.bench);
      const merged = await filesOver(next, null).merge(branch, null, callOfReturn());
      expect(ground.files(), `step ${step}`).toEqual(MERGED);
      expect(existsSync(join(ground.bench.workspace, STAGE))).toBe(false);
      const undone = await next.apply(ground.bench.workspace, String(merged.changes?.ref), false);
      expect(undone.files.filter(({ action }) => action === 'keep')).toEqual([]);
      expect(ground.files(), `undone after step ${step}`).toEqual(text === MERGED.text ? { ...before, text } : before);
    }
    expect(killed).toBeGreaterThan(20 / STRIDE);
    expect(killed).toBeLessThan(STEPS_MAX / STRIDE);
  }, 600_000);

  it('issue 19 part 9 on a full disk, says what to do, leaves no draft, and goes on when there is space again', async () => {
    let refused = 0;
    for (let step = 1; step <= STEPS_MAX; step += 4 * stride(3)) {
      const { branch, files: before } = await openBranch(2 * STEPS_MAX + step);
      const full = filesOver(ground.undo, { at: step, by: 'full' }).merge(branch, CHOICES, callOfReturn());
      const error = await full.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (error === null) {
        expect(ground.files()).toEqual(MERGED);
        break;
      }
      refused += 1;
      expect(error).toMatchObject({
        code: 'STORAGE_FULL',
        message: expect.stringContaining(`${branch.id} is not merged`),
        remedy: expect.stringMatching(/^Free disk space and return again/),
      });
      expectHalfMerged(before, step);
      expect(existsSync(join(ground.bench.workspace, STAGE))).toBe(false);
      const { text } = ground.files();
      const merged = await filesOver(ground.undo, null).merge(branch, CHOICES, callOfReturn());
      expect(ground.files(), `step ${step}`).toEqual(MERGED);
      await ground.undo.apply(ground.bench.workspace, String(merged.changes?.ref), false);
      expect(ground.files(), `undone after step ${step}`).toEqual(text === MERGED.text ? { ...before, text } : before);
    }
    expect(refused).toBeGreaterThan(4 / stride(3));
  }, 600_000);

  it('issue 19 part 9 killed, leaves no draft if the branch is discarded then', async () => {
    const { branch } = await openBranch(STEPS_MAX + 1);
    await expect(filesOver(ground.undo, { at: 4, by: 'kill' }).merge(branch, CHOICES, callOfReturn())).rejects.toThrow(
      'killed',
    );
    expect(existsSync(join(ground.bench.workspace, STAGE))).toBe(true);
    await filesOver(ground.undo, null).discard(branch);
    expect(existsSync(join(ground.bench.workspace, STAGE))).toBe(false);
  });
});

const callOfReturn = () => ({ requestId: newRequestId(Date.now()), tool: 'return' });

function bound(undo: Undo): Pick<Undo, 'save' | 'release' | 'trees' | 'before' | 'after'> {
  return {
    save: (...of) => undo.save(...of),
    release: (...of) => undo.release(...of),
    trees: (...of) => undo.trees(...of),
    before: (...of) => undo.before(...of),
    after: (...of) => undo.after(...of),
  };
}
