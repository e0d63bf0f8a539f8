import { statSync } from 'node:fs';
import { expect } from 'vitest';
import type { Outcome } from '../../helpers/sandbox-identities.ts';
import { type Probe, type ProbeGroup, perl } from './probe.ts';
import { syscallProgram } from './syscalls.ts';

const silent = (seen: Outcome) => expect(seen.out).toBe('');

/**
 * Opens files for writing and never writes; prints the name of each file that opens. What the kernel separates per
 * network, IPC or pid namespace may be writable in the sandbox.
 */
const SETTINGS = [
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/proc/sys/kernel/hotplug',
  '/proc/sys/kernel/poweroff_cmd',
  '/proc/sys/fs/binfmt_misc/register',
  '/proc/sys/vm/overcommit_memory',
  '/proc/sysrq-trigger',
  '/proc/irq/default_smp_affinity',
  '/proc/dynamic_debug/control',
  '/proc/mtrr',
];

/** Types into a terminal that the sandbox made: without a terminal the call fails for another reason. */
const TYPE_INTO_TERMINAL = `
$| = 1; use POSIX; use Fcntl;
if (my $pid = fork) { waitpid $pid, 0; exit }
POSIX::setsid();
sysopen my $master, '/dev/ptmx', O_RDWR or die "ptmx: $!\\n";
my $lock = pack 'i', 0; ioctl $master, 0x40045431, $lock or die "unlock: $!\\n";
my $number = pack 'i', 0; ioctl $master, 0x80045430, $number or die "number: $!\\n";
sysopen my $slave, '/dev/pts/' . unpack('i', $number), O_RDWR or die "pts: $!\\n";
ioctl $slave, 0x540e, 0;
my $size = pack 'S4', 0, 0, 0, 0; print ioctl($slave, 0x5413, $size) ? "terminal\\n" : "no terminal: $!\\n";
for my $request (0x5412, 0x5412 | 1 << 32) {
  my $key = 'x';
  print syscall(${process.arch === 'arm64' ? 29 : 16}, fileno $slave, $request, $key) == 0 ? "TYPED\\n" : "refused\\n";
}
`;

const PROBES: readonly Probe[] = [
  {
    id: 29,
    name: 'open the kernel’s settings for writing',
    requirement: 'SEC-2.3',
    script: () =>
      `for f in ${SETTINGS.join(' ')}; do (exec 9>>"$f") 2>/dev/null && echo "OPEN $f"; done; ` +
      'find /proc -path "/proc/[0-9]*" -prune -o -type f -writable -print 2>/dev/null | grep -vE "^/proc/(self|thread-self|sys/net)/|^/proc/(pressure/(cpu|io|memory|irq)|sys/(fs/mqueue/[a-z_]+|kernel/(auto_msgmni|msg[a-z]+|ns_last_pid|pid_max|sem|shm[a-z_]+))$"; true',
    contained: silent,
  },
  {
    id: 30,
    name: 'what /proc reveals',
    requirement: 'SEC-2.3',
    script: () =>
      'head -c1 /proc/kcore | wc -c; head -c1 /proc/kmsg | wc -c; cut -d" " -f1 /proc/kallsyms | sort -u | head -2; cat /proc/keys; for f in iomem ioports; do grep -v "^ *0*-0* :" /proc/$f; done',
    contained: (seen) => expect(seen.out).toMatch(/^0\n0\n(?:0+\n)?$/),
  },
  {
    id: 31,
    name: '/sys is not there',
    requirement: 'SEC-2.3',
    script: () => 'ls /sys /sys/fs/cgroup /sys/kernel',
    contained: silent,
  },
  {
    id: 32,
    name: 'control groups (release_agent)',
    requirement: 'SEC-2.3',
    script: () =>
      'mkdir /tmp/cg && mount -t cgroup -o memory cgroup /tmp/cg && echo MOUNTED; mount -t cgroup2 none /tmp/cg && echo MOUNTED; grep -- " - cgroup" /proc/self/mountinfo; find / -xdev -name release_agent',
    contained: silent,
  },
  {
    id: 33,
    name: 'mount/remount rw',
    requirement: 'SEC-2.3',
    script: () =>
      'mount -o remount,rw /usr && echo MOUNTED; mount -t tmpfs x /tmp && echo MOUNTED; mount --bind / /tmp && echo MOUNTED; umount -l /proc && echo MOUNTED; mount -o remount,rw "$PWD/.git/config" && echo MOUNTED; umount "$PWD/.git/config" && echo MOUNTED; true',
    contained: silent,
  },
  {
    id: 34,
    name: 'a user namespace of its own',
    requirement: 'SEC-2.3',
    script: () => 'unshare -Ur id; unshare -n id; unshare -m id; unshare -U id; unshare -c id',
    contained: silent,
  },
  {
    id: 35,
    name: 'enter the namespaces of process 1',
    requirement: 'SEC-2.3',
    script: () => 'nsenter -t 1 -a id; nsenter -t 1 -m id; nsenter -t 1 -U id',
    contained: silent,
  },
  {
    id: 36,
    name: 'a sandbox inside',
    requirement: 'SEC-2.3',
    script: () => 'bwrap --ro-bind / / echo NESTED; bwrap --ro-bind / / --proc /proc --unshare-all echo NESTED',
    contained: silent,
  },
  {
    id: 37,
    name: 'capabilities, new privileges, filter',
    requirement: 'SEC-2.3',
    script: () => 'grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status',
    contained(seen) {
      expect(seen.out.match(/^Cap\w+:\t0{16}$/gm)).toHaveLength(5);
      expect(seen.out).toContain('NoNewPrivs:\t1\n');
      expect(seen.out).toContain('Seccomp:\t2\n');
    },
  },
  {
    id: 38,
    name: 'programs with another owner’s rights',
    requirement: 'SEC-2.3',
    script: () =>
      'su -c id </dev/null; cp /bin/bash sb && chmod 6755 sb; ./sb -p -c "id -u; id -g"; rm -f sb; cp /bin/bash /tmp/sb && chmod u+s /tmp/sb; /tmp/sb -p -c "id -u"',
    contained(seen, { workspace }) {
      const owner = statSync(workspace);
      const { uid, gid } = owner.uid === 0 ? { uid: 1000, gid: 1000 } : owner;
      expect(seen.out).toBe(`${uid}\n${gid}\n${uid}\n`);
    },
  },
  {
    id: 39,
    name: 'make a device',
    requirement: 'SEC-2.3',
    script: () =>
      'for d in /tmp "$PWD" /dev/shm "$HOME"; do mknod $d/b b 8 0 && echo MADE; mknod $d/c c 1 3 && echo MADE; done; mkfifo /tmp/f && echo fifo',
    contained: (seen) => expect(seen.out).toBe('fifo\n'),
  },
  {
    id: 40,
    name: 'what is in /dev',
    requirement: 'SEC-2.3',
    script: () =>
      'ls /dev | tr "\\n" " "; find /dev -type b; : >/dev/newfile; (exec 9</dev/mem); (exec 9</dev/kmsg); true',
    contained(seen) {
      expect(seen.out).toBe('core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ');
      expect(seen.err).toContain('/dev/newfile: Read-only file system');
    },
  },
  {
    id: 41,
    name: 'every system call the filter refuses',
    requirement: 'SEC-2.2',
    script: () => perl(syscallProgram()),
    contained: (seen) => expect(seen.out).toBe('done\n'),
  },
  {
    id: 42,
    name: 'trace a process',
    requirement: 'SEC-2.2',
    script: () =>
      perl(`my $child = fork; if (!$child) { sleep 20; exit }
print syscall(${process.arch === 'arm64' ? 117 : 101}, 16, $child, 0, 0) == 0 ? "TRACED\\n" : "refused\\n"; kill 9, $child;`) +
      '\nstrace -o /dev/null true && echo TRACED; true',
    contained: (seen) => expect(seen.out).toBe('refused\n'),
  },
  {
    id: 43,
    name: 'a core dump',
    requirement: 'SEC-2.3',
    script: () => 'ulimit -c; ulimit -Hc; ulimit -c unlimited 2>/dev/null && echo RAISED; true',
    contained: (seen) => expect(seen.out).toMatch(/^0\n0\n$/),
  },
  {
    id: 44,
    name: 'type into a terminal (TIOCSTI)',
    requirement: 'SEC-2.2',
    script: () => `(exec 3<>/dev/tty) && echo TERMINAL\n${perl(TYPE_INTO_TERMINAL)}`,
    contained: (seen) => expect(seen.out).toBe('terminal\nrefused\nrefused\n'),
  },
];

/** Probes 29 to 44. */
export const KERNEL: ProbeGroup = {
  name: 'the kernel',
  control: {
    script: () =>
      'cat /proc/sys/kernel/ostype; exec 9>/dev/null; mkfifo /tmp/p; head -c 3 /dev/zero | wc -c; ls /proc/self/ns >/dev/null && (ulimit -n 10; ulimit -n); chmod 600 /tmp/p && stat -c %a /tmp/p',
    works: (seen) => expect(seen.out).toBe('Linux\n3\n10\n600\n'),
  },
  probes: PROBES,
};
