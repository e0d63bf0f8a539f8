import fc from 'fast-check';
import type { Call, Step } from './shape.ts';

/** An early call leaves a harmless half, and the last call turns it into a trap. */
type Disguise = 'none' | 'move' | 'edit' | 'append' | 'hard link' | 'retarget';

const INNOCENT = '[core]\n\trepositoryformatversion = 0\n';
const STAGE = 'stage';

/** Orders the steps at random, in one to four calls, each by one of the two tools. */
export function delivered(steps: readonly Step[]): fc.Arbitrary<readonly Call[]> {
  return fc
    .record({
      order: fc.shuffledSubarray([...steps], { minLength: steps.length, maxLength: steps.length }),
      cuts: fc.array(fc.nat({ max: steps.length }), { maxLength: 2 }),
      disguise: fc.constantFrom<Disguise>(
        'none',
        'none',
        'none',
        'move',
        'move',
        'edit',
        'append',
        'hard link',
        'retarget',
      ),
      choice: fc.nat(),
      tools: fc.array(fc.constantFrom('safe_bash' as const, 'safe_write' as const), { minLength: 4, maxLength: 4 }),
    })
    .map(({ order, cuts, disguise, choice, tools }) => {
      const { early, last } = disguised(order, disguise, choice);
      const groups = [...split(early, cuts), last].filter((group) => group.length > 0);
      return groups.map((group, at): Call => ({ by: tools[at] ?? 'safe_bash', steps: group }));
    });
}

function split(steps: readonly Step[], cuts: readonly number[]): Step[][] {
  const at = [0, ...[...cuts].sort((a, b) => a - b), steps.length];
  return at.slice(1).map((end, index) => steps.slice(at[index], end));
}

function disguised(steps: readonly Step[], how: Disguise, choice: number): { early: Step[]; last: Step[] } {
  const pick = <T>(list: readonly T[]): T | undefined => list[choice % Math.max(1, list.length)];
  const written = steps.filter((step) => step.do === 'write');
  switch (how) {
    case 'move':
      return moved(steps, pick(movable(steps)));
    case 'edit':
    case 'append':
    case 'hard link': {
      const victim = pick(written);
      return victim === undefined ? { early: [...steps], last: [] } : rewritten(steps, victim, how);
    }
    case 'retarget': {
      const victim = pick(steps.filter((step) => step.do === 'link'));
      if (victim === undefined) return { early: [...steps], last: [] };
      return { early: steps.map((step) => (step === victim ? { ...step, to: 'nowhere' } : step)), last: [victim] };
    }
    case 'none':
      return { early: [...steps], last: [] };
  }
}

/** A file or directory that is built under another name; the last call moves it into place. */
function moved(steps: readonly Step[], target: string | undefined): { early: Step[]; last: Step[] } {
  if (target === undefined) return { early: [...steps], last: [] };
  const early = steps.map((step) => ({ ...step, path: restage(step.path, target) }));
  return { early, last: [{ do: 'move', path: STAGE, to: target }] };
}

function restage(path: string, target: string): string {
  if (path === target) return STAGE;
  return path.startsWith(`${target}/`) ? `${STAGE}/${path.slice(target.length + 1)}` : path;
}

/**
 * Returns every path of a step and its parents, except those of the project: the root, `.git` and what the person made.
 */
function movable(steps: readonly Step[]): string[] {
  const own = steps.filter((step) => step.do !== 'gitlink');
  const all = own.flatMap(({ path }) => {
    const parts = path.split('/');
    return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
  });
  return [...new Set(all)].filter((path) => path !== '' && path !== '/.git' && path !== '/.git/worktrees').sort();
}

function rewritten(
  steps: readonly Step[],
  victim: Step & { do: 'write' },
  how: 'edit' | 'append' | 'hard link',
): { early: Step[]; last: Step[] } {
  const innocent = { ...victim, text: INNOCENT };
  const early: Step[] = steps.map((step) => (step === victim ? innocent : step));
  if (how === 'edit') return { early, last: [{ ...victim, inPlace: true }] };
  const isConfig = /^(\ufeff)?(\s*#.*\n|\s*;.*\n|\s)*\[/.test(victim.text);
  if (how === 'append' && isConfig) {
    return { early, last: [{ ...victim, text: `\n${victim.text.replace(/^\ufeff/, '')}`, append: true }] };
  }
  const other = 'other-name';
  return {
    early: early.flatMap((step) =>
      step === innocent ? [step, { do: 'hard link', path: other, to: victim.path }] : step,
    ),
    last: [{ ...victim, path: other, inPlace: true }],
  };
}
