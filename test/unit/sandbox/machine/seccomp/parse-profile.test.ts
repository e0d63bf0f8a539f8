import { describe, expect, test } from 'vitest';
import { parseProfile } from '#src/sandbox/machine/seccomp/parse-profile.js';

const RULE = { names: ['read'], action: 'SCMP_ACT_ALLOW' };
const withRule = (change: object) => () =>
  parseProfile({ defaultAction: 'SCMP_ACT_ERRNO', syscalls: [{ ...RULE, ...change }] });

describe('profiles as JSON', () => {
  test('keeps every key of the format that decides and ignores the rest', () => {
    const text = `{
      "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 38, "architectures": ["SCMP_ARCH_X86_64"], "flags": [],
      "archMap": [{"architecture": "SCMP_ARCH_X86_64"}],
      "syscalls": [
        {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW", "args": null, "includes": {"minKernel": "5.8"}},
        {"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errnoRet": 22, "comment": "why",
         "args": [{"index": 0, "value": 16, "op": "SCMP_CMP_EQ"}], "excludes": {"caps": ["CAP_X"], "arches": ["arm64"]}}
      ]}`;
    expect(parseProfile(JSON.parse(text))).toEqual({
      defaultAction: 'SCMP_ACT_ERRNO',
      defaultErrnoRet: 38,
      architectures: ['SCMP_ARCH_X86_64'],
      syscalls: [
        {
          names: ['read', 'write'],
          action: 'SCMP_ACT_ALLOW',
          args: [],
          includes: { caps: [], arches: [], minKernel: '5.8' },
        },
        {
          names: ['socket'],
          action: 'SCMP_ACT_ERRNO',
          errnoRet: 22,
          args: [{ index: 0, value: 16, valueTwo: 0, op: 'SCMP_CMP_EQ' }],
          excludes: { caps: ['CAP_X'], arches: ['arm64'] },
        },
      ],
    });
  });

  test('refuses what is not in the format, with its place', () => {
    expect(() => parseProfile([])).toThrow('the profile: is not an object');
    expect(() => parseProfile({})).toThrow('defaultAction: undefined is not a supported action');
    expect(withRule({ action: 'SCMP_ACT_NOTIFY' })).toThrow(
      'syscalls[0].action: "SCMP_ACT_NOTIFY" is not a supported action',
    );
    expect(withRule({ names: 'read' })).toThrow('syscalls[0].names: is not a list');
    expect(withRule({ names: [1] })).toThrow('syscalls[0].names: holds something that is not text');
    expect(withRule({ args: [{ index: 0, value: 1, op: '==' }] })).toThrow(
      'syscalls[0].args[0].op: "==" is not an operator',
    );
    expect(withRule({ args: [{ index: '0', value: 1 }] })).toThrow('syscalls[0].args[0].index: "0" is not a number');
    expect(withRule({ includes: { minKernel: 5 } })).toThrow('syscalls[0].includes.minKernel: 5 is not a version');
  });
});
