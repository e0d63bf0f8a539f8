import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SeccompToggles } from '#src/sandbox/contract/policy.js';
import { ABSENT_CALLS, DEBUGGER_CALLS, DENIED_CALLS } from '#src/sandbox/machine/seccomp/call-groups.js';
import { defaultFilter } from '#src/sandbox/machine/seccomp/filter.js';
import { isSeccompArch, numberOf } from '#src/sandbox/machine/seccomp/syscalls.js';
import { findProgram, runConfined } from '../fixtures/seccomp-sandbox.ts';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');
const ROOT = join(import.meta.dirname, '..', '..');
const { EPERM, ENOSYS } = constants.errno;
const USUAL: SeccompToggles = { inet: true, unix: true, debugger: false };
const HIGH = 2 ** 32;

const supported = process.platform === 'linux' && isSeccompArch(process.arch);
if (!supported) console.warn(`SKIPPED: seccomp filters were not tried on ${process.platform} ${process.arch}`);

type Probe = readonly [label: string, call: string, ...args: number[]];

/** Each call gets arguments that the kernel cannot use: all bits set is not a pointer, descriptor or flag. */
function senseless(names: readonly string[]): Probe[] {
  return names.map((name): Probe => [name, name, -1, -1, -1, -1, -1, -1]);
}

/**
 * Returns the error number of each probe, made in a sandbox where the process even holds capabilities over its
 * namespaces.
 */
function probe(probes: readonly Probe[], toggles: SeccompToggles | null): Map<string, number> {
  const lines = probes.flatMap(([label, call, ...args]) => {
    const nr = isSeccompArch(process.arch) ? numberOf(process.arch, call) : undefined;
    return nr === undefined ? [] : [`${label} ${nr} ${args.join(' ')}`];
  });
  const done = runConfined(['perl', '-e', readFileSync(join(FIXTURES, 'seccomp-probe.pl'), 'utf8')], {
    filter: toggles === null ? null : defaultFilter(toggles),
    stdin: `${lines.join('\n')}\n`,
    capabilities: true,
  });
  expect(done).toMatchObject({ status: 0, err: '' });
  const results = done.out
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  expect(results).toHaveLength(lines.length);
  return new Map(results.map(([label = '', errno]) => [label, Number(errno)]));
}

function namesIn(groups: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.values(groups).flat();
}

const DENIED = senseless([...namesIn(DENIED_CALLS), ...DEBUGGER_CALLS]);
const ABSENT = senseless(namesIn(ABSENT_CALLS));

/** AF_PACKET, AF_KEY, AF_ALG, AF_CAN, AF_TIPC, AF_VSOCK, AF_XDP, AF_BLUETOOTH, AF_RDS. */
const FAMILIES = [17, 15, 38, 29, 30, 40, 44, 31, 21];

const DENIED_BY_ARGUMENT: readonly Probe[] = [
  ...FAMILIES.flatMap((family): Probe[] => [
    [`family-${family}`, 'socket', family, 2, 0],
    [`family-${family}-high`, 'socket', family + HIGH, 2, 0],
    [`pair-${family}`, 'socketpair', family, 1, 0, -1],
  ]),
  ...[1, 2, 10, 16].map((family): Probe => [`family-${family}-high`, 'socket', family + HIGH, 2, 0]),
  ['netlink-netfilter', 'socket', 16, 3, 12],
  ['netlink-audit', 'socket', 16, 3, 9],
  ['inet-raw', 'socket', 2, 3, 1],
  ['inet-sctp', 'socket', 2, 1, 132],
  ['inet6-udplite', 'socket', 10, 2, 136],
  ['inet-dccp', 'socket', 2, 6, 33],
  ['TIOCSTI', 'ioctl', -1, 0x5412, -1],
  ['TIOCSTI-high', 'ioctl', -1, 0x5412 + HIGH, -1],
  ['TIOCLINUX', 'ioctl', -1, 0x541c, -1],
  ['TIOCSETD', 'ioctl', -1, 0x5423, -1],
  ['ADDR_NO_RANDOMIZE', 'personality', 0x40000],
  ['READ_IMPLIES_EXEC', 'personality', 0x400000],
  // CLONE_THREAD without the flags it needs: the kernel itself would return EINVAL and create no process.
  ...[0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000].map(
    (flag): Probe => [`clone-${flag.toString(16)}`, 'clone', flag + 0x10000, 0, 0, 0, 0],
  ),
];

/** The call was carried out, or refused because of its arguments: in any case not by the filter. */
const ALLOWED: readonly Probe[] = [
  ['unix', 'socket', 1, 1, 0],
  ['inet', 'socket', 2, 1, 6],
  ['inet-udp', 'socket', 2, 2 + 0x80800, 17],
  ['inet6', 'socket', 10, 1 + 0x80000, 0],
  ['netlink-route', 'socket', 16, 3, 0],
  ['personality-ask', 'personality', 0xffffffff],
  ['personality-linux32', 'personality', 8],
  ['clone', 'clone', 0x10000, 0, 0, 0, 0],
  ['TCGETS', 'ioctl', -1, 0x5401, -1],
  ['socketpair', 'socketpair', 1, 2, 0, -1],
];

function expectAll(results: ReadonlyMap<string, number>, errno: number): void {
  expect([...results].filter(([, got]) => got !== errno)).toEqual([]);
}

describe.runIf(supported)('the default filter in the kernel', () => {
  test('SEC-2.2 refuses every denied call, and the same probe without the filter proves that it is the filter', () => {
    const probes = [...DENIED, ...DENIED_BY_ARGUMENT];
    const denied = probe(probes, USUAL);
    expectAll(denied, EPERM);
    const control = probe(probes, null);
    const told = [...control].filter(([, errno]) => errno !== EPERM).map(([label]) => label);
    console.info(`${denied.size} denied calls probed; ${told.length} answer otherwise without the filter`);
    expect(told.length).toBeGreaterThan(denied.size / 2);
    expect(told).toEqual(
      expect.arrayContaining([
        'mount',
        'unshare',
        'setns',
        'chroot',
        'ptrace',
        'kcmp',
        'vmsplice',
        'TIOCSTI-high',
        'clone-10000000',
      ]),
    );
  });

  test('SEC-2.2 answers ENOSYS to calls that libraries probe for', () => {
    expectAll(probe(ABSENT, USUAL), ENOSYS);
    expect(probe(ABSENT, null).get('clone3')).not.toBe(ENOSYS);
  });

  test('SEC-2.2 allows ordinary sockets, clones, ioctls and personalities', () => {
    const results = probe(ALLOWED, USUAL);
    expect([...results].filter(([, errno]) => errno === EPERM || errno === ENOSYS)).toEqual([]);
    expect(results).toEqual(probe(ALLOWED, null));
  });

  test('SEC-2.2 refuses internet sockets without inet, and sockets that can reach a named one without unix', () => {
    const probes: Probe[] = [
      ...ALLOWED,
      ['pair-stream', 'socketpair', 1, 1 + 0x80000, 0, -1],
      ['pair-dgram', 'socketpair', 1, 2 + 0x80000, 0, -1],
    ];
    const refused = (change: Partial<SeccompToggles>) =>
      [...probe(probes, { ...USUAL, ...change })].filter(([, errno]) => errno === EPERM).map(([label]) => label);
    expect(refused({})).toEqual([]);
    expect(refused({ inet: false })).toEqual(['inet', 'inet-udp', 'inet6']);
    expect(refused({ unix: false })).toEqual(['unix', 'socketpair', 'pair-dgram']);
  });

  test('SEC-2.2 gives a debugger its calls and nothing else', () => {
    const probes: Probe[] = [...DENIED, ...DENIED_BY_ARGUMENT];
    const results = probe(probes, { ...USUAL, debugger: true });
    const passed = [...results].filter(([, errno]) => errno !== EPERM).map(([label]) => label);
    expect(passed.toSorted()).toEqual([...DEBUGGER_CALLS, 'ADDR_NO_RANDOMIZE'].toSorted());
  });

  const python = findProgram('python3');
  test.skipIf(process.arch !== 'x64' || python === null)(
    'SEC-2.2 kills a process that uses the 32-bit entry of x86',
    () => {
      const argv = [python ?? '', '-c', readFileSync(join(FIXTURES, 'seccomp-int80.py'), 'utf8')];
      expect(runConfined(argv, { filter: null }).out).toMatch(/^returned -?\d+\n$/);
      expect(runConfined(argv, { filter: defaultFilter(USUAL) })).toMatchObject({ status: 128 + 31, out: '' });
    },
  );

  test.skipIf(process.arch !== 'x64')('SEC-2.2 answers ENOSYS to x32 call numbers', () => {
    const script = 'my $r = syscall(0x40000000 + 39); print $r, " ", $!+0';
    expect(runConfined(['perl', '-e', script], { filter: defaultFilter(USUAL) }).out).toBe(`-1 ${ENOSYS}`);
  });
});

describe.runIf(process.platform === 'linux')('the tables of system calls', () => {
  const script = join(ROOT, 'dist', 'scripts', 'generate-syscalls.js');
  const headers = spawnSync('gcc', ['-E', '-'], { input: '#include <asm-generic/unistd.h>\n' }).status === 0;
  if (!headers) console.warn('SKIPPED: the tables of system calls were not compared: no gcc with kernel headers');
  test.skipIf(!headers)('agree with the kernel headers of this machine', () => {
    const done = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    expect(done.stderr).toBe('');
    expect(done.status).toBe(0);
  });
});
