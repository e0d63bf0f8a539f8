import fc from 'fast-check';
import type { OciArg, OciProfile, OciRule } from '#src/sandbox/machine/seccomp/profile.js';

/** Numbers around the borders of 32 and 64 bits, and any other. */
export const uint64 = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, 0x7fffffffn, 0x80000000n, 0xffffffffn, 0x100000000n, 0x100000001n, 0x8000000000000000n),
  fc.constant((1n << 64n) - 1n),
  fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
);

/** The meaning of a comparison, read straight from the specification. */
export function holds(arg: OciArg, given: bigint): boolean {
  const [value, second] = [BigInt(arg.value), BigInt(arg.valueTwo ?? 0)];
  switch (arg.op) {
    case 'SCMP_CMP_NE':
      return given !== value;
    case 'SCMP_CMP_LT':
      return given < value;
    case 'SCMP_CMP_LE':
      return given <= value;
    case 'SCMP_CMP_EQ':
      return given === value;
    case 'SCMP_CMP_GE':
      return given >= value;
    case 'SCMP_CMP_GT':
      return given > value;
    case 'SCMP_CMP_MASKED_EQ':
      return (given & value) === second;
  }
}

const VERDICTS: Readonly<Record<string, object>> = {
  SCMP_ACT_ALLOW: { action: 'allow' },
  SCMP_ACT_KILL: { action: 'kill_thread' },
  SCMP_ACT_KILL_PROCESS: { action: 'kill_process' },
  SCMP_ACT_KILL_THREAD: { action: 'kill_thread' },
  SCMP_ACT_LOG: { action: 'log' },
  SCMP_ACT_TRAP: { action: 'trap' },
};

/**
 * What a profile says about a named call: walks its rules, those with args in order, then the one without, then the
 * default.
 */
export function evaluate(profile: OciProfile, name: string, args: readonly bigint[]): object {
  const rules = (profile.syscalls ?? []).filter(({ names }) => names.includes(name));
  const [special, general] = [true, false].map((wanted) =>
    rules.filter((rule) => (rule.args ?? []).length > 0 === wanted),
  );
  const first = special?.find((rule) => rule.args?.every((arg) => holds(arg, args[arg.index] ?? 0n))) ?? general?.[0];
  if (first !== undefined) return verdict(first.action, first.errnoRet);
  return verdict(profile.defaultAction, profile.defaultErrnoRet);
}

function verdict(action: string, errno = 1): object {
  return VERDICTS[action] ?? { action: 'errno', errno };
}

const outcome = fc.oneof(
  fc
    .constantFrom('SCMP_ACT_ALLOW' as const, 'SCMP_ACT_KILL_PROCESS' as const, 'SCMP_ACT_LOG' as const)
    .map((action) => ({
      action,
    })),
  fc.integer({ min: 0, max: 4094 }).map((errnoRet) => ({ action: 'SCMP_ACT_ERRNO' as const, errnoRet })),
);

const condition = fc
  .tuple(
    fc
      .constantFrom('NE', 'LT', 'LE', 'EQ', 'GE', 'GT', 'MASKED_EQ' as const)
      .map((op) => `SCMP_CMP_${op}` as OciArg['op']),
    fc.integer({ min: 0, max: 5 }),
    uint64,
    uint64,
  )
  .map(([op, index, value, second]): OciArg => {
    return op === 'SCMP_CMP_MASKED_EQ' ? { op, index, value, valueTwo: second & value } : { op, index, value };
  });

const conditions = fc.uniqueArray(condition, { minLength: 1, maxLength: 3, selector: ({ index }) => index });

function asDefault(result: { action: OciProfile['defaultAction']; errnoRet?: number }) {
  const { action, errnoRet } = result;
  return { defaultAction: action, ...(errnoRet === undefined ? {} : { defaultErrnoRet: errnoRet }) };
}

/** Profiles over the given calls: rules with args anywhere, at most one without for each call. */
export function profiles(names: readonly string[], maxRules: number): fc.Arbitrary<OciProfile> {
  const name = fc.constantFrom(...names);
  const special = fc.tuple(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), outcome, conditions);
  const general = fc.uniqueArray(fc.tuple(name, outcome), { maxLength: names.length, selector: ([one]) => one });
  return fc.tuple(outcome, fc.array(special, { maxLength: maxRules }), general).chain(([byDefault, some, all]) => {
    const rules: OciRule[] = [
      ...some.map(([names, result, args]) => ({ names, ...result, args })),
      ...all.map(([one, result]) => ({ names: [one], ...result })),
    ];
    return fc.shuffledSubarray(rules, { minLength: rules.length }).map((syscalls) => ({
      ...asDefault(byDefault),
      syscalls,
    }));
  });
}

/**
 * Profiles that libseccomp compiles correctly. Version 2.5.4 joins rules of one call that overlap and mix operators
 * wrongly, or never ends, so a call has one rule with several conditions, or several rules that compare one argument
 * with one value each.
 */
export function plainProfiles(names: readonly string[]): fc.Arbitrary<OciProfile> {
  const alternatives = fc
    .tuple(fc.integer({ min: 0, max: 5 }), fc.uniqueArray(uint64, { minLength: 2, maxLength: 6 }))
    .map(([index, values]) => values.map((value): OciArg[] => [{ index, op: 'SCMP_CMP_EQ', value }]));
  const choices = fc.oneof(
    conditions.map((args) => [args]),
    alternatives,
    fc.constant([[]]),
  );
  const rulesOf = (name: string) =>
    fc.tuple(outcome, choices).map(([result, all]) => all.map((args): OciRule => ({ names: [name], ...result, args })));
  return fc
    .tuple(outcome, ...names.map(rulesOf))
    .map(([byDefault, ...rules]) => ({ ...asDefault(byDefault), syscalls: rules.flat() }));
}
