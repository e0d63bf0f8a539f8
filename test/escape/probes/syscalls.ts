/** Calls that the filter refuses, with arguments that do no harm if the call gets through. Numbers: x86-64, arm64. */
interface Syscall {
  readonly name: string;
  readonly x64: number | null;
  readonly arm64: number | null;
  /** Perl expressions. */
  readonly args: string;
}

const BAD = '0xfffffffffffff000';
/** Perl passes the address of a string, but not of a constant. */
const STRINGS = `my ($nowhere, $here, $tmpfs) = ('/contextd-nowhere', '.', 'tmpfs');`;
const NOWHERE = '$nowhere';
const HERE = '$here';

const SYSCALLS: readonly Syscall[] = [
  { name: 'ptrace', x64: 101, arm64: 117, args: '16, 4194303, 0, 0' },
  { name: 'process_vm_readv', x64: 310, arm64: 270, args: '$$, 0, 0, 0, 0, 0' },
  { name: 'process_vm_writev', x64: 311, arm64: 271, args: '$$, 0, 0, 0, 0, 0' },
  { name: 'keyctl', x64: 250, arm64: 219, args: '0, -3, 0, 0, 0' },
  { name: 'add_key', x64: 248, arm64: 217, args: `${BAD}, ${BAD}, 0, 0, -1` },
  { name: 'request_key', x64: 249, arm64: 218, args: `${BAD}, ${BAD}, 0, 0` },
  { name: 'io_uring_setup', x64: 425, arm64: 425, args: '1, my $ring = "\\0" x 120' },
  { name: 'io_uring_enter', x64: 426, arm64: 426, args: '-1, 0, 0, 0, 0, 0' },
  { name: 'io_uring_register', x64: 427, arm64: 427, args: '-1, 0, 0, 0' },
  { name: 'userfaultfd', x64: 323, arm64: 282, args: '1' },
  {
    name: 'name_to_handle_at',
    x64: 303,
    arm64: 264,
    args: `-100, ${HERE}, my $handle = "\\0" x 160, my $id = "\\0" x 8, 0`,
  },
  { name: 'open_by_handle_at', x64: 304, arm64: 265, args: `-100, ${BAD}, 0` },
  { name: 'personality ADDR_NO_RANDOMIZE', x64: 135, arm64: 92, args: '0x0040000' },
  { name: 'kcmp', x64: 312, arm64: 272, args: '$$, $$, 2, 0, 0' },
  { name: 'memfd_secret', x64: 447, arm64: 447, args: '0' },
  { name: 'vmsplice', x64: 278, arm64: 75, args: '-1, 0, 0, 0' },
  { name: 'mount', x64: 165, arm64: 40, args: `${NOWHERE}, ${NOWHERE}, $tmpfs, 0, 0` },
  { name: 'umount2', x64: 166, arm64: 39, args: `${NOWHERE}, 0` },
  { name: 'pivot_root', x64: 155, arm64: 41, args: `${NOWHERE}, ${NOWHERE}` },
  { name: 'chroot', x64: 161, arm64: 51, args: HERE },
  { name: 'fsopen', x64: 430, arm64: 430, args: '$tmpfs, 0' },
  { name: 'open_tree', x64: 428, arm64: 428, args: `-100, ${HERE}, 0` },
  { name: 'move_mount', x64: 429, arm64: 429, args: '-1, 0, -1, 0, 0' },
  { name: 'mount_setattr', x64: 442, arm64: 442, args: '-1, 0, 0, 0, 0' },
  { name: 'unshare NEWUSER', x64: 272, arm64: 97, args: '0x10000000' },
  { name: 'setns', x64: 308, arm64: 268, args: '-1, 0' },
  { name: 'clone NEWUSER', x64: 56, arm64: 220, args: '0x10000011, 0, 0, 0, 0' },
  { name: 'clone3', x64: 435, arm64: 435, args: '0, 0' },
  { name: 'bpf', x64: 321, arm64: 280, args: '0, 0, 0' },
  { name: 'perf_event_open', x64: 298, arm64: 241, args: '0, 0, -1, -1, 0' },
  { name: 'kexec_load', x64: 246, arm64: 104, args: '0, 0, 0, 0' },
  { name: 'kexec_file_load', x64: 320, arm64: 294, args: '-1, -1, 0, 0, 0' },
  { name: 'init_module', x64: 175, arm64: 105, args: '0, 0, 0' },
  { name: 'finit_module', x64: 313, arm64: 273, args: '-1, 0, 0' },
  { name: 'delete_module', x64: 176, arm64: 106, args: `${BAD}, 0` },
  { name: 'reboot', x64: 169, arm64: 142, args: '0, 0, 0, 0' },
  { name: 'swapon', x64: 167, arm64: 224, args: `${NOWHERE}, 0` },
  { name: 'swapoff', x64: 168, arm64: 225, args: NOWHERE },
  { name: 'acct', x64: 163, arm64: 89, args: NOWHERE },
  { name: 'syslog', x64: 103, arm64: 116, args: '10, 0, 0' },
  { name: 'sethostname', x64: 170, arm64: 161, args: `${BAD}, 1` },
  { name: 'settimeofday', x64: 164, arm64: 170, args: `${BAD}, ${BAD}` },
  { name: 'clock_settime', x64: 227, arm64: 112, args: `0, ${BAD}` },
  { name: 'iopl', x64: 172, arm64: null, args: '3' },
  { name: 'ioperm', x64: 173, arm64: null, args: '0, 1, 1' },
  { name: 'modify_ldt', x64: 154, arm64: null, args: '0, 0, 0' },
  { name: 'pidfd_getfd', x64: 438, arm64: 438, args: '-1, 0, 0' },
  { name: 'fanotify_init', x64: 300, arm64: 262, args: '0, 0' },
  { name: 'quotactl', x64: 179, arm64: 60, args: '-1, 0, 0, 0' },
  { name: 'ioctl TIOCSTI', x64: 16, arm64: 29, args: '0, 0x5412, my $key = "x"' },
  { name: 'ioctl TIOCSTI with a bit cut off', x64: 16, arm64: 29, args: '0, 0x5412 | 1 << 32, my $byte = "x"' },
  { name: 'ioctl TIOCLINUX', x64: 16, arm64: 29, args: '0, 0x541c, my $sub = "\\2"' },
  { name: 'a number of the x32 table', x64: 0x4000_0000 + 39, arm64: null, args: '' },
  { name: 'a number above the table', x64: 1023, arm64: 1023, args: '' },
];

const isArm = process.arch === 'arm64';

/** The number of socket(2) on this machine. */
export const SOCKET = isArm ? 198 : 41;

/** Perl: prints the name and error of each call that was not refused with EPERM or ENOSYS, then `done`. */
export function syscallProgram(): string {
  const lines = SYSCALLS.flatMap(({ name, x64, arm64, args }) => {
    const number = isArm ? arm64 : x64;
    return number === null
      ? []
      : [`attempt(${JSON.stringify(name)}, sub { syscall(${[number, args].filter(Boolean).join(', ')}) });`];
  });
  return `$| = 1;
${STRINGS}
sub attempt {
  my ($name, $call) = @_;
  local $! = 0;
  my $parent = $$;
  my $got = $call->();
  exit 0 if $got == 0 && syscall(${isArm ? 172 : 39}) != $parent;
  print "$name: ", $got == -1 ? "error " . ($! + 0) : "got $got", "\\n" unless $got == -1 && ($! == 1 || $! == 38);
}
${lines.join('\n')}
print "done\\n";`;
}
