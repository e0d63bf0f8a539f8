import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

const SHARED = { network: 'project' } as const;

/** Serves one word on loopback of its network namespace, writes `up` into the workspace, and ends after one answer. */
const SERVE = `exec perl -MIO::Socket::INET -e '
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1:4711", Listen => 5, ReuseAddr => 1) or die $!;
open(my $up, ">", "up"); close $up;
my $client = $server->accept; print $client "served"; close $client;
'`;
const READ = 'cat </dev/tcp/127.0.0.1/4711';
const WAIT_AND_READ = `until [ -e up ]; do sleep 0.02; done; rm up; ${READ}`;
/** Everything that would change the network of others in the namespace; prints what went through. */
const RECONFIGURE = `
ip link set lo down && echo down
ip link add d0 type dummy && echo added
ip address add 10.0.0.1/8 dev lo && echo addressed
ip route add 10.1.0.0/16 dev lo && echo routed
for name in ip_forward ip_unprivileged_port_start conf/lo/forwarding; do
  (echo 0 >/proc/sys/net/ipv4/$name) && echo "wrote $name"
done
perl -MSocket -e '
for my $kind ([AF_INET, 1], [AF_INET6, 58], [17, 768]) {
  print "raw socket\\n" if socket(my $raw, $kind->[0], SOCK_RAW, $kind->[1]);
}'
unshare --net true && echo unshared
true
`;

/** The names of the namespaces that the spawner holds. */
async function heldBy(bench: Bench): Promise<string[]> {
  const { spawnerPid } = await bench.sandbox.status();
  const dir = `/proc/${spawnerPid}/fd`;
  return readdirSync(dir).flatMap((fd) => {
    try {
      return [readlinkSync(join(dir, fd))].filter((target) => target.startsWith('net:'));
    } catch {
      return [];
    }
  });
}

describe.each(usualWho())('the loopback of a project, %s', (who) => {
  let bench: Bench;
  let other: Bench;
  beforeAll(async () => {
    [bench, other] = await Promise.all([openBench(who), openBench(who)]);
  });
  afterAll(() => Promise.all([bench.close(), other.close()]));

  const nameOf = async (at: Bench, policy = {}): Promise<string> =>
    (await at.bash('readlink /proc/self/ns/net', {}, policy)).out.trim();

  test('is reported as shared, so that nothing below passes without it', async () => {
    expect((await bench.sandbox.isolationFor(bench.workspace)).loopback).toEqual({
      isShared: true,
      why: null,
      remedy: null,
    });
  });

  test('a server of one call answers another call, and no descriptor leads to a namespace', async () => {
    const serving = bench.bash(SERVE, {}, SHARED);
    const { out } = await bench.bash(`${WAIT_AND_READ}; ls -l /proc/self/fd | grep -Ec 'net:|user:'`, {}, SHARED);
    expect(out).toBe('served0\n');
    expect((await serving).exitCode).toBe(0);
  });

  test('SEC-2.3 is not the host, not another project, and not a sandbox with a loopback of its own', async () => {
    const host = readlinkSync('/proc/self/ns/net');
    const [name, ofOther] = [await nameOf(bench, SHARED), await nameOf(other, SHARED)];
    expect(new Set([host, name, ofOther, await nameOf(bench)]).size).toBe(4);
    expect(await nameOf(bench, SHARED)).toBe(name);
    const serving = bench.bash(SERVE, {}, SHARED);
    const { err } = await bench.bash(`until [ -e up ]; do sleep 0.02; done; ${READ}`);
    expect(err).toContain('Connection refused');
    expect((await other.bash(READ, {}, SHARED)).err).toContain('Connection refused');
    expect((await bench.bash(WAIT_AND_READ, {}, SHARED)).out).toBe('served');
    await serving;
  });

  test('SEC-2.3 cannot be configured from inside, and gives no raw sockets and no rights', async () => {
    const { out } = await bench.bash(
      `${RECONFIGURE}grep CapEff /proc/self/status; cat /proc/net/dev | wc -l`,
      {},
      SHARED,
    );
    expect(out).toBe('CapEff:\t0000000000000000\n3\n');
    // Files below /proc/sys are mounted read-only for root, and are root's for anyone else.
    const writable = await bench.bash('[ -w /proc/sys/net/ipv4/ip_forward ]; echo $?', {}, SHARED);
    expect(writable.out).toBe('1\n');
    const serving = bench.bash(SERVE, {}, SHARED);
    expect((await bench.bash(WAIT_AND_READ, {}, SHARED)).out).toBe('served');
    await serving;
  });

  test('SEC-2.3 a sandbox in it has its own processes', async () => {
    const serving = bench.bash(SERVE, {}, SHARED);
    const script =
      "until [ -e up ]; do sleep 0.02; done; cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'Reuse[A]ddr'";
    expect((await bench.bash(script, {}, SHARED)).out).toBe('0\n');
    expect((await bench.bash(WAIT_AND_READ, {}, SHARED)).out).toBe('served');
    await serving;
  });

  test('a waiting sandbox is in it too', async () => {
    const before = (await bench.sandbox.status()).readyUsed;
    const name = await nameOf(bench, SHARED);
    await expect.poll(async () => (await bench.sandbox.status()).ready.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await expect.poll(() => nameOf(bench, SHARED), { timeout: 20_000 }).toBe(name);
    expect((await bench.sandbox.status()).readyUsed).toBeGreaterThan(before);
  });
});

describe.each(usualWho())('an idle project, %s', (who) => {
  test('gives its namespace and its waiting sandboxes back, but not while a command runs', async () => {
    const bench = await openBench(who, { idle_ms: 100, preforked: 1 });
    try {
      const serving = bench.bash(SERVE, {}, SHARED);
      await bench.bash('until [ -e up ]; do sleep 0.02; done', {}, SHARED);
      const ready = async (): Promise<number> =>
        (await bench.sandbox.status()).ready.reduce((sum, { count }) => sum + count, 0);
      await expect.poll(ready, { timeout: 20_000 }).toBe(0);
      await expect.poll(() => heldBy(bench), { timeout: 20_000 }).toHaveLength(1);
      expect((await bench.bash(WAIT_AND_READ, {}, SHARED)).out).toBe('served');
      await serving;
      await expect.poll(() => heldBy(bench), { timeout: 20_000 }).toEqual([]);
      expect((await bench.bash('echo again', {}, SHARED)).out).toBe('again\n');
    } finally {
      await bench.close();
    }
  });
});
