import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Condition, checkConditions, emitConditions } from '#src/sandbox/machine/seccomp/args.js';
import { OCI_OPS, type OciArg } from '#src/sandbox/machine/seccomp/profile.js';
import { type Instruction, Program } from '#src/sandbox/machine/seccomp/program.js';
import { decodeFilter, interpretFilter } from '../../../../helpers/interpret-filter.ts';
import { holds, uint64 } from './oci-samples.ts';

function compile(conditions: readonly Condition[]): Instruction[] {
  const program = new Program();
  const yes = program.return(0x7fff0000);
  const no = program.return(0x80000000);
  program.load(0, emitConditions(program, conditions, yes, no));
  return decodeFilter(program.assemble());
}

const check =
  (...args: OciArg[]) =>
  () =>
    checkConditions(args, 'syscalls[7] (ioctl)');

describe('conditions on arguments', () => {
  test.each(OCI_OPS)('%s compares 64-bit unsigned values', (op) => {
    fc.assert(
      fc.property(uint64, uint64, uint64, fc.integer({ min: 0, max: 5 }), (value, mask, given, index) => {
        const arg: OciArg =
          op === 'SCMP_CMP_MASKED_EQ' ? { index, op, value: mask, valueTwo: value & mask } : { index, op, value };
        const filter = compile(checkConditions([arg], 'a rule'));
        const args = [9n, 9n, 9n, 9n, 9n, 9n].with(index, given);
        const expected = holds(arg, given) ? 'allow' : 'kill_process';
        expect(interpretFilter(filter, { arch: 0, nr: 0, args })).toEqual({ action: expected });
      }),
    );
  });

  test('a comparison that is never true, or that others read differently, is refused with the name of its rule', () => {
    const op = 'SCMP_CMP_EQ';
    expect(check({ index: 6, value: 1, op })).toThrow('syscalls[7] (ioctl): there is no argument 6');
    expect(check({ index: 0.5, value: 1, op })).toThrow('there is no argument 0.5');
    expect(check({ index: 0, value: -1, op })).toThrow('-1 is not a whole number that is kept exactly');
    expect(check({ index: 0, value: 2 ** 53, op })).toThrow('9007199254740992 is not a whole number');
    expect(check({ index: 0, value: 1n << 64n, op })).toThrow('18446744073709551616 is not a whole number');
    expect(check({ index: 1, value: 1, op }, { index: 1, value: 2, op })).toThrow('argument 1 is compared twice');
    expect(check({ index: 0, value: 1, valueTwo: 2, op: 'SCMP_CMP_MASKED_EQ' })).toThrow(
      'argument 0 masked with 1 can never be 2',
    );
  });

  test('accepts the greatest 64-bit number as a bigint', () => {
    expect(check({ index: 0, value: (1n << 64n) - 1n, op: 'SCMP_CMP_EQ' })()).toHaveLength(1);
  });
});
