import { describe, expect, test } from 'vitest';
import type { SeccompToggles } from '#src/sandbox/contract/policy.js';
import {
  ABSENT_CALLS,
  ALLOWED_CALLS,
  DEBUGGER_CALLS,
  DENIED_CALLS,
  UNBINDING_CALLS,
  UNCOUNTED_CALLS,
} from '#src/sandbox/machine/seccomp/call-groups.js';
import { type Bound, defaultProfile } from '#src/sandbox/machine/seccomp/default-profile.js';
import { defaultFilter } from '#src/sandbox/machine/seccomp/filter.js';
import type { Instruction } from '#src/sandbox/machine/seccomp/program.js';
import { ARCHITECTURES, isKnownName, type SeccompArch } from '#src/sandbox/machine/seccomp/syscalls.js';
import { decodeFilter, interpretFilter } from '../../../../helpers/interpret-filter.ts';

const ARCHES: readonly SeccompArch[] = ['x64', 'arm64'];
const USUAL: SeccompToggles = { inet: true, unix: true, debugger: false };
const TOGGLES = [true, false].flatMap((inet) =>
  [true, false].flatMap((unix) => [true, false].map((debug) => ({ inet, unix, debugger: debug }))),
);
const HIGH = 1n << 32n;
const ALL = (1n << 64n) - 1n;

/** Pinned: calls that must never be allowed, whatever the arguments and the toggles. */
const NEVER = `add_key request_key keyctl io_uring_setup io_uring_enter io_uring_register userfaultfd
  name_to_handle_at open_by_handle_at memfd_secret vmsplice mount umount2 pivot_root chroot fsopen fsconfig fsmount
  fspick open_tree move_mount mount_setattr unshare setns bpf perf_event_open kexec_load kexec_file_load init_module
  finit_module delete_module reboot swapon swapoff acct syslog sethostname setdomainname settimeofday clock_settime
  clock_adjtime adjtimex iopl ioperm pidfd_getfd fanotify_init fanotify_mark quotactl quotactl_fd lookup_dcookie`
  .trim()
  .split(/\s+/);

type Outcome = 'allow' | 'EPERM' | 'ENOSYS' | 'kill';

/** The whole decision about one call, written a second time, from what the calls mean. */
function expected(name: string, args: readonly bigint[], toggles: SeccompToggles): Outcome {
  const byArgs = BY_ARGUMENTS[name];
  if (MODES[name]?.(args) === true) return 'EPERM';
  if (byArgs !== undefined) return byArgs(args, toggles) ? 'allow' : 'EPERM';
  if (DEBUGGER_CALLS.includes(name)) return toggles.debugger ? 'allow' : 'EPERM';
  const among = (groups: Readonly<Record<string, readonly string[]>>) => Object.values(groups).flat().includes(name);
  if (among(ABSENT_CALLS)) return 'ENOSYS';
  return among(ALLOWED_CALLS) && !NEVER.includes(name) ? 'allow' : 'EPERM';
}

const BY_ARGUMENTS: Readonly<Record<string, (args: readonly bigint[], toggles: SeccompToggles) => boolean>> = {
  socket: ([family = 0n, type = 0n, protocol = 0n], { inet, unix }) =>
    (family === 1n && unix) ||
    (family === 16n && protocol === 0n) ||
    ((family === 2n || family === 10n) && inet && usualProtocol(type, protocol)),
  socketpair: ([family, type = 0n], { unix }) =>
    family === 1n && (unix || [1n, 5n].includes(type - (type & 0x800n) - (type & 0x80000n))),
  clone: ([flags = 0n]) => (flags & 0x7e020000n) === 0n,
  ioctl: ([, request = 0n]) => ![0x5412n, 0x541cn, 0x5423n].includes(request & 0xffffffffn),
  personality: ([persona = 0n], { debugger: debugs }) =>
    [0n, 8n, 0xffffffffn, ALL, ...(debugs ? [0x40000n] : [])].includes(persona),
};

/** True if a call gives a file the setuid or the setgid bit. */
const MODES: Readonly<Record<string, (args: readonly bigint[]) => boolean>> = {
  chmod: ([, mode]) => hasIdentityBit(mode),
  fchmod: ([, mode]) => hasIdentityBit(mode),
  fchmodat: ([, , mode]) => hasIdentityBit(mode),
  fchmodat2: ([, , mode]) => hasIdentityBit(mode),
  creat: ([, mode]) => hasIdentityBit(mode),
  mknod: ([, mode]) => hasIdentityBit(mode),
  mknodat: ([, , mode]) => hasIdentityBit(mode),
  open: ([, flags, mode]) => createsFile(flags) && hasIdentityBit(mode),
  openat: ([, , flags, mode]) => createsFile(flags) && hasIdentityBit(mode),
};

function hasIdentityBit(mode = 0n): boolean {
  return (mode & 0o6000n) !== 0n;
}

/** O_CREAT and __O_TMPFILE. */
function createsFile(flags = 0n): boolean {
  return (flags & 0o100n) !== 0n || (flags & 0o20000000n) !== 0n;
}

function modeSets(): bigint[][] {
  const modes = [0o644n, 0o755n, 0o1777n, 0o2755n, 0o4755n, 0o6755n, 0o100644n, 0o104755n, HIGH | 0o4000n, HIGH];
  const flags = [0n, 1n, 0o100n, 0o101n, 0o1101n, 0o20200000n, 0o20040001n, 0o200000n, HIGH | 0o100n];
  const pairs = modes.flatMap((mode) => flags.map((flag) => [flag, mode] as const));
  return pairs.flatMap(([flag, mode]) => [
    [0n, mode, 0n, 0n],
    [0n, 0n, mode, 0n],
    [0n, flag, mode, 0n],
    [0n, 0n, flag, mode],
  ]);
}

function usualProtocol(type: bigint, protocol: bigint): boolean {
  const kind = type - (type & 0x800n) - (type & 0x80000n);
  return (kind === 1n && [0n, 6n, 262n].includes(protocol)) || (kind === 2n && [0n, 1n, 17n, 58n].includes(protocol));
}

/** Sets of arguments: the interesting ones of every checked call, and the extremes. */
function argumentSets(name: string): bigint[][] {
  const same = [0n, 1n, 0xffffffffn, HIGH, ALL].map((value) => [value, value, value, value, value, value]);
  const families = [...Array(50).keys()].map(BigInt).flatMap((family) => [family, family | HIGH]);
  const kinds = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 10n].flatMap((type) => [
    type,
    type | 0x800n,
    type | 0x80800n,
    type | HIGH,
  ]);
  const protocols = [0n, 1n, 6n, 12n, 17n, 58n, 132n, 136n, 262n, HIGH];
  switch (name) {
    case 'socket':
    case 'socketpair':
      return families.flatMap((f) => kinds.flatMap((kind) => protocols.map((protocol) => [f, kind, protocol])));
    case 'clone':
      return [...same, ...[...Array(64).keys()].flatMap((bit) => [[1n << BigInt(bit)], [(1n << BigInt(bit)) | 0x11n]])];
    case 'ioctl':
      return [0x5401n, 0x5412n, 0x5413n, 0x541bn, 0x541cn, 0x5423n, 0x5424n].flatMap((r) => [
        [0n, r],
        [0n, r | HIGH],
        [ALL, r | (ALL ^ 0xffffffffn)],
      ]);
    case 'personality':
      return [...same, ...[8n, 0x40000n, 0x20000n, 0x400000n, 0x40008n, HIGH | 8n].map((persona) => [persona])];
    default:
      return name in MODES ? [...same, ...modeSets()] : same;
  }
}

function decoded(toggles: SeccompToggles, arch: string, bound: Bound = 'cgroup'): Instruction[] {
  return decodeFilter(defaultFilter(toggles, arch, bound) ?? Buffer.alloc(0));
}

function outcome(filter: readonly Instruction[], audit: number, nr: number, args: readonly bigint[]): Outcome {
  const verdict = interpretFilter(filter, { arch: audit, nr, args });
  if (verdict.action === 'errno') return verdict.errno === 38 ? 'ENOSYS' : 'EPERM';
  return verdict.action === 'allow' ? 'allow' : 'kill';
}

describe.each(ARCHES)('the default filter for %s', (arch) => {
  const { audit, syscalls } = ARCHITECTURES[arch];
  const nameOf = new Map(Object.entries(syscalls).map(([name, nr]) => [nr, name]));

  test.each(TOGGLES)('SEC-2.2 decides about every number and argument as written down, %o', (toggles) => {
    const filter = decoded(toggles, arch);
    const differences: unknown[] = [];
    for (let nr = 0; nr < 600; nr++) {
      const name = nameOf.get(nr);
      for (const args of argumentSets(name ?? '')) {
        const [got, want] = [
          outcome(filter, audit, nr, args),
          name === undefined ? 'ENOSYS' : expected(name, args, toggles),
        ];
        if (got !== want) differences.push({ name, nr, args, got, want });
      }
    }
    expect(differences).toEqual([]);
  });

  test('SEC-2.2 a refused call stays refused if bits that the kernel ignores are set', () => {
    const filter = decoded(USUAL, arch);
    const ask = (name: string, ...args: bigint[]) => outcome(filter, audit, syscalls[name] ?? -1, args);
    for (const family of [40n, 17n, 38n, 44n, 29n, 30n, 15n]) {
      expect(ask('socket', family, 1n)).toBe('EPERM');
      expect(ask('socket', family | HIGH, 1n)).toBe('EPERM');
    }
    expect(ask('socket', 16n | HIGH, 3n, 0n)).toBe('EPERM');
    expect(ask('socket', 16n, 3n, 12n)).toBe('EPERM');
    expect(ask('ioctl', 0n, 0x5412n | HIGH)).toBe('EPERM');
    expect(ask('socket', 16n, 3n, 0n)).toBe('allow');
  });

  test('SEC-2.5 without a cgroup, memory that belongs to no process and no mount is refused, and nothing else changes', () => {
    const [counted, watched] = [decoded(USUAL, arch), decoded(USUAL, arch, 'watchdog')];
    const changed = new Set<string>();
    for (const [name, nr] of Object.entries(syscalls)) {
      for (const args of argumentSets(name)) {
        const [before, after] = [outcome(counted, audit, nr, args), outcome(watched, audit, nr, args)];
        if (before !== after) changed.add(`${name} ${after}`);
      }
    }
    const expectedChanges = [
      ...UNCOUNTED_CALLS.filter((name) => name in syscalls).map((name) => `${name} ENOSYS`),
      ...UNBINDING_CALLS.map((name) => `${name} EPERM`),
      'mmap EPERM',
    ];
    expect([...changed].sort()).toEqual(expectedChanges.sort());
    const map = (flags: bigint) => outcome(watched, audit, syscalls.mmap ?? -1, [0n, 4096n, 3n, flags, ALL, 0n]);
    const [shared, priv, sharedValidate, anonymous, noReserve] = [1n, 2n, 3n, 0x20n, 0x4000n];
    for (const flags of [shared, sharedValidate, shared | noReserve, shared | HIGH]) {
      expect([map(flags | anonymous), map(flags)]).toEqual(['EPERM', 'allow']);
    }
    expect([map(priv | anonymous), map(priv | anonymous | noReserve)]).toEqual(['allow', 'allow']);
  });

  test('no call makes a file setuid or setgid, and the mode of a call that creates nothing does not count', () => {
    const filter = decoded(USUAL, arch);
    const ask = (name: string, ...args: bigint[]) => outcome(filter, audit, syscalls[name] ?? -1, args);
    for (const mode of [0o4755n, 0o2755n, 0o6755n, 0o4000n | HIGH]) {
      for (const name of ['fchmod', ...(arch === 'x64' ? ['chmod', 'creat', 'mknod'] : [])])
        expect(ask(name, 0n, mode), name).toBe('EPERM');
      for (const name of ['fchmodat', 'fchmodat2', 'mknodat']) expect(ask(name, 0n, 0n, mode), name).toBe('EPERM');
      for (const creating of [0o101n, 0o20200002n, 0o20040002n])
        expect(ask('openat', 0n, 0n, creating, mode)).toBe('EPERM');
      expect(ask('openat', 0n, 0n, 0o200000n, mode)).toBe('allow');
    }
    expect([ask('fchmod', 0n, 0o1777n), ask('fchmodat', 0n, 0n, 0o755n)]).toEqual(['allow', 'allow']);
    expect(ask('openat2', 0n, 0n, 0n, 24n)).toBe('ENOSYS');
  });

  test('other architectures are killed, and x32 does not exist', () => {
    const filter = decoded(USUAL, arch);
    for (const foreign of [0x40000003, 0x40000028]) expect(outcome(filter, foreign, 20, [])).toBe('kill');
    for (const nr of [0, 1, 101, 520, 545]) expect(outcome(filter, audit, 0x40000000 + nr, [])).toBe('ENOSYS');
  });

  test("is well below the kernel's limit", () => {
    for (const toggles of TOGGLES) expect(decoded(toggles, arch).length).toBeLessThan(512);
  });
});

describe('the default profile', () => {
  const grouped = [ALLOWED_CALLS, DENIED_CALLS, ABSENT_CALLS].flatMap((groups) => Object.values(groups).flat());
  const named = [...grouped, ...DEBUGGER_CALLS, ...Object.keys(BY_ARGUMENTS)];

  test('names every call of both tables exactly once, and no others', () => {
    const known = new Set(ARCHES.flatMap((arch) => Object.keys(ARCHITECTURES[arch].syscalls)));
    expect([...known].filter((name) => !named.includes(name))).toEqual([]);
    expect(named.filter((name) => !isKnownName(name))).toEqual([]);
    expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([]);
  });

  test('SEC-2.2 denies every pinned call', () => {
    expect(NEVER.filter((name) => !Object.values(DENIED_CALLS).flat().includes(name))).toEqual([]);
  });

  test('returns no filter for an architecture without a table', () => {
    expect(defaultFilter(USUAL, 'riscv64')).toBeNull();
    expect(defaultFilter(USUAL, 'constructor')).toBeNull();
    expect(defaultProfile(USUAL).defaultAction).toBe('SCMP_ACT_ERRNO');
  });
});
