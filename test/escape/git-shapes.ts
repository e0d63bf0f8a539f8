import fc from 'fast-check';
import { type Carrier, carriers, carriersWithoutCommonDir, preparedCarriers } from './git-shapes/carriers.ts';
import { type Charge, charges, FORMAT, hook, hookName, keyCharges, worktreeEscape } from './git-shapes/charges.ts';
import { configText, type Entry } from './git-shapes/config-text.ts';
import { delivered } from './git-shapes/delivery.ts';
import { PERSONS, type Person, SCRIPTS } from './git-shapes/person.ts';
import { type Family, type Shape, type Step, upFrom } from './git-shapes/shape.ts';
import { amState, execLines, states } from './git-shapes/states.ts';

/**
 * Everything that an agent's calls can leave in a project to make the person's git run a program or write elsewhere. A
 * shape is made of three random parts:
 *
 * - the carrier (`carriers.ts`): how git finds the repository: nested, bare, by a `.git` file or link, through
 *   `commondir`, as a submodule;
 * - the charge (`charges.ts`, `states.ts`): what makes git run a program in it: a key in one of many spellings
 *   (`config-text.ts`), hooks, drivers with attributes, an unfinished rebase;
 * - the delivery (`delivery.ts`): the order, the number of calls and the tools that make it, and whether an early
 *   call leaves a harmless half.
 *
 * The person's own configuration (`person.ts`) is a charge that needs a file of the project.
 */
export interface ProjectPlan {
  readonly person: Person;
  /** Each shape is in its own directory; the first one also changes what belongs to the whole project. */
  readonly shapes: readonly Shape[];
}

/** Projects of `size` shapes that do not disturb one another. */
export function projectPlans(size: number): fc.Arbitrary<ProjectPlan> {
  return fc
    .constantFrom(...PERSONS)
    .chain((person) =>
      fc.record({
        person: fc.constant(person),
        first: rootShape(person),
        others: fc.array(nestedShape(person), { minLength: size - 1, maxLength: size - 1 }),
      }),
    )
    .map(({ person, first, others }) => ({ person, shapes: [first, ...others] }));
}

/** How often the chosen projects have each family and each person, if the projects allow it. */
const TIMES = 4;

/** Returns `count` of the plans, chosen so that each family and each person occurs several times; all if there are no more. */
export function mostVaried(plans: readonly ProjectPlan[], count: number): readonly ProjectPlan[] {
  if (plans.length <= count) return plans;
  const left = new Set(plans);
  const seen = new Map<Family | Person, number>();
  const gainOf = (plan: ProjectPlan): number => {
    const own = new Map<Family | Person, number>();
    for (const trait of traitsOf(plan)) own.set(trait, (own.get(trait) ?? 0) + 1);
    return [...own].reduce(
      (sum, [trait, times]) => sum + Math.min(times, Math.max(0, TIMES - (seen.get(trait) ?? 0))),
      0,
    );
  };
  const chosen: ProjectPlan[] = [];
  while (chosen.length < count) {
    const best = [...left].reduce((one, other) => (gainOf(other) > gainOf(one) ? other : one));
    left.delete(best);
    chosen.push(best);
    for (const trait of traitsOf(best)) seen.set(trait, (seen.get(trait) ?? 0) + 1);
  }
  return chosen;
}

function traitsOf({ person, shapes }: ProjectPlan): (Family | Person)[] {
  return [person, ...shapes.flatMap(({ families }) => families)];
}

/** A shape at the project's root, of which there can be only one. */
function rootShape(person: Person): fc.Arbitrary<Shape> {
  switch (person) {
    case 'nothing special':
      return states.chain((charge) =>
        assembled(
          [],
          charge.steps({ gitDir: '/.git', commonDir: '/.git', workTree: '', tip: '@HEAD@' }),
          charge.families,
        ),
      );
    case 'a paused rebase':
      return execLines.chain((text) =>
        assembled([], [{ do: 'write', path: '/.git/rebase-merge/git-rebase-todo', text }], ['rebase todo']),
      );
    case 'a global core.hooksPath':
    case 'a local core.hooksPath':
      return hookName.chain((name) => assembled([], [hook(`/.githooks/${name}`)], ['person’s hooksPath']));
    case 'a global include.path':
    case 'a local include.path':
      return keyCharges
        .chain(({ entries }) => configText(entries))
        .chain((text) => assembled([], [{ do: 'write', path: '/team.gitconfig', text }], ['person’s include']));
    case 'scripts of the project':
      return fc.constantFrom(...SCRIPTS).chain((path) => assembled([], [hook(`/${path}`)], ['person’s script']));
  }
}

function nestedShape(person: Person): fc.Arbitrary<Shape> {
  // A submodule in the index is a change that stops `git rebase --continue` at the root.
  const mayBeSubmodule = person !== 'nothing special' && person !== 'a paused rebase';
  return fc.oneof(
    { weight: 8, arbitrary: chargedShape(mayBeSubmodule) },
    { weight: 2, arbitrary: stateShape },
    { weight: 2, arbitrary: escapeShape },
    ...(person === 'a global core.hooksPath' ? [{ weight: 3, arbitrary: personHookShape }] : []),
  );
}

function chargedShape(mayBeSubmodule: boolean): fc.Arbitrary<Shape> {
  return fc.tuple(charges, fc.boolean()).chain(([charge, wantsSubmodule]) =>
    carriers(charge.head).chain((carrier) => {
      const isSubmodule = mayBeSubmodule && wantsSubmodule && carrier.parts.workTree === 'sub';
      return combined(carrier, charge, isSubmodule ? [{ do: 'gitlink', path: 'sub' }] : []);
    }),
  );
}

const stateShape: fc.Arbitrary<Shape> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(states, fc.oneof({ weight: 2, arbitrary: carriers('empty') }, preparedCarriers()))
      .chain(([charge, carrier]) => combined(carrier, charge)),
  },
  { weight: 1, arbitrary: carriers('files').chain((carrier) => combined(carrier, amState)) },
);

const escapeShape: fc.Arbitrary<Shape> = carriersWithoutCommonDir().chain((carrier) =>
  worktreeEscape(carrier.parts.gitDir).chain((charge) => combined(carrier, charge)),
);

/** The person's global `core.hooksPath` applies to every repository, also to one that a call made. */
const personHookShape: fc.Arbitrary<Shape> = fc.tuple(hookName, carriers('files')).chain(([name, carrier]) =>
  combined(carrier, {
    families: ['person’s hooksPath'],
    head: 'files',
    entries: [],
    steps: ({ workTree }) => [hook(`${workTree}/.githooks/${name}`)],
  }),
);

function combined(carrier: Carrier, charge: Charge, more: readonly Step[] = []): fc.Arbitrary<Shape> {
  const families = [...carrier.families, ...charge.families, ...(more.length > 0 ? (['submodule'] as const) : [])];
  return settings(carrier, charge).chain(({ steps, via }) =>
    assembled(
      [...carrier.steps, ...more],
      [...charge.steps(carrier.parts), ...steps],
      [...families, ...via],
      carrier.prepare,
    ),
  );
}

interface Settings {
  readonly steps: readonly Step[];
  readonly via: readonly Family[];
}

/** The configuration, in `config` itself, in an included file or in `config.worktree`. */
function settings({ parts, entries }: Carrier, charge: Charge): fc.Arbitrary<Settings> {
  const { gitDir, commonDir } = parts;
  const file = `${commonDir}/config`;
  if (entries.length + charge.entries.length === 0) return fc.constant({ steps: [], via: [] });
  const inFile = (path: string, all: readonly Entry[], via: readonly Family[] = []): fc.Arbitrary<Settings> =>
    configText(all).map((text) => ({ steps: [{ do: 'write', path, text }], via }));
  const direct = inFile(file, [...entries, ...charge.entries]);
  // git reads core.worktree before it follows an include.
  if (charge.entries.length === 0 || charge.families.includes('worktree escape')) return direct;
  const split = (path: string, leads: readonly Entry[], via: Family) =>
    fc
      .tuple(inFile(file, [...entries, ...leads], [via]), inFile(path, charge.entries))
      .map(([one, other]) => ({ steps: [...one.steps, ...other.steps], via: one.via }));
  const included = fc
    .tuple(
      fc.constantFrom('@HERE@/settings.txt', `${upFrom(commonDir)}settings.txt`),
      fc.constantFrom(null, 'gitdir:@HERE@/**', 'gitdir/i:**'),
    )
    .chain(([value, condition]) =>
      split(
        'settings.txt',
        condition === null
          ? [{ section: 'include', key: 'path', value }]
          : [{ section: 'includeif', subsection: condition, key: 'path', value }],
        'include',
      ),
    );
  const ofWorktree = split(
    `${gitDir}/config.worktree`,
    [FORMAT, { section: 'extensions', key: 'worktreeconfig', value: 'true' }],
    'config.worktree',
  );
  return fc.oneof({ weight: 5, arbitrary: direct }, { weight: 2, arbitrary: included }, ofWorktree);
}

function assembled(
  carrier: readonly Step[],
  charge: readonly Step[],
  families: readonly Family[],
  prepare: string | null = null,
): fc.Arbitrary<Shape> {
  return delivered([...carrier, ...charge]).map((calls) => ({
    families: [...new Set([...families, ...(calls.length > 1 ? (['completed later'] as const) : [])])],
    prepare,
    calls,
  }));
}
