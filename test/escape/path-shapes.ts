import fc from 'fast-check';
import { isProtectedIn, PROTECTED_NAMES } from '#src/guard/table/protected-names.js';

/** A directory as a list of names, because its path may be longer than a system call accepts. */
export type Place = readonly string[];

/** One change that a call makes. `make` creates a protected name, the others move one to a place where it matters. */
export type PathStep =
  | {
      readonly do: 'make';
      readonly at: Place;
      readonly name: string;
      readonly as: 'file' | 'directory' | 'link' | 'hard link';
    }
  | { readonly do: 'make innocent'; readonly at: Place; readonly as: 'file' | 'directory' }
  | { readonly do: 'rename innocent'; readonly at: Place; readonly name: string }
  /** The directory with its content, moved to a short path or into another directory. */
  | { readonly do: 'move up'; readonly from: Place; readonly to: string }
  | { readonly do: 'move down'; readonly name: string; readonly into: Place }
  | { readonly do: 'make many'; readonly at: Place; readonly name: string };

/** Calls, each with its steps. */
export type PathShape = readonly (readonly PathStep[])[];

const LONG_NAME = 'l'.repeat(200);
/** The longest path that a system call accepts, in bytes. */
const PATH_MAX = 4096;
const MANY = 2_000;
const NAMES_PER_STAGE = 15;
const INNOCENT = 'innocent';

const shortName = fc.constantFrom('a', 'b', 'node_modules', 'two words', 'new\nline', '-r', '*', 'info', 'objects');
const place: fc.Arbitrary<Place> = fc.oneof(
  { weight: 5, arbitrary: fc.array(shortName, { maxLength: 5 }) },
  { weight: 1, arbitrary: fc.array(shortName, { minLength: 20, maxLength: 60 }) },
  { weight: 1, arbitrary: fc.integer({ min: 18, max: 30 }).map((depth) => Array<string>(depth).fill(LONG_NAME)) },
);
export const protectedName = fc.constantFrom(...PROTECTED_NAMES);

/** One to four calls that create protected names in a few places, move them around and restore what was moved aside. */
export const pathShapes: fc.Arbitrary<PathShape> = fc
  .array(place, { minLength: 1, maxLength: 3 })
  .chain((places) =>
    fc.array(fc.array(stepIn(places), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
  );

function stepIn(places: readonly Place[]): fc.Arbitrary<PathStep> {
  const at = fc.constantFrom(...places);
  const top = fc.constantFrom('a', 'b', 'top');
  const kind = fc.constantFrom('file' as const, 'directory' as const, 'link' as const, 'hard link' as const);
  return fc.oneof(
    { weight: 16, arbitrary: fc.record({ do: fc.constant('make' as const), at, name: protectedName, as: kind }) },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('make innocent' as const),
        at,
        as: fc.constantFrom('file' as const, 'directory' as const),
      }),
    },
    { weight: 8, arbitrary: fc.record({ do: fc.constant('rename innocent' as const), at, name: protectedName }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('move up' as const), from: at, to: top }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('move down' as const), name: top, into: at }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('make many' as const), at, name: protectedName }) },
  );
}

/** Reports whether a path of the shape may be longer than a system call accepts. */
export function mayBeTooLong(shape: PathShape): boolean {
  const lengths = shape.flat().map((step) => {
    const dir = 'at' in step ? step.at : 'into' in step ? step.into : step.from;
    return Buffer.byteLength(dir.join('/'));
  });
  return lengths.reduce((sum, length) => sum + length, 0) > PATH_MAX / 2;
}

/** Returns a bash script that takes the steps from the project's root. If a step fails, the next one still runs. */
export function pathScript(steps: readonly PathStep[]): string {
  const lines = steps.map((step) => `( ${commandOf(step)} ) 2>/dev/null || true`);
  return [ENTER, ...lines].join('\n');
}

/** Enters a directory in stages that a system call accepts, and creates it on the way. */
const ENTER = 'root=$PWD; enter() { local d; for d; do mkdir -p -- "$d" && cd -P -- "./$d" || return 1; done; }';

function commandOf(step: PathStep): string {
  switch (step.do) {
    case 'make':
      return `${enter(step.at)} && ${making(step.name, step.as)}`;
    case 'make innocent':
      return `${enter(step.at)} && ${making(INNOCENT, step.as)}`;
    case 'rename innocent':
      return `${enter(step.at)} && mv -T -- ${INNOCENT} ${step.name}`;
    case 'move up': {
      const name = step.from.at(-1) ?? '';
      return `${enter(step.from.slice(0, -1))} && mv -T -- ${quoted(`./${name}`)} "$root/"${step.to}`;
    }
    case 'move down':
      return `${enter(step.into)} && mv -- "$root/"${step.name} ./moved`;
    case 'make many':
      return `${enter(step.at)} && mkdir -p $(seq ${MANY}) && touch ${MANY - 1}/${step.name}`;
  }
}

function enter(at: Place): string {
  const stages: string[] = [];
  for (let first = 0; first < at.length; first += NAMES_PER_STAGE) {
    stages.push(at.slice(first, first + NAMES_PER_STAGE).join('/'));
  }
  return `enter ${stages.map(quoted).join(' ')}`;
}

function making(name: string, as: 'file' | 'directory' | 'link' | 'hard link'): string {
  switch (as) {
    case 'file':
      return `: >${name}`;
    case 'directory':
      return `mkdir ${name} && : >${name}/inner`;
    case 'link':
      return `ln -s /etc/hostname ${name}`;
    case 'hard link':
      return `: >other && ln other ${name}`;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Ordinary packages ship some of the names. */
const IN_PACKAGES = "! -path '*/node_modules/*' ";

/**
 * Finds protected names below the project that can be reached by their name.
 */
export const FIND_PROTECTED = `find . \\( ${PROTECTED_NAMES.map(
  (name) => `${isProtectedIn('node_modules/a', name) ? '' : IN_PACKAGES}-name '${name}'`,
).join(' -o ')} \\) -print -prune`;
