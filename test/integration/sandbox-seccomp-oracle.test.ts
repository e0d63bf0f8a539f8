import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { compileProfile } from '#src/sandbox/machine/seccomp/compile.js';
import { defaultProfile } from '#src/sandbox/machine/seccomp/default-profile.js';
import { type OciProfile, type OciRule, returnValue } from '#src/sandbox/machine/seccomp/profile.js';
import { ARCHITECTURES, numberOf, type SeccompArch } from '#src/sandbox/machine/seccomp/syscalls.js';
import { decodeFilter, interpretFilter } from '../helpers/interpret-filter.ts';
import { plainProfiles } from '../unit/sandbox/machine/seccomp/oci-samples.ts';

const SOURCE = join(import.meta.dirname, '..', 'fixtures', 'libseccomp-export.c');
const HOST = { caps: [], kernel: '6.1' };
const ARCHES: readonly SeccompArch[] = ['x64', 'arm64'];
const RANDOM_PROFILES = 200;
/** A fixed seed, because libseccomp may be the one that fails. */
const SEED = 20_261;

/** Where each call has a mode that may not be setuid or setgid. */
const MODE_ARGUMENTS: Readonly<Record<string, number>> = {
  chmod: 1,
  fchmod: 1,
  creat: 1,
  mknod: 1,
  fchmodat: 2,
  fchmodat2: 2,
  mknodat: 2,
  open: 2,
  openat: 3,
};

const dir = mkdtempSync(join(tmpdir(), 'contextd-libseccomp-'));
const oracle = join(dir, 'export');
const available = spawnSync('gcc', ['-E', '-'], { input: '#include <seccomp.h>\n' }).status === 0;
if (available) execFileSync('gcc', ['-O1', '-Wall', '-Werror', '-o', oracle, SOURCE, '-lseccomp']);
if (!available)
  console.warn('SKIPPED: filters were not compared with libseccomp: no gcc, or no seccomp.h (libseccomp-dev)');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The filters that libseccomp compiles from the profiles, in order. */
function exportAll(profiles: readonly OciProfile[], arch: SeccompArch): Buffer[] {
  const input = profiles.map((profile) => describeProfile(profile, arch)).join('');
  const done = spawnSync(oracle, { input, maxBuffer: 256 * 1024 * 1024, timeout: 30_000 });
  expect(done.stderr.toString()).toBe('');
  expect(done.status).toBe(0);
  const filters: Buffer[] = [];
  for (let at = 0; at < done.stdout.length; ) {
    const length = done.stdout.readUInt32LE(at);
    filters.push(done.stdout.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  expect(filters).toHaveLength(profiles.length);
  return filters;
}

function describeProfile(profile: OciProfile, arch: SeccompArch): string {
  const otherwise = returnValue(profile.defaultAction, profile.defaultErrnoRet, 'default');
  const rules = (profile.syscalls ?? []).flatMap(describeRule);
  return [`profile ${arch === 'x64' ? 'x86_64' : 'aarch64'} ${otherwise}`, ...rules, 'end', ''].join('\n');
}

function describeRule({ names, action, errnoRet, args = [] }: OciRule): string[] {
  const parts = args.map(({ index, op, value, valueTwo }) => `${index} ${op.slice(9)} ${value} ${valueTwo ?? 0}`);
  const rest = [args.length, ...parts].join(' ');
  return names.map((name) => `rule ${returnValue(action, errnoRet, name)} ${name} ${rest}`);
}

/**
 * Arguments equal to, just below and just above every value in a profile's rules, one at a time and all together, and a
 * few others.
 */
function argumentSets(profile: OciProfile, name: string): bigint[][] {
  const rules = (profile.syscalls ?? []).filter(({ names, args = [] }) => names.includes(name) && args.length > 0);
  const near = (value: number | bigint) =>
    [0n, 1n, -1n, 1n << 32n, 1n << 63n].map((step) => BigInt.asUintN(64, BigInt(value) + step));
  const sets = rules.flatMap(({ args = [] }) =>
    args.flatMap(({ index: moved, value, valueTwo = 0 }) =>
      [value, valueTwo].flatMap(near).map((changed) => {
        const set = [0n, 0n, 0n, 0n, 0n, 0n];
        for (const arg of args) set[arg.index] = BigInt(arg.op.endsWith('MASKED_EQ') ? (arg.valueTwo ?? 0) : arg.value);
        return set.with(moved, changed);
      }),
    ),
  );
  const same = [0n, 1n, 0xffffffffn, (1n << 64n) - 1n].map((value) => [value, value, value, value, value, value]);
  return [...same, ...sets];
}

interface Comparison {
  compared: number;
  readonly differences: { name: string; args: readonly bigint[]; ours: object; theirs: object }[];
}

function compare(profile: OciProfile, theirFilter: Buffer, arch: SeccompArch, names: readonly string[]): Comparison {
  const ours = decodeFilter(compileProfile(profile, arch, HOST));
  const theirs = decodeFilter(theirFilter);
  const result: Comparison = { compared: 0, differences: [] };
  for (const name of names) {
    for (const args of argumentSets(profile, name)) {
      const call = { arch: ARCHITECTURES[arch].audit, nr: numberOf(arch, name) ?? -1, args };
      const [mine, other] = [interpretFilter(ours, call), interpretFilter(theirs, call)];
      result.compared++;
      if (JSON.stringify(mine) !== JSON.stringify(other))
        result.differences.push({ name, args, ours: mine, theirs: other });
    }
  }
  return result;
}

describe.runIf(available).each(ARCHES)('compared with libseccomp, %s', (arch) => {
  const all = Object.keys(ARCHITECTURES[arch].syscalls);
  const unknown = available ? spawnSync(oracle, all, { encoding: 'utf8' }).stdout.split('\n') : [];
  const names = all.filter((name) => !unknown.includes(name));

  test('SEC-2.2 the default profile with every toggle differs only where libseccomp loses a denial by argument', () => {
    const toggles = [true, false].flatMap((inet) =>
      [true, false].flatMap((unix) => [true, false].map((debug) => ({ inet, unix, debugger: debug }))),
    );
    const profiles = toggles.map((one) => defaultProfile(one));
    const filters = exportAll(profiles, arch);
    const results = profiles.map((profile, index) => compare(profile, filters[index] ?? Buffer.alloc(0), arch, names));
    const differences = results.flatMap((result) => result.differences);
    const compared = results.reduce((sum, result) => sum + result.compared, 0);
    console.info(
      `${arch}: ${compared} comparisons with libseccomp, ${names.length} of ${all.length} calls known to it`,
    );
    expect(names.length).toBeGreaterThan(250);
    // For a call with an unconditional ALLOW, libseccomp drops the denials by argument.
    const changed = new Set(differences.map(({ name }) => name));
    const modes = Object.keys(MODE_ARGUMENTS).filter((name) => names.includes(name));
    expect(changed).toEqual(new Set(['ioctl', ...modes]));
    for (const { name, args, ours, theirs } of differences) {
      expect([ours, theirs]).toMatchObject([{ action: 'errno', errno: 1 }, { action: 'allow' }]);
      if (name === 'ioctl') expect([0x5412n, 0x541cn, 0x5423n]).toContain((args[1] ?? 0n) & 0xffffffffn);
      else expect((args[MODE_ARGUMENTS[name] ?? 0] ?? 0n) & 0o6000n, name).not.toBe(0n);
    }
  });

  test(`SEC-2.2 ${RANDOM_PROFILES} random profiles make the same decisions`, () => {
    const some = ['read', 'write', 'socket', 'ioctl', 'clone', 'prctl', 'openat', 'futex', 'statx'];
    const profiles = fc.sample(plainProfiles(some), { numRuns: RANDOM_PROFILES, seed: SEED });
    const filters = exportAll(profiles, arch);
    const differences = profiles.flatMap((profile, index) => {
      const found = compare(profile, filters[index] ?? Buffer.alloc(0), arch, some).differences;
      return found.length === 0 ? [] : [{ profile, found }];
    });
    expect(differences).toEqual([]);
  });
});
