import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileProfile } from '#src/sandbox/machine/seccomp/compile.js';
import type { OciProfile, OciRule } from '#src/sandbox/machine/seccomp/profile.js';
import type { Instruction } from '#src/sandbox/machine/seccomp/program.js';
import { ARCHITECTURES, numberOf, type SeccompArch } from '#src/sandbox/machine/seccomp/syscalls.js';
import { decodeFilter, interpretFilter } from '../../../../helpers/interpret-filter.ts';
import { propertyRuns } from '../../../../helpers/property-runs.ts';
import { evaluate, profiles, uint64 } from './oci-samples.ts';

const ARCHES: readonly SeccompArch[] = ['x64', 'arm64'];
const EVERYTHING: OciProfile = { defaultAction: 'SCMP_ACT_ALLOW' };
const NOTHING: OciProfile = { defaultAction: 'SCMP_ACT_ERRNO' };
const HOST = { caps: [], kernel: '6.1.0-18-amd64' };

function ask(filter: Buffer | Instruction[], arch: SeccompArch, name: string | number, ...args: bigint[]) {
  const nr = typeof name === 'number' ? name : (numberOf(arch, name) ?? Number.NaN);
  return interpretFilter(Buffer.isBuffer(filter) ? decodeFilter(filter) : filter, {
    arch: ARCHITECTURES[arch].audit,
    nr,
    args,
  });
}

function askRules(rules: readonly OciRule[], name: string, ...args: bigint[]) {
  return ask(compileProfile({ ...NOTHING, syscalls: rules }, 'x64', HOST), 'x64', name, ...args);
}

const allow = (names: string[], more: Partial<OciRule> = {}): OciRule => ({ names, action: 'SCMP_ACT_ALLOW', ...more });

describe.each(ARCHES)('filters for %s', (arch) => {
  const names = Object.keys(ARCHITECTURES[arch].syscalls);
  const some = ['read', 'write', 'socket', 'ioctl', 'clone', 'prctl'];

  test('SEC-2.2 a compiled filter decides as the profile says', () => {
    const calls = fc.array(fc.tuple(fc.constantFrom(...some), fc.array(uint64, { minLength: 6, maxLength: 6 })), {
      minLength: 5,
      maxLength: 10,
    });
    fc.assert(
      fc.property(profiles(some, 8), calls, (profile, tried) => {
        const filter = decodeFilter(compileProfile(profile, arch));
        for (const [name, args] of tried)
          expect(ask(filter, arch, name, ...args)).toEqual(evaluate(profile, name, args));
        for (const { names, args = [] } of profile.syscalls ?? []) {
          const given = [0n, 0n, 0n, 0n, 0n, 0n];
          for (const { index, value, valueTwo, op } of args)
            given[index] = BigInt(op === 'SCMP_CMP_MASKED_EQ' ? (valueTwo ?? 0) : value);
          for (const name of names) expect(ask(filter, arch, name, ...given)).toEqual(evaluate(profile, name, given));
        }
      }),
    );
  });

  test('a filter of thousands of instructions, full of far jumps, decides the same', () => {
    fc.assert(
      fc.property(fc.infiniteStream(uint64), fc.infiniteStream(fc.integer({ min: 0, max: 4095 })), (values, errnos) => {
        const next = () => values.next().value ?? 0n;
        const syscalls = names.map((name, index): OciRule => {
          const args = [{ index: index % 6, op: 'SCMP_CMP_GT' as const, value: next() }];
          return { names: [name], action: 'SCMP_ACT_ERRNO', errnoRet: errnos.next().value ?? 0, args };
        });
        const profile: OciProfile = { ...EVERYTHING, syscalls };
        const filter = decodeFilter(compileProfile(profile, arch));
        expect(filter.length).toBeGreaterThan(2000);
        for (const name of names) {
          const args = [next(), next(), next(), next(), next(), next()];
          expect(ask(filter, arch, name, ...args)).toEqual(evaluate(profile, name, args));
        }
      }),
      { numRuns: propertyRuns('door') },
    );
  });

  test('calls of another architecture kill the process', () => {
    const filter = decodeFilter(compileProfile(EVERYTHING, arch));
    const foreign = [0x40000003, 0x40000028, ARCHITECTURES[arch === 'x64' ? 'arm64' : 'x64'].audit, 0];
    for (const audit of foreign)
      expect(interpretFilter(filter, { arch: audit, nr: 0 })).toEqual({ action: 'kill_process' });
  });

  test('numbers above the table (x32 included) and in its gaps do not exist, whatever the default is', () => {
    const numbers = new Set(Object.values(ARCHITECTURES[arch].syscalls));
    const last = Math.max(...numbers);
    const gap = [...Array(last).keys()].find((nr) => !numbers.has(nr));
    const filter = decodeFilter(compileProfile(EVERYTHING, arch));
    for (const nr of [gap ?? -1, last + 1, 1000, 0x3fffffff, 0x40000000, 0x40000001, 0xffffffff])
      expect(ask(filter, arch, nr)).toEqual({ action: 'errno', errno: 38 });
    expect(ask(filter, arch, last)).toEqual({ action: 'allow' });
  });
});

describe('profiles', () => {
  test('rules with args are tried first, in their order, then the rule without: no rule hides another', () => {
    const tiocsti = { index: 1, value: 0x5412, op: 'SCMP_CMP_EQ' as const };
    const rules: OciRule[] = [
      allow(['ioctl']),
      { names: ['ioctl'], action: 'SCMP_ACT_ERRNO', errnoRet: 25, args: [tiocsti] },
      { names: ['ioctl'], action: 'SCMP_ACT_KILL_PROCESS', args: [tiocsti] },
    ];
    expect(askRules(rules, 'ioctl', 0n, 0x5412n)).toEqual({ action: 'errno', errno: 25 });
    expect(askRules(rules, 'ioctl', 0n, 0x5413n)).toEqual({ action: 'allow' });
  });

  test('two rules without args that contradict each other are refused, by name; equal rules are not', () => {
    const conflict: OciProfile = {
      ...NOTHING,
      syscalls: [
        allow(['read', 'write']),
        allow(['close']),
        { names: ['write', 'a', 'b', 'c'], action: 'SCMP_ACT_TRAP' },
      ],
    };
    expect(() => compileProfile(conflict, 'x64')).toThrow(
      'seccomp profile, syscalls[2] (write, a, b, … 1 more): contradicts syscalls[0] (read, write)',
    );
    expect(askRules([allow(['read', 'write']), allow(['write'])], 'write')).toEqual({ action: 'allow' });
  });

  test('returns each action with its error number', () => {
    const rule = (action: OciRule['action'], errnoRet?: number): OciRule => ({
      names: ['read'],
      action,
      ...(errnoRet === undefined ? {} : { errnoRet }),
    });
    expect(askRules([rule('SCMP_ACT_KILL')], 'read')).toEqual({ action: 'kill_thread' });
    expect(askRules([rule('SCMP_ACT_TRAP')], 'read')).toEqual({ action: 'trap' });
    expect(askRules([rule('SCMP_ACT_ERRNO')], 'read')).toEqual({ action: 'errno', errno: 1 });
    expect(askRules([rule('SCMP_ACT_ERRNO', 4095)], 'read')).toEqual({ action: 'errno', errno: 4095 });
    expect(askRules([], 'read')).toEqual({ action: 'errno', errno: 1 });
    const named = compileProfile({ ...NOTHING, defaultErrnoRet: 13 }, 'x64');
    expect(ask(named, 'x64', 'read')).toEqual({ action: 'errno', errno: 13 });
    expect(() => askRules([rule('SCMP_ACT_ERRNO', 4096)], 'read')).toThrow('syscalls[0] (read): errnoRet 4096');
    expect(() => askRules([rule('SCMP_ACT_ALLOW', 1)], 'read')).toThrow('errnoRet 1 beside SCMP_ACT_ALLOW');
  });

  test.each<[string, Partial<OciRule>, boolean]>([
    ['includes this architecture', { includes: { arches: ['arm64', 'amd64'] } }, true],
    ['includes another one', { includes: { arches: ['arm64'] } }, false],
    ['excludes this one', { excludes: { arches: ['amd64'] } }, false],
    ['includes a capability that is not held', { includes: { caps: ['CAP_SYS_PTRACE'] } }, false],
    ['excludes a capability that is not held', { excludes: { caps: ['CAP_SYS_PTRACE'] } }, true],
    ['includes older kernels and this', { includes: { minKernel: '6.1' } }, true],
    ['includes newer kernels', { includes: { minKernel: '6.10' } }, false],
    ['excludes newer kernels', { excludes: { minKernel: '6.2' } }, true],
    ['excludes kernels from an older one on', { excludes: { minKernel: '5.19' } }, false],
    ['empty lists', { includes: { arches: [], caps: [] }, excludes: {} }, true],
  ])('a rule that %s', (_, where, counts) => {
    expect(askRules([allow(['read'], where)], 'read').action).toBe(counts ? 'allow' : 'errno');
  });

  test('rules that depend on capabilities follow the capabilities of the sandbox', () => {
    const rules = [allow(['ptrace'], { includes: { caps: ['CAP_SYS_PTRACE'] } })];
    const host = { ...HOST, caps: ['CAP_SYS_PTRACE'] };
    expect(ask(compileProfile({ ...NOTHING, syscalls: rules }, 'x64', host), 'x64', 'ptrace').action).toBe('allow');
  });

  test('ignores unknown names, except if a misspelled name would allow the call', () => {
    expect(askRules([allow(['s390_pci_mmio_read', 'constructor', 'read'])], 'read')).toEqual({ action: 'allow' });
    const denyList: OciProfile = { ...EVERYTHING, syscalls: [{ names: ['ptrce'], action: 'SCMP_ACT_ERRNO' }] };
    expect(() => compileProfile(denyList, 'x64')).toThrow('syscalls[0] (ptrce): no system call is named ptrce');
    const otherArch: OciProfile = { ...EVERYTHING, syscalls: [{ names: ['open'], action: 'SCMP_ACT_ERRNO' }] };
    expect(ask(compileProfile(otherArch, 'arm64'), 'arm64', 'openat')).toEqual({ action: 'allow' });
  });

  test('refuses a profile for other architectures only', () => {
    const profile = { ...NOTHING, architectures: ['SCMP_ARCH_AARCH64'] };
    expect(() => compileProfile(profile, 'x64')).toThrow('SCMP_ARCH_X86_64 is not among SCMP_ARCH_AARCH64');
    expect(decodeFilter(compileProfile(profile, 'arm64')).length).toBeGreaterThan(4);
  });

  test('refuses more than 4096 instructions', () => {
    const args = (value: number) => [{ index: 0, value, op: 'SCMP_CMP_EQ' as const }];
    const syscalls = [...Array(2000).keys()].map((value) => allow(['ioctl'], { args: args(value) }));
    expect(() => compileProfile({ ...NOTHING, syscalls }, 'x64')).toThrow(
      /compiled to \d{4} instructions; the kernel accepts 4096/,
    );
  });
});
