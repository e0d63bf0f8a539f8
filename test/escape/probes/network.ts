import { expect } from 'vitest';
import type { Outcome } from '../../helpers/sandbox-identities.ts';
import { type Facts, type Probe, type ProbeGroup, perl } from './probe.ts';
import { SOCKET } from './syscalls.ts';

const UNREACHABLE = 'Network is unreachable';

function overTcp(address: string, port: number): string {
  return `timeout 2 bash -c 'exec 5<>/dev/tcp/${address}/${port} && echo CONNECTED && cat <&5'`;
}

function overUnix(path: string): string {
  return perl(`use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!\\n";
connect($s, pack_sockaddr_un("${path}")) or die "connect: $!\\n"; print "CONNECTED ", <$s>;`);
}

function unreachable(seen: Outcome): void {
  expect(seen.out).toBe('');
  expect(seen.err).toContain(UNREACHABLE);
}

/** Calls of socket() that must be refused, each as [family, type, protocol]; prints the calls that were not refused. */
function openSockets(calls: readonly (readonly [string, number, number])[]): string {
  const lines = calls.map(
    ([family, type, protocol]) =>
      `print "OPEN ${family}\\n" if syscall(${SOCKET}, ${family}, ${type}, ${protocol}) >= 0;`,
  );
  return perl(`${lines.join('\n')}\nprint "done\\n";`);
}

const done = (seen: Outcome) => expect(seen.out).toBe('done\n');

/** Documentation and link-local addresses: even if the network is reachable, no real server gets a request. */
const PROBES: readonly Probe[] = [
  {
    id: 17,
    name: 'connect to the internet',
    requirement: 'SEC-2.4',
    script: () => overTcp('192.0.2.1', 80),
    contained: unreachable,
  },
  {
    id: 18,
    name: 'connect to the host’s loopback',
    requirement: 'SEC-2.4',
    script: ({ loopback }) => overTcp(loopback.address, loopback.port),
    contained(seen) {
      expect(seen.out).toBe('');
      expect(seen.err).toContain('Connection refused');
    },
  },
  {
    id: 19,
    name: 'connect to the host’s own address',
    requirement: 'SEC-2.4',
    script: ({ lan }) => overTcp(lan?.address ?? '192.0.2.2', lan?.port ?? 80),
    contained: unreachable,
  },
  {
    id: 20,
    name: 'the metadata service of a cloud',
    requirement: 'SEC-2.4',
    script: () => overTcp('169.254.169.254', 80),
    contained: unreachable,
  },
  {
    id: 21,
    name: 'resolve a name',
    requirement: 'SEC-2.4',
    script: () => 'timeout 3 getent hosts example.com && echo RESOLVED; cat /etc/resolv.conf',
    contained: (seen) => expect(seen.out).toBe(''),
  },
  {
    id: 22,
    name: 'interfaces and routes',
    requirement: 'SEC-2.4',
    script: () => 'tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/route',
    contained: (seen) => expect(seen.out.trim()).toBe('lo'),
  },
  {
    id: 23,
    name: 'the sandbox’s own loopback works',
    requirement: 'SEC-2.4',
    script: () =>
      perl(`use IO::Socket::INET; my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die $!;
my $c = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $l->sockport) or die $!; print "LOOPBACK\\n";`),
    contained: (seen) => expect(seen.out).toBe('LOOPBACK\n'),
  },
  {
    id: 24,
    name: 'an abstract unix socket of the host',
    requirement: 'SEC-2.4',
    script: ({ abstractSocket }) => overUnix(`\\0${abstractSocket}`),
    contained: (seen) => expect(seen).toMatchObject({ out: '', err: 'connect: Connection refused\n' }),
  },
  {
    id: 25,
    name: 'a unix socket in a directory of the host',
    requirement: 'SEC-2.4',
    script: ({ pathSocket }) => overUnix(pathSocket),
    contained: (seen) => expect(seen).toMatchObject({ out: '', err: 'connect: No such file or directory\n' }),
  },
  {
    id: 26,
    name: 'sockets of docker, dbus, X11, ssh-agent',
    requirement: 'SEC-2.4',
    script: ({ base }) =>
      `ls -d /var/run/docker.sock /run/* /tmp/.X11-unix /tmp/* | grep -v "^/tmp/${base.split('/')[2]}$"; find / -xdev -type s; echo "[$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$DISPLAY$WAYLAND_DISPLAY$XDG_RUNTIME_DIR]"`,
    contained: (seen) => expect(seen.out).toBe('[]\n'),
  },
  {
    id: 27,
    name: 'vsock to the hypervisor, also with a bit the kernel cuts off',
    requirement: 'SEC-2.2',
    script: () =>
      openSockets([
        ['40', 1, 0],
        ['(40 | 1 << 32)', 1, 0],
      ]),
    contained: done,
  },
  {
    id: 28,
    name: 'raw and packet sockets, and families nobody needs',
    requirement: 'SEC-2.2',
    script: () =>
      openSockets([
        ['17', 3, 0],
        ['2', 3, 1],
        ['10', 3, 58],
        ['38', 5, 0],
        ['44', 3, 0],
        ['29', 3, 1],
        ['30', 1, 0],
        ['15', 3, 2],
        ['(17 | 1 << 32)', 3, 0],
      ]),
    contained: done,
  },
];

/** Probes 17 to 28. The test proves first, on the host, that the servers can be reached. */
export const NETWORK: ProbeGroup = {
  name: 'the network',
  control: {
    script: (_: Facts) =>
      perl(`use Socket; socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die $!; syswrite $a, "unix\\n"; print scalar <$b>;
for (AF_INET, 10, 16) { syscall(${SOCKET}, $_, $_ == 16 ? 3 : 1, 0) >= 0 or print "no family $_: $!\\n" }`),
    works: (seen) => expect(seen.out).toBe('unix\n'),
  },
  probes: PROBES,
};
