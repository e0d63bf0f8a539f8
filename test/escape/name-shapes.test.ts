import { spawnSync } from 'node:child_process';
import { chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SetAside } from '#src/core/envelope.js';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';
import { shapeRuns } from '../helpers/property-runs.ts';
import { callsOf, type NameShape, nameShapes, PRELUDE } from './name-shapes.ts';

const SEED = Number(process.env.CONTEXTD_PROPERTY_SEED ?? 20_261_126);
const RUNS = shapeRuns(250);
const CONTROL_RUNS = 60;
/** Shapes that the same calls make in one project, each in its own directory. */
const SIZE = 50;
const TIMEOUT_MS = 120_000 + RUNS * 1_000;
const PRINTED_MAX = 12;

let bench: Bench;
let owner: number | null;
beforeAll(async () => {
  const [who = 'ordinary user'] = whoCanRun();
  owner = who === 'workspace of uid 65534' ? 65534 : null;
  bench = await openBench(who);
});
afterAll(() => bench.close());

test(
  `SEC-2.3: of ${RUNS} random ways to make names of the table, each is set aside, reported or left alone as its row says`,
  async () => {
    const shapes = fc.sample(nameShapes, { seed: SEED, numRuns: RUNS });
    const failures: string[] = [];
    for (let first = 0; first < shapes.length; first += SIZE) {
      const group = shapes.slice(first, first + SIZE);
      const root = join(bench.base, `project-${first}`);
      const found = await makeByCalls(group, root);
      for (const [number, shape] of group.entries()) {
        const path = `c${number}/${shape.path}`;
        const fate = fateOf(path, found);
        const isThere = exists(join(root, path));
        if (fate !== shape.fate || isThere !== (fate !== 'set aside'))
          failures.push(
            `case ${first + number} ${isThere ? 'is there' : 'is gone'}, ${fate}: ${JSON.stringify(shape)}`,
          );
      }
      rmSync(root, { recursive: true, force: true });
    }
    expect(failures.length, `seed ${SEED}\n${failures.slice(0, PRINTED_MAX).join('\n')}`).toBe(0);
  },
  TIMEOUT_MS,
);

test(
  'SEC-2.3: without contextd all of the same ways make their names',
  () => {
    const shapes = fc.sample(nameShapes, { seed: SEED, numRuns: CONTROL_RUNS });
    const root = mkdtempSync(join(tmpdir(), 'contextd-names-'));
    try {
      spawnSync('git', ['init', '-q', '-b', 'main', root]);
      for (const script of scriptsOf(shapes)) spawnSync('bash', ['-c', script], { cwd: root, encoding: 'utf8' });
      const missing = shapes.filter((shape, number) => !exists(join(root, `c${number}`, shape.path)));
      expect(missing).toEqual([]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
  TIMEOUT_MS,
);

/** Makes the shapes, and returns everything that the answers name. */
async function makeByCalls(shapes: readonly NameShape[], root: string): Promise<SetAside[]> {
  mkdirSync(root);
  if (owner !== null) chownSync(root, owner, owner);
  const policy = bench.policy({ workspace: { path: root, layer: null } });
  const found: SetAside[] = [];
  for (const call of ['git init -q -b main .', ...scriptsOf(shapes)])
    found.push(...(await bench.bash(call, { cwd: root }, policy)).raw.quarantined);
  for (let isComplete = false; !isComplete; ) {
    const { quarantined, complete } = await (await bench.sandbox.watch(policy)).finish();
    found.push(...quarantined);
    isComplete = complete;
  }
  return found;
}

function fateOf(path: string, found: readonly SetAside[]): NameShape['fate'] {
  const one = found.find((each) => each.path === path);
  if (one === undefined) return 'nothing';
  return one.stays === true ? 'reported' : 'set aside';
}

/** Two calls that make all shapes. */
function scriptsOf(shapes: readonly NameShape[]): string[] {
  const calls = shapes.map((shape, number) => callsOf(shape, `c${number}`));
  const first = [PRELUDE, 'git commit -q --allow-empty -m first', ...calls.map(([one]) => one)];
  return [first.join('\n'), [PRELUDE, ...calls.map(([, two]) => two)].join('\n')];
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
