import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';
import { shapeRuns } from '../helpers/property-runs.ts';
import { settle } from '../helpers/settle-workspace.ts';
import { openToolRunner, sessionOf } from '../helpers/tool-runner.ts';
import { type Bench as GuardBench, openBench as openGuardBench } from '../helpers/workspace-bench.ts';
import { FIND_PROTECTED, mayBeTooLong, type PathShape, pathScript, pathShapes, protectedName } from './path-shapes.ts';

const SEED = Number(process.env.CONTEXTD_PROPERTY_SEED ?? 20_261_122);
const RUNS = shapeRuns(40);
const CONTROL_RUNS = 12;
const TIMEOUT_MS = 120_000 + RUNS * 1_000;
const PRINTED_MAX = 8;

test(
  `SEC-2.3: after ${RUNS} random ways to make and move protected names at any depth, no protected name is left or the report says that it is incomplete`,
  async () => {
    const shapes = fc.sample(pathShapes, { seed: SEED, numRuns: RUNS });
    const failures: string[] = [];
    for (const [number, shape] of shapes.entries()) {
      const { standing, isComplete } = await standingAfter(shape);
      if (standing.length > 0 && isComplete)
        failures.push(`case ${number}: ${describeNames(standing)}\n${describe(shape)}`);
      if (!isComplete && !mayBeTooLong(shape)) failures.push(`case ${number}: incomplete\n${describe(shape)}`);
    }
    expect(failures.length, report(failures)).toBe(0);
  },
  TIMEOUT_MS,
);

test(
  'SEC-2.3: without the guard two thirds of the same ways leave a protected name',
  () => {
    const shapes = fc.sample(pathShapes, { seed: SEED, numRuns: CONTROL_RUNS });
    const left = shapes.filter((shape) => {
      const ground = openGuardBench();
      try {
        for (const steps of shape) ground.sh(pathScript(steps));
        return linesOf(ground.sh(FIND_PROTECTED)).length > 0;
      } finally {
        removeGround(ground);
      }
    });
    expect(left.length / shapes.length).toBeGreaterThan(2 / 3);
  },
  TIMEOUT_MS,
);

/** Protected names that are left after all calls and a complete search of the workspace. */
async function standingAfter(shape: PathShape): Promise<{ standing: string[]; isComplete: boolean }> {
  const bench = openGuardBench();
  try {
    const guard = bench.guard();
    for (const steps of shape) await bench.run(guard, pathScript(steps));
    await guard.settled();
    const { complete } = await bench.run(guard, 'true');
    return { standing: linesOf(bench.sh(FIND_PROTECTED)), isComplete: complete };
  } finally {
    removeGround(bench);
  }
}

/** Removes a path that is longer than a system call accepts, which Node cannot do. */
function removeGround(ground: GuardBench): void {
  spawnSync('rm', ['-rf', ground.workspace]);
  ground.close();
}

/** Cases in one project, each in its own directory. */
const SIZE = 20;

interface ToolCase {
  readonly dir: string;
  readonly name: string;
  readonly way: 'safe_write' | 'through a link' | 'renamed by a command' | 'moved by a command' | 'safe_bash';
}

const toolCases: fc.Arbitrary<ToolCase> = fc.record({
  dir: fc.array(fc.constantFrom('a', 'b', 'lib', 'node_modules'), { maxLength: 5 }).map((names) => names.join('/')),
  name: protectedName,
  way: fc.constantFrom<ToolCase['way']>(
    ...([
      'safe_write',
      'safe_write',
      'through a link',
      'renamed by a command',
      'moved by a command',
      'safe_bash',
    ] as const),
  ),
});

let bench: Bench;
beforeAll(async () => {
  const [who = 'ordinary user'] = whoCanRun();
  bench = await openBench(who);
});
afterAll(() => bench.close());

test(
  `SEC-2.3: no protected name is left below the root after ${RUNS} calls of safe_write and safe_bash that make or move one`,
  async () => {
    const cases = fc.sample(toolCases, { seed: SEED, numRuns: RUNS });
    const failures: string[] = [];
    for (let first = 0; first < cases.length; first += SIZE) {
      const group = cases.slice(first, first + SIZE);
      const standing = await standingAfterCalls(group, join(bench.base, `project-${first}`));
      for (const path of standing) {
        const number = Number(/^\.\/c(\d+)\//.exec(path)?.[1]);
        const way = group[number]?.way ?? 'unknown';
        failures.push(`case ${first + number}, ${way}: ${path}`);
      }
    }
    expect(failures.length, report(failures)).toBe(0);
  },
  TIMEOUT_MS,
);

async function standingAfterCalls(cases: readonly ToolCase[], root: string): Promise<string[]> {
  cpSync(bench.workspace, root, { recursive: true });
  const policy = bench.policy({ workspace: { path: root, layer: null } });
  const tools = openToolRunner(bench, { policyFor: () => policy });
  const write = (path: string) =>
    refusable(tools.core('safe_write', { path, content: 'x\n' }, { session: sessionOf(root), timeoutMs: 30_000 }));
  const command = (script: string) => refusable(bench.bash(script, { cwd: root }, policy));
  try {
    for (const [number, { dir }] of cases.entries()) mkdirSync(join(root, `c${number}`, dir), { recursive: true });
    await command(cases.map((one, number) => `cd "${root}"; ${before(one, number)}`).join('\n'));
    await Promise.all(cases.flatMap((one, number) => written(one, number).map(write)));
    await command(cases.map((one, number) => `cd "${root}"; ${after(one, number)}`).join('\n'));
    await settle(bench.sandbox, policy);
    return linesOf(spawnSync('sh', ['-c', FIND_PROTECTED], { cwd: root, encoding: 'utf8' }).stdout);
  } finally {
    await tools.close();
  }
}

const STAGE = 'stage';
/** Protected names that are directories: for these the tools create a file inside. */
const INNER = new Set<string>(['.claude', '.opencode', '.agents', '.husky', '.vscode', '.idea']);

function pathOf({ dir, name }: ToolCase, number: number): string {
  const path = `c${number}/${dir === '' ? '' : `${dir}/`}${name}`;
  return INNER.has(name) ? `${path}/settings.json` : path;
}

/** The first call. */
function before(one: ToolCase, number: number): string {
  switch (one.way) {
    case 'through a link':
      return `ln -s "./${one.dir}" c${number}/lnk`;
    case 'safe_bash':
      return `mkdir -p "$(dirname ${pathOf(one, number)})"; : >${pathOf(one, number)}`;
    default:
      return 'true';
  }
}

/** The call of safe_write between the two commands. */
function written(one: ToolCase, number: number): string[] {
  const inner = INNER.has(one.name) ? '/settings.json' : '';
  switch (one.way) {
    case 'safe_write':
      return [pathOf(one, number)];
    case 'through a link':
      return [`c${number}/lnk/${one.name}${inner}`];
    case 'renamed by a command':
      return [`c${number}/${STAGE}${inner}`];
    case 'moved by a command':
      return [`c${number}/${STAGE}/deep/${one.name}${inner}`];
    case 'safe_bash':
      return [];
  }
}

/** The last call. */
function after(one: ToolCase, number: number): string {
  const target = `c${number}/${one.dir === '' ? '' : `${one.dir}/`}`;
  switch (one.way) {
    case 'renamed by a command':
      return `mv -T c${number}/${STAGE} ${target}${one.name}`;
    case 'moved by a command':
      return `mv c${number}/${STAGE} ${target}moved`;
    default:
      return 'true';
  }
}

async function refusable(call: Promise<unknown>): Promise<void> {
  await call.catch((cause: unknown) => {
    if (!(cause instanceof ContextdError)) throw cause;
  });
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function describeNames(paths: readonly string[]): string {
  return paths.map((path) => (path.length > 100 ? `…${path.slice(-60)} (${path.length} bytes)` : path)).join(', ');
}

function describe(shape: PathShape): string {
  const text = shape
    .map((steps) => steps.map((step) => JSON.stringify(step)).join('\n  '))
    .join('\n  -- next call\n  ');
  return `  ${text.replaceAll(/"(l{200})"(,"l{200}")*/g, (match) => `${match.split(',').length} long names`)}`;
}

function report(failures: readonly string[]): string {
  return `seed ${SEED}: ${failures.length} failures\n${failures.slice(0, PRINTED_MAX).join('\n')}`;
}
