import { describe, expect, test } from 'vitest';
import { activityOf } from '#src/sandbox/jail/activity.js';
import type { ProcFiles } from '#src/sandbox/jail/proc-files.js';
import { numberOf, type SeccompArch } from '#src/sandbox/machine/seccomp/syscalls.js';

const ARCH: SeccompArch = process.arch === 'arm64' ? 'arm64' : 'x64';
const PPOLL = numberOf(ARCH, 'ppoll') ?? -1;
const FLOCK = numberOf(ARCH, 'flock') ?? -1;
const POLLED = 256;

interface Made {
  readonly threads?: number;
  readonly cmdline?: string;
  readonly exe?: string;
  /** What the descriptor of this number leads to. */
  link?(fd: number): string;
  /** The descriptor in this place of the polled array of a process. */
  polled?(pid: number, index: number): number;
  readonly syscall?: number;
}

/** A made-up /proc, and how often it was read. */
function madeProc(made: Made) {
  const reads: string[] = [];
  const files: ProcFiles = {
    text(path, maxBytes) {
      reads.push(path);
      expect(maxBytes).toBeLessThanOrEqual(256 * 1024);
      if (path.endsWith('/syscall'))
        return `${made.syscall ?? PPOLL} 0x1000 0x${POLLED.toString(16)} 0x0 0x0 0x0 0x0\n`;
      if (path.endsWith('/cmdline')) return (made.cmdline ?? 'server\0').slice(0, maxBytes);
      return ' 0: 0100007F:0BB8 00000000:0000 0A 0 0 0 0 0 77 1\n';
    },
    names(path) {
      reads.push(path);
      return Array.from({ length: made.threads ?? 1 }, (_, index) => String(index + 1));
    },
    link(path) {
      reads.push(path);
      if (path.endsWith('/exe')) return made.exe ?? '/usr/bin/server';
      return made.link?.(Number(path.slice(path.lastIndexOf('/') + 1))) ?? 'socket:[77]';
    },
    leadsTo(path) {
      reads.push(path);
      return false;
    },
    memory(pid, _address, length) {
      reads.push(`memory ${pid}`);
      const bytes = Buffer.alloc(length);
      for (let index = 0; index * 8 < length; index++) {
        bytes.writeInt32LE(made.polled?.(pid, index) ?? index, index * 8);
        bytes.writeInt16LE(1, index * 8 + 4);
      }
      return bytes;
    },
  };
  return { files, reads };
}

describe('a look at what a command does', () => {
  test('reads the same socket once, however many threads poll it', () => {
    const { files, reads } = madeProc({ threads: 16, polled: () => 5 });
    const activity = activityOf([100], null, 0, files);
    expect(activity?.text).toBe('server waits for a connection to its port 3000');
    expect(reads.filter((path) => path === '/proc/100/fd/5')).toHaveLength(1);
    expect(reads.filter((path) => path.includes('/net/'))).toEqual(['/proc/100/net/tcp']);
  });

  test('issue 30: of a program that watches files it is that, whatever sockets it has', () => {
    const link = (fd: number) => ['anon_inode:[eventfd]', 'anon_inode:inotify', 'socket:[77]'][fd % 3] ?? '';
    const activity = activityOf([100], null, 0, madeProc({ link }).files);
    expect(activity).toMatchObject({ kind: 'watching', text: 'server waits for changes of files', needsInput: false });
  });

  test('has a limit of work, beyond which it says what it knows and never that only input is missing', () => {
    const pids = Array.from({ length: 400 }, (_, index) => index + 100);
    const terminal = () => '/dev/pts/0';
    const { files, reads } = madeProc({ threads: 300, link: terminal });
    const activity = activityOf(pids, null, 0, files);
    expect(activity).toMatchObject({ kind: 'input', needsInput: false, isStuck: false });
    expect(reads.length).toBeLessThan(5_000);
    const sockets = madeProc({ threads: 300, link: (fd) => `socket:[${fd}]` });
    expect(activityOf(pids, null, 0, sockets.files)?.kind).toBe('network');
    expect(sockets.reads.length).toBeLessThan(5_000);
  });

  test('shows a name whole or not at all, because secrets are only found whole', () => {
    const textOf = (made: Made) => activityOf([100], null, 0, madeProc(made).files)?.text ?? '';
    const secret = 'k'.repeat(39);
    const exe = '/usr/bin/sleep';
    expect(textOf({ cmdline: `123456789012345${secret}\0 9\0`, exe })).toMatch(/^sleep waits/);
    expect(textOf({ cmdline: `x/${secret}\0`, exe })).toMatch(/^sleep waits/);
    expect(textOf({ cmdline: 'z'.repeat(9_000), exe: `/tmp/${'n'.repeat(41)}` })).toMatch(/^a program waits/);
    expect(textOf({ cmdline: '-bash\0', exe })).toMatch(/^-bash waits/);
    expect(textOf({ syscall: FLOCK, link: () => `/srv/${secret.repeat(4)}` })).toBe(
      'server waits for the lock on a file',
    );
    expect(textOf({ syscall: FLOCK, link: () => '/srv/a.lock' })).toBe('server waits for the lock on /srv/a.lock');
  });
});
