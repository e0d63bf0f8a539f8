import { isErrno } from '../../core/errors.ts';
import { isSeccompArch, numberOf } from '../machine/seccomp/syscalls.ts';
import type { FileId, ProcFiles } from './proc-files.ts';

/** What can end a wait. */
export type WaitFor =
  | { readonly kind: 'terminal' | 'stdin' | 'sleep' | 'pipe' | 'unknown' }
  /** Changes of files (inotify). */
  | { readonly kind: 'files' }
  /** Another thread or process of the command: a child, a lock in memory, a signal. */
  | { readonly kind: 'own' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'network'; readonly inode: string }
  | { readonly kind: 'lock'; readonly path: string };

/** What one thread does: everything that it waits for at once. */
export interface ThreadWait {
  readonly waits: readonly WaitFor[];
  /** True if it also goes on by itself after a while. */
  readonly hasTimer: boolean;
}

const BUSY: ThreadWait = { waits: [{ kind: 'busy' }], hasTimer: false };
const UNKNOWN: ThreadWait = { waits: [{ kind: 'unknown' }], hasTimer: false };
/** Descriptors of one poll or select that are looked at. */
const POLLED_MAX = 256;
const POLLFD_BYTES = 8;
const [POLLIN, F_SETLKW, F_OFD_SETLKW] = [1, 7, 38];

/** Read of a thread's system call, and of the list of an epoll: a list that is longer counts as too long. */
const [CALL_MAX_BYTES, EPOLL_MAX_BYTES] = [512, 64 * 1024];

type Reader = (thread: SystemCall, stdin: FileId | null) => ThreadWait;

/** A system call in which a thread is blocked. */
interface SystemCall {
  readonly pid: number;
  readonly args: readonly bigint[];
  readonly files: ProcFiles;
}

/** By name of the system call. What is not listed waits for something unknown. */
const READERS: Readonly<Record<string, Reader>> = {
  ...sameFor(['read', 'readv', 'pread64'], (call, stdin) => only(waitOn(call, at(call.args, 0), stdin))),
  ...sameFor(
    ['recvfrom', 'recvmsg', 'recvmmsg', 'accept', 'accept4', 'connect', 'sendto', 'sendmsg', 'sendmmsg'],
    (call, stdin) => only(waitOn(call, at(call.args, 0), stdin)),
  ),
  ...sameFor(['wait4', 'waitid', 'pause', 'rt_sigsuspend'], () => only({ kind: 'own' })),
  futex: (call) => ({ waits: [{ kind: 'own' }], hasTimer: arg(call, 3) !== 0n }),
  rt_sigtimedwait: (call) => ({ waits: [{ kind: 'own' }], hasTimer: arg(call, 2) !== 0n }),
  ...sameFor(['nanosleep', 'clock_nanosleep'], () => ({ waits: [{ kind: 'sleep' }], hasTimer: true })),
  // Opening a named pipe waits for its other end.
  ...sameFor(['open', 'openat'], () => only({ kind: 'pipe' })),
  flock: (call) => only({ kind: 'lock', path: linkOf(call, at(call.args, 0)) }),
  fcntl: (call) =>
    at(call.args, 1) === F_SETLKW || at(call.args, 1) === F_OFD_SETLKW
      ? only({ kind: 'lock', path: linkOf(call, at(call.args, 0)) })
      : UNKNOWN,
  poll: (call, stdin) => onAll(call, polled(call), Number(BigInt.asIntN(32, arg(call, 2))) >= 0, stdin),
  ppoll: (call, stdin) => onAll(call, polled(call), arg(call, 2) !== 0n, stdin),
  select: (call, stdin) => onAll(call, selected(call), arg(call, 4) !== 0n, stdin),
  pselect6: (call, stdin) => onAll(call, selected(call), arg(call, 4) !== 0n, stdin),
  epoll_wait: (call, stdin) => onAll(call, watched(call), Number(BigInt.asIntN(32, arg(call, 3))) >= 0, stdin),
  epoll_pwait: (call, stdin) => onAll(call, watched(call), Number(BigInt.asIntN(32, arg(call, 3))) >= 0, stdin),
  epoll_pwait2: (call, stdin) => onAll(call, watched(call), arg(call, 3) !== 0n, stdin),
};

const READER_BY_NUMBER: ReadonlyMap<number, Reader> = new Map(
  Object.entries(READERS).flatMap(([name, reader]) => {
    const number = isSeccompArch(process.arch) ? numberOf(process.arch, name) : undefined;
    return number === undefined ? [] : [[number, reader] as const];
  }),
);

/**
 * What a thread of a sandbox waits for, from the system call in which it is blocked. `stdin` is the pipe that the
 * command got as its standard input. The process may change what is read here: it is a hint, never a proof.
 */
export function waitOfThread(pid: number, tid: number, stdin: FileId | null, files: ProcFiles): ThreadWait {
  const call = files.text(`/proc/${pid}/task/${tid}/syscall`, CALL_MAX_BYTES).trim();
  if (call === 'running') return BUSY;
  const [number, ...args] = call.split(' ');
  const reader = call === '' ? undefined : READER_BY_NUMBER.get(Number(number));
  try {
    return reader?.({ pid, args: args.slice(0, 6).map(BigInt), files }, stdin) ?? UNKNOWN;
  } catch (cause) {
    // The process ended, or what it pointed to is no memory.
    if (isErrno(cause) || cause instanceof SyntaxError || cause instanceof RangeError) return UNKNOWN;
    throw cause;
  }
}

function only(wait: WaitFor): ThreadWait {
  return { waits: [wait], hasTimer: false };
}

function onAll(call: SystemCall, fds: readonly number[] | null, hasTimer: boolean, stdin: FileId | null): ThreadWait {
  if (fds === null) return UNKNOWN;
  if (fds.length === 0) return { waits: [{ kind: hasTimer ? 'sleep' : 'own' }], hasTimer };
  return { waits: [...new Set(fds)].map((fd) => waitOn(call, fd, stdin)), hasTimer };
}

/** What a descriptor that a thread wants to read can bring. */
function waitOn(call: SystemCall, fd: number, stdin: FileId | null): WaitFor {
  const link = linkOf(call, fd);
  if (/^\/dev\/(?:pts\/\d+|tty|console)$/.test(link)) return { kind: 'terminal' };
  const socket = /^socket:\[(\d+)\]$/.exec(link)?.[1];
  if (socket !== undefined) return { kind: 'network', inode: socket };
  if (/^anon_inode:\[?inotify/.test(link)) return { kind: 'files' };
  if (/^anon_inode:\[?(?:eventfd|signalfd|eventpoll)/.test(link)) return { kind: 'own' };
  if (stdin !== null && isFile(call, fd, stdin)) return { kind: 'stdin' };
  return { kind: link.startsWith('pipe:') ? 'pipe' : 'unknown' };
}

/** Follows the link of the descriptor itself, which leads to the open file and through no path. */
function isFile({ pid, files }: SystemCall, fd: number, file: FileId): boolean {
  return files.leadsTo(`/proc/${pid}/fd/${fd}`, file);
}

/** The descriptors that a poll wants to read; null if it has too many. */
function polled(call: SystemCall): number[] | null {
  const count = at(call.args, 1);
  if (count < 0 || count > POLLED_MAX) return null;
  // What the pointers of a blocked system call lead to does not change while it is blocked.
  const bytes = call.files.memory(call.pid, arg(call, 0), count * POLLFD_BYTES);
  return Array.from({ length: count }, (_, i) => i * POLLFD_BYTES).flatMap((from) => {
    const [fd, events] = [bytes.readInt32LE(from), bytes.readInt16LE(from + 4)];
    return fd >= 0 && (events & POLLIN) !== 0 ? [fd] : [];
  });
}

function selected(call: SystemCall): number[] | null {
  const [count, set] = [at(call.args, 0), arg(call, 1)];
  if (count < 0 || count > POLLED_MAX * 8) return null;
  if (set === 0n) return [];
  const bytes = call.files.memory(call.pid, set, Math.ceil(count / 8));
  return Array.from({ length: count }, (_, fd) => fd).filter((fd) => ((bytes[fd >> 3] ?? 0) & (1 << (fd & 7))) !== 0);
}

function watched({ pid, args, files }: SystemCall): number[] | null {
  const info = files.text(`/proc/${pid}/fdinfo/${at(args, 0)}`, EPOLL_MAX_BYTES);
  if (info.length >= EPOLL_MAX_BYTES) return null;
  const fds = [...info.matchAll(/^tfd:\s+(\d+) events:\s+([0-9a-f]+)/gm)];
  if (fds.length > POLLED_MAX) return null;
  return fds.filter(([, , events]) => (Number.parseInt(events ?? '', 16) & POLLIN) !== 0).map(([, fd]) => Number(fd));
}

function linkOf({ pid, files }: SystemCall, fd: number): string {
  return files.link(`/proc/${pid}/fd/${fd}`);
}

function arg({ args }: SystemCall, index: number): bigint {
  return args[index] ?? 0n;
}

/** An argument that is a C int. */
function at(args: readonly bigint[], index: number): number {
  return Number(BigInt.asIntN(32, args[index] ?? 0n));
}

function sameFor(names: readonly string[], reader: Reader): Record<string, Reader> {
  return Object.fromEntries(names.map((name) => [name, reader]));
}
