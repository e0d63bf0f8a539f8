import { describe, expect, test } from 'vitest';
import { JUMP_EQ, Program } from '#src/sandbox/machine/seccomp/program.js';
import { decodeFilter, interpretFilter } from '../../../../helpers/interpret-filter.ts';

const FILLER = 1;
const YES = 0x7fff0000;
const NO = 0x80000000;

/** Returns YES for call 7, otherwise NO; the two returns are `gap` instructions apart, and as far before the branch. */
function programWithGaps(firstGap: number, secondGap: number, swapped: boolean) {
  const program = new Program();
  const [first, second] = swapped ? [NO, YES] : [YES, NO];
  const far = program.load(0, program.return(first));
  fill(program, far, firstGap);
  const near = program.load(0, program.return(second));
  const before = fill(program, near, secondGap);
  const [yes, no] = swapped ? [near, far] : [far, near];
  expect(before).toBe(program.length - 1);
  program.load(0, program.branch(JUMP_EQ, 7, yes, no));
  return decodeFilter(program.assemble());
}

function fill(program: Program, next: number, count: number): number {
  let label = next;
  for (let written = 0; written < count; written++) label = program.and(FILLER, label);
  return label;
}

describe('the assembler', () => {
  test.each([true, false])(
    'reaches targets at, before and after the 255 instructions of a branch (swapped: %s)',
    (swapped) => {
      for (let first = 0; first < 3; first++) {
        for (let second = 245; second < 262; second++) {
          const program = programWithGaps(first, second, swapped);
          expect(interpretFilter(program, { arch: 0, nr: 7 })).toEqual({ action: 'allow' });
          expect(interpretFilter(program, { arch: 0, nr: 8 })).toEqual({ action: 'kill_process' });
        }
      }
    },
  );

  test('a branch whose two targets are the same emits nothing', () => {
    const program = new Program();
    const end = program.return(YES);
    expect(program.branch(JUMP_EQ, 1, end, end)).toBe(end);
    expect(program.length).toBe(1);
  });

  test('shares near returns of the same value', () => {
    const program = new Program();
    const end = program.return(YES);
    expect(program.return(YES)).toBe(end);
    fill(program, end, 200);
    expect(program.return(YES)).not.toBe(end);
  });
});
