import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shapeRuns } from '../helpers/property-runs.ts';
import { openContextdPlanter, openHostPlanter, type Planter } from './git-shapes/plant.ts';
import { FAMILIES, type Family, type Step } from './git-shapes/shape.ts';
import { mostVaried, type ProjectPlan, projectPlans } from './git-shapes.ts';

const SEED = Number(process.env.CONTEXTD_PROPERTY_SEED ?? 20_261_122);
/** Shapes in one project. */
const SIZE = 10;
/** Projects that are tried at the same time. */
const PARALLEL = 2;
/** Projects from which those of a short run are chosen. */
const DRAWN = 50;
const RUNS = shapeRuns(120);
/** The first projects of a chosen sample have every family; a random one has the rarest among 250 shapes. */
const CONTROL_RUNS = Math.min(RUNS, RUNS < DRAWN * SIZE ? 70 : Math.max(250, RUNS / 40));
const PROJECTS = Math.ceil(RUNS / SIZE);
const PLANS = mostVaried(fc.sample(projectPlans(SIZE), { seed: SEED, numRuns: Math.max(DRAWN, PROJECTS) }), PROJECTS);
const TIMEOUT_MS = 120_000 + RUNS * 1_000;
const PRINTED_MAX = 12;

/** One shape of the sample. The seed and its number identify it. */
interface Case {
  readonly number: number;
  readonly plan: ProjectPlan;
  readonly at: number;
  readonly families: readonly Family[];
}

function casesOf(plans: readonly ProjectPlan[]): Case[] {
  return plans.flatMap((plan, project) =>
    plan.shapes.map(({ families }, at) => ({ number: project * SIZE + at, plan, at, families })),
  );
}

/** What happened on the host, by the number of the case. */
async function plantAll(
  plans: readonly ProjectPlan[],
  open: () => Planter | Promise<Planter>,
): Promise<Map<number, string>> {
  const happened = new Map<number, string>();
  const rest = plans.entries();
  const work = async (): Promise<void> => {
    const planter = await open();
    try {
      for (const [project, plan] of rest) {
        for (const { at, how } of await planter.plant(plan)) happened.set(project * SIZE + at, how);
      }
    } finally {
      await planter.close();
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return happened;
}

test(
  `SEC-2.3: nothing that ${RUNS} random shapes of repositories, settings and states leave runs on the host, leads its git out of the project, makes it connect or keeps it waiting`,
  async () => {
    const happened = await plantAll(PLANS, openContextdPlanter);
    const failed = casesOf(PLANS).filter(({ number }) => happened.has(number));
    expect(failed.length, describeFailures(failed, happened)).toBe(0);
  },
  TIMEOUT_MS,
);

test(
  'SEC-2.3: without contextd two thirds of the same shapes run, and at least one of every family',
  async () => {
    const plans = PLANS.slice(0, Math.ceil(CONTROL_RUNS / SIZE));
    const happened = await plantAll(plans, openHostPlanter);
    const cases = casesOf(plans);
    const ran = cases.filter(({ number }) => happened.has(number));
    const tooth = (family: Family) => ran.some(({ families }) => families.includes(family));
    expect(FAMILIES.filter((family) => !tooth(family))).toEqual([]);
    expect(ran.length / cases.length).toBeGreaterThan(2 / 3);
  },
  TIMEOUT_MS,
);

function describeFailures(failed: readonly Case[], happened: ReadonlyMap<number, string>): string {
  const shown = failed.slice(0, PRINTED_MAX).map((one) => describeCase(one, happened.get(one.number) ?? ''));
  const all = failed.map(({ number }) => number).join(', ');
  return `seed ${SEED}: ${failed.length} of ${RUNS} cases: ${all}\n${shown.join('\n')}`;
}

function describeCase({ number, plan, at, families }: Case, how: string): string {
  const { prepare, calls } = plan.shapes[at] ?? { prepare: null, calls: [] };
  const lines = calls.flatMap(({ by, steps }) => [`  ${by}`, ...steps.map((step) => `    ${describeStep(step)}`)]);
  const before = prepare === null ? [] : [`  the person: ${prepare}`];
  return [`case ${number}, ${how}: ${families.join(', ')}; ${plan.person}`, ...before, ...lines].join('\n');
}

function describeStep({ do: verb, path, ...rest }: Step): string {
  return `${verb} ${path} ${Object.keys(rest).length > 0 ? JSON.stringify(rest) : ''}`.trimEnd();
}
