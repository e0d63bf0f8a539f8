import type { SeccompToggles } from '../../contract/policy.ts';
import {
  ABSENT_CALLS,
  ALLOWED_CALLS,
  DEBUGGER_CALLS,
  DENIED_CALLS,
  UNBINDING_CALLS,
  UNCOUNTED_CALLS,
} from './call-groups.ts';
import { ENOSYS, EPERM, type OciArg, type OciProfile, type OciRule } from './profile.ts';

// The kernel reads many arguments as 32-bit integers and ignores the upper half. So an allowed value is compared in all
// 64 bits and a refused value in the lower 32: no value can mean one thing here and another to the kernel.
const INT_BITS = 0xffffffff;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;

const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_SEQPACKET = 5;
/** All bits of a socket type but SOCK_CLOEXEC and SOCK_NONBLOCK. */
const TYPE_BITS = 0xffffffffffffffffn & ~0x80800n;

/** Protocols that a user's program opens; for any other the kernel would load a module. */
const STREAM_PROTOCOLS = { any: 0, tcp: 6, mptcp: 262 };
const DGRAM_PROTOCOLS = { any: 0, icmp: 1, udp: 17, icmpv6: 58 };

/** CLONE_NEW{CGROUP,IPC,NET,NS,PID,USER,UTS}; CLONE_NEWTIME's bit is part of clone's exit signal. */
const NEW_NAMESPACES = 0x7e020000;

/** TIOCSTI and TIOCLINUX type into a terminal; TIOCSETD has the kernel load a line discipline. */
const DENIED_IOCTLS = [0x5412, 0x541c, 0x5423];

/** The default personality, Linux on 32 bits (`linux32`), and the two ways to query only. */
const PERSONALITIES = [0, 8, 0xffffffff, 0xffffffffffffffffn];
const ADDR_NO_RANDOMIZE = 0x0040000;

/** MAP_SHARED and MAP_ANONYMOUS; MAP_SHARED_VALIDATE includes the bit of MAP_SHARED. */
const SHARED_ANONYMOUS = 0x21;

/** The setuid and the setgid bit of a mode. */
const IDENTITY_BITS = [0o4000, 0o2000];
/** Where each call has the mode of a file. */
const MODE_ARGUMENTS = { chmod: 1, fchmod: 1, fchmodat: 2, fchmodat2: 2, creat: 1, mknod: 1, mknodat: 2 };
/** Calls that read their mode only if a flag asks for a new file. */
const OPENING_CALLS = { open: { flags: 1, mode: 2 }, openat: { flags: 2, mode: 3 } };
/** O_CREAT, and the bit that O_TMPFILE has alone, on x86-64 and arm64. */
const CREATING_FLAGS = [0x40, 0x400000];

/** What limits a sandbox as a whole. Without a cgroup the filter refuses what the watchdog could not count. */
export type Bound = 'cgroup' | 'watchdog';

/**
 * contextd's own profile. It names every call of the tables, allowed or not; a call from a newer table returns EPERM
 * until somebody decides about it (docs/seccomp.md).
 */
export function defaultProfile(toggles: SeccompToggles, bound: Bound = 'cgroup'): OciProfile {
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    syscalls: [
      ...groups(allowedUnder(bound), { action: 'SCMP_ACT_ALLOW' }),
      ...(bound === 'watchdog' ? watchdogRules() : []),
      ...modeRules(),
      ...groups(DENIED_CALLS, { action: 'SCMP_ACT_ERRNO', errnoRet: EPERM }),
      ...groups(ABSENT_CALLS, { action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS }),
      ...socketRules(toggles),
      ...socketPairRules(toggles),
      allow('clone', masked(0, NEW_NAMESPACES, 0)),
      ...DENIED_IOCTLS.map((request) => deny('ioctl', masked(1, INT_BITS, request))),
      allow('ioctl'),
      ...personalityRules(toggles),
      toggles.debugger
        ? { names: DEBUGGER_CALLS, action: 'SCMP_ACT_ALLOW' }
        : { names: DEBUGGER_CALLS, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
    ],
  };
}

function allowedUnder(bound: Bound): Readonly<Record<string, readonly string[]>> {
  if (bound === 'cgroup') return ALLOWED_CALLS;
  const refused = [...UNCOUNTED_CALLS, ...UNBINDING_CALLS];
  return Object.fromEntries(
    Object.entries(ALLOWED_CALLS).map(([group, calls]) => [group, calls.filter((call) => !refused.includes(call))]),
  );
}

/**
 * Pages of a shared anonymous mapping stay alive even if no process has them mapped (MADV_DONTNEED, a munmap of all
 * pages but one), so no sum includes them. After ENOSYS a library that needs a memfd uses a file in /tmp or /dev/shm,
 * as on an old kernel, and these files are counted.
 */
function watchdogRules(): OciRule[] {
  return [
    { names: UNCOUNTED_CALLS, action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    { names: UNBINDING_CALLS, action: 'SCMP_ACT_ERRNO', errnoRet: EPERM },
    deny('mmap', masked(3, SHARED_ANONYMOUS, SHARED_ANONYMOUS)),
  ];
}

/**
 * A file of the project that is setuid or setgid would run on the host with the rights of its owner, for every user. A
 * filter does not see whether the mode is for a directory, so a directory cannot get the bits either.
 */
function modeRules(): OciRule[] {
  return IDENTITY_BITS.flatMap((bit) => [
    ...Object.entries(MODE_ARGUMENTS).map(([name, mode]) => deny(name, masked(mode, bit, bit))),
    ...Object.entries(OPENING_CALLS).flatMap(([name, { flags, mode }]) =>
      CREATING_FLAGS.map((flag) => deny(name, masked(flags, flag, flag), masked(mode, bit, bit))),
    ),
  ]);
}

function socketRules({ unix, inet }: SeccompToggles): OciRule[] {
  return [
    ...(unix ? [allow('socket', equal(0, AF_UNIX))] : []),
    ...(inet ? [...inetRules(AF_INET), ...inetRules(AF_INET6)] : []),
    allow('socket', equal(0, AF_NETLINK), equal(2, NETLINK_ROUTE)),
  ];
}

function inetRules(family: number): OciRule[] {
  const rule = (type: number, protocol: number) =>
    allow('socket', equal(0, family), masked(1, TYPE_BITS, type), equal(2, protocol));
  return [
    ...Object.values(STREAM_PROTOCOLS).map((protocol) => rule(SOCK_STREAM, protocol)),
    ...Object.values(DGRAM_PROTOCOLS).map((protocol) => rule(SOCK_DGRAM, protocol)),
  ];
}

/**
 * Every Node process talks to its children over a socket pair, so pairs stay allowed without AF_UNIX sockets; but not
 * pairs of datagram sockets, because each end can send to any named socket.
 */
function socketPairRules({ unix }: SeccompToggles): OciRule[] {
  if (unix) return [allow('socketpair', equal(0, AF_UNIX))];
  const connected = [SOCK_STREAM, SOCK_SEQPACKET];
  return connected.map((type) => allow('socketpair', equal(0, AF_UNIX), masked(1, TYPE_BITS, type)));
}

function personalityRules({ debugger: debugs }: SeccompToggles): OciRule[] {
  const values = debugs ? [...PERSONALITIES, ADDR_NO_RANDOMIZE] : PERSONALITIES;
  return values.map((value) => allow('personality', equal(0, value)));
}

function groups(calls: Readonly<Record<string, readonly string[]>>, rule: Omit<OciRule, 'names'>): OciRule[] {
  return Object.entries(calls).map(([comment, names]) => ({ ...rule, names, comment }));
}

function allow(name: string, ...args: readonly OciArg[]): OciRule {
  return { names: [name], action: 'SCMP_ACT_ALLOW', args };
}

function deny(name: string, ...args: readonly OciArg[]): OciRule {
  return { names: [name], action: 'SCMP_ACT_ERRNO', errnoRet: EPERM, args };
}

/** All 64 bits. */
function equal(index: number, value: number | bigint): OciArg {
  return { index, value, op: 'SCMP_CMP_EQ' };
}

function masked(index: number, mask: number | bigint, left: number): OciArg {
  return { index, value: mask, valueTwo: left, op: 'SCMP_CMP_MASKED_EQ' };
}
