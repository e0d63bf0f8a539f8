import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EgressEvent, type NetworkRule, scopeKey } from '#src/egress/messages.js';
import type { RunRef } from '#src/sandbox/contract/command.js';
import { type Bench, openBench, processesWith, usualWho } from '../fixtures/sandbox-harness.ts';

const SHARED = { network: 'project' } as const;
const UP = 'up.example.com';
const EGRESS = '/opt/contextd/node --no-warnings /opt/contextd/program/egress.js';

/** Asks the proxy for a tunnel and prints the first line of its answer. */
const tunnel = (target: string, proxy = `\${HTTP_PROXY#http://}`): string =>
  `p=${proxy}; exec 3<>/dev/tcp/\${p%:*}/\${p##*:} && printf 'CONNECT ${target} HTTP/1.1\\r\\nHost: ${target}\\r\\n\\r\\n' >&3 && head -1 <&3`;
/** Asks for a page as a program does that knows of no proxy. */
const direct = (port: number): string =>
  `exec 3<>/dev/tcp/${UP}/${port} && printf 'GET / HTTP/1.1\\r\\nHost: ${UP}${port === 80 ? '' : `:${port}`}\\r\\nConnection: close\\r\\n\\r\\n' >&3 && cat <&3`;

function allow(pattern: string): NetworkRule {
  return { pattern, verdict: 'allow', privateAddresses: [], anyPrivate: false, expiresMs: null };
}

/** The machine's own proxy: it answers for every host itself, so that no name has to be resolved. */
function startUpstream(): Promise<{ server: Server; url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      const head = data.toString('latin1');
      asked.push(head.split('\r\n')[0] ?? '');
      if (head.startsWith('CONNECT')) socket.write('HTTP/1.1 200 OK\r\n\r\n');
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nserved');
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      resolve({ server, url: `http://127.0.0.1:${port}`, asked });
    });
  });
}

/** The proxy processes of one spawner. */
async function egressOf(bench: Bench): Promise<number[]> {
  const { spawnerPid } = await bench.sandbox.status();
  const isBelow = (pid: number): boolean => pid > 1 && (pid === spawnerPid || isBelow(parentOf(pid)));
  return processesWith(EGRESS).filter(isBelow);
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

describe.each(usualWho())('the network of a project, %s', (who) => {
  let bench: Bench;
  let other: Bench;
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  let rules: NetworkRule[] = [];
  const events: { event: EgressEvent; run: RunRef | null }[] = [];

  const tell = (to: Bench, allowed: readonly NetworkRule[], tool: string | null = null): void =>
    to.sandbox.tellEgress({
      op: 'policy',
      scope: scopeKey({ project: to.workspace, tool }),
      policy: { rules: allowed, uploadMaxBytes: null },
    });
  const tellAll = (): void => {
    const settings = { upstream: { url: upstream.url, noProxy: [] }, extraCa: [] };
    bench.sandbox.tellEgress({ op: 'settings', settings });
    tell(bench, rules);
  };
  const permit = (...patterns: string[]): void => {
    rules = patterns.map(allow);
    tellAll();
  };

  beforeAll(async () => {
    upstream = await startUpstream();
    [bench, other] = await Promise.all([
      openBench(who, {}, (event, run) => {
        events.push({ event, run });
        if (event.ev === 'ready') tellAll();
      }),
      openBench(who),
    ]);
  });
  afterAll(async () => {
    await Promise.all([bench.close(), other.close()]);
    upstream.server.close();
  });

  test('a host that nobody allowed is refused at once, and the result names it with the way to allow it', async () => {
    const { out, denied, connections } = await bench.bash(tunnel('evil.example.com:443'), {}, SHARED);
    expect(out).toMatch(/^HTTP\/1\.1 403 .*evil\.example\.com:443/);
    expect(denied).toEqual([
      expect.objectContaining({
        kind: 'network',
        host: 'evil.example.com',
        port: 443,
        how_to_allow: expect.stringContaining('ctxd network allow evil.example.com'),
      }),
    ]);
    expect(connections).toEqual([expect.objectContaining({ host: 'evil.example.com', port: 443, allowed: false })]);
  });

  test('a name that nobody allowed is not found, and the look-up is in the result', async () => {
    const { out, denied } = await bench.bash('getent hosts evil.example.com; echo $?', {}, SHARED);
    expect(out).toBe('2\n');
    expect(denied).toEqual([expect.objectContaining({ kind: 'network', host: 'evil.example.com' })]);
  });

  test('no refusal is missing, however soon the command ends after it', async () => {
    for (let i = 0; i < 8; i++) {
      const { denied } = await bench.bash(`exec 2>&-; ${tunnel(`host-${i}.example.com:443`)}`, {}, SHARED);
      expect(denied.map(({ host }) => host)).toEqual([`host-${i}.example.com`]);
    }
  });

  test('a result waits for the proxy process, but not for ever', async () => {
    await bench.bash(tunnel('evil.example.com:443'), {}, SHARED);
    const [pid = 0] = await egressOf(bench);
    process.kill(pid, 'SIGSTOP');
    try {
      expect((await bench.bash('true', {}, SHARED)).durationMs).toBeGreaterThanOrEqual(900);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test('an allowed host is reached by the variables and by its name alone, and its bytes are counted', async () => {
    permit(UP);
    const ways = [tunnel(`${UP}:443`), direct(80)];
    const [byVariable, byName] = [
      await bench.bash(ways[0] ?? '', {}, SHARED),
      await bench.bash(ways[1] ?? '', {}, SHARED),
    ];
    expect(byVariable.out).toMatch(/^HTTP\/1\.1 200 /);
    expect(byName.out).toContain('served');
    expect(byName.denied).toEqual([]);
    const used = byName.connections.find(({ port }) => port === 80);
    expect(used).toMatchObject({ host: UP, via: 'direct', allowed: true, rule: UP });
    expect([(used?.up ?? 0) > 0, (used?.down ?? 0) > 0]).toEqual([true, true]);
    expect(upstream.asked.some((line) => line.includes(UP))).toBe(true);
  });

  test('a port that a rule names is open for the next command, also below 1024', async () => {
    // A waiting sandbox starts its command at once, so the command could be faster than the listener.
    await bench.bash('true', {}, SHARED);
    await expect.poll(async () => (await bench.sandbox.status()).ready.length, { timeout: 20_000 }).toBeGreaterThan(0);
    permit(UP, `${UP}:8443`, `${UP}:587`);
    for (const port of [8443, 587]) {
      const { connections, err } = await bench.bash(direct(port), {}, SHARED);
      expect([err, connections.some((one) => one.host === UP && one.port === port)]).toEqual(['', true]);
    }
  });

  test('programs cannot take the ports, and hold no descriptor of a namespace or a listener', async () => {
    const take = (proto: string, address: string, port: number): string =>
      `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "${address}", LocalPort => ${port}, Proto => "${proto}", ${
        proto === 'tcp' ? 'Listen => 5, ' : ''
      }ReuseAddr => 1, ReusePort => 1) ? "taken" : "kept"'`;
    const wanted = [3128, 443, 80, 22].flatMap((port) =>
      ['0.0.0.0', '127.0.0.1', '127.32.0.9'].map((address) => take('tcp', address, port)),
    );
    const all = [...wanted, take('udp', '127.0.0.1', 53), take('udp', '0.0.0.0', 53)];
    const { out } = await bench.bash(all.join('\n'), {}, SHARED);
    expect(out).toBe('kept'.repeat(all.length));
    // At the end of a script a pipeline has its shell report the statuses of its parts on a socket (decision 0086).
    const count = "n=$(ls -l /proc/[0-9]*/fd | grep -Ec 'net:|user:|socket:'); echo $n";
    const held = await bench.bash(count, {}, SHARED);
    expect(held.out).toBe('0\n');
  });

  test('another project has its own rules, whatever address of the proxy its programs use', async () => {
    permit(UP);
    const { out, denied } = await other.bash(tunnel(`${UP}:443`, '127.32.0.1:3128'), {}, SHARED);
    expect(out).toMatch(/^HTTP\/1\.1 403 /);
    expect(denied).toHaveLength(1);
    expect((await bench.bash(tunnel(`${UP}:443`, '127.0.0.1:3128'), {}, SHARED)).out).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a tool with a network has a namespace and rules of its own', async () => {
    permit(UP);
    const asTool = { ...SHARED, networkTool: 'fetcher' };
    const [own, shared] = await Promise.all(
      [asTool, SHARED].map((policy) => bench.bash('readlink /proc/self/ns/net', {}, policy)),
    );
    expect(own?.out).not.toBe(shared?.out);
    expect((await bench.bash(tunnel(`${UP}:443`), {}, asTool)).out).toMatch(/^HTTP\/1\.1 403 /);
    tell(bench, [allow(UP)], 'fetcher');
    expect((await bench.bash(tunnel(`${UP}:443`), {}, asTool)).out).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a sandbox without a network has no proxy variables, no resolver and no listener', async () => {
    const { out } = await bench.bash(
      'env | grep -i proxy; cat /etc/resolv.conf; grep hosts /etc/nsswitch.conf; wc -l </proc/net/tcp',
    );
    expect(out).toBe('hosts: files\n1\n');
  });

  test("a caller's own variable wins, in either case", async () => {
    const { out } = await bench.bash('env | grep -i ^https_proxy', { env: { https_proxy: 'http://own:1' } }, SHARED);
    expect(out).toBe('https_proxy=http://own:1\n');
  });

  test('a waiting sandbox has its own way to the proxy', async () => {
    await expect.poll(async () => (await bench.sandbox.status()).ready.length, { timeout: 20_000 }).toBeGreaterThan(0);
    const { readyUsed } = await bench.sandbox.status();
    const { out, connections } = await bench.bash(`echo $HTTP_PROXY; ${tunnel('evil.example.com:443')}`, {}, SHARED);
    expect((await bench.sandbox.status()).readyUsed).toBe(readyUsed + 1);
    expect(out).toMatch(/http:\/\/127\.32\.\d+\.\d+:3128\nHTTP\/1\.1 403/);
    expect(connections).toMatchObject([{ host: 'evil.example.com', count: 1 }]);
  });

  test('of two commands at once, each gets its own connections, and the daemon hears whose they are', async () => {
    const ask = (name: string) => {
      const script = `touch ${name}; until [ -e one ] && [ -e two ]; do sleep 0.02; done; ${tunnel(`${name}.example.com:443`)}`;
      return bench.bash(script, { run: { session: 's', requestId: name } }, SHARED);
    };
    const [one, two] = await Promise.all([ask('one'), ask('two')]);
    expect([one, two].map(({ connections }) => connections.map(({ host }) => host))).toEqual([
      ['one.example.com'],
      ['two.example.com'],
    ]);
    const heard = events.flatMap(({ event, run }) => (event.ev === 'connection' ? [[event.fact.host, run]] : []));
    expect(heard).toContainEqual(['one.example.com', { session: 's', requestId: 'one' }]);
    expect(heard).toContainEqual(['two.example.com', { session: 's', requestId: 'two' }]);
  });

  test('the proxy process has the network of the host, almost no files, no rights and, under root, a user of its own', async () => {
    const [pid = 0, ...more] = await egressOf(bench);
    expect(more).toEqual([]);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const isRoot = process.getuid?.() === 0;
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^CapPrm:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    if (isRoot) expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m);
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
    expect(isRoot ? uid >= 60_578 && uid <= 61_183 : uid === process.getuid?.()).toBe(true);
    expect(readlinkSync(`/proc/${pid}/ns/net`)).toBe(readlinkSync('/proc/self/ns/net'));
    for (const own of ['pid', 'mnt', 'ipc', 'uts'])
      expect(readlinkSync(`/proc/${pid}/ns/${own}`)).not.toBe(readlinkSync(`/proc/self/ns/${own}`));
    const seen = readdirSync(`/proc/${pid}/root`).filter((name) => !/^(?:s?bin|lib\w*|usr)$/.test(name));
    expect(seen.sort()).toEqual(['dev', 'etc', 'opt', 'proc']);
    expect(readdirSync(join(`/proc/${pid}/root`, 'etc'))).not.toContain('passwd');
    const fromInside = await bench.bash("cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c '[e]gress.js'", {}, SHARED);
    expect(fromInside.out).toBe('0\n');
  });

  test('if the proxy process dies, a command with a connection hears of it, and the next one finds the rules in force again', async () => {
    permit(UP);
    const wait = (up: string) => `touch ${up}; until [ -e go ]; do sleep 0.02; done`;
    const running = bench.bash(`${tunnel(`${UP}:443`)}; ${wait('up')}`, {}, SHARED);
    const unconnected = bench.bash(wait('up2'), {}, SHARED);
    const made = () => readdirSync(bench.workspace);
    await expect.poll(made, { timeout: 20_000 }).toEqual(expect.arrayContaining(['up', 'up2']));
    const [pid = 0] = await egressOf(bench);
    process.kill(pid, 'SIGKILL');
    await expect
      .poll(async () => (await egressOf(bench)).filter((one) => one !== pid), { timeout: 20_000 })
      .toHaveLength(1);
    bench.host('touch go');
    expect((await running).denied).toEqual([
      expect.objectContaining({ kind: 'network', rule: expect.stringContaining('ended while the command ran') }),
    ]);
    expect((await unconnected).denied).toEqual([]);
    bench.host('rm go up up2');
    expect((await bench.bash(tunnel(`${UP}:443`), {}, SHARED)).out).toMatch(/^HTTP\/1\.1 200 /);
    expect((await bench.bash(tunnel('evil.example.com:443'), {}, SHARED)).out).toMatch(/^HTTP\/1\.1 403 /);
    expect(events.filter(({ event }) => event.ev === 'ready').length).toBeGreaterThan(1);
  });
});

describe.each(usualWho())('the proxy process, %s', (who) => {
  test('that keeps dying leaves no connection waiting: those in the queue are closed, later ones are refused at once', async () => {
    let ready = 0;
    const bench = await openBench(who, {}, (event) => {
      if (event.ev === 'ready') ready += 1;
    });
    try {
      const ask = tunnel('a.example.com:443');
      const script = `until [ -e stopped ]; do sleep 0.02; done
        ${ask.replace('head -1', 'touch queued; head -1')}; echo "first: $?"; ${ask} || echo "second: $?"`;
      const running = bench.bash(script, {}, SHARED);
      const last = async (): Promise<number> => {
        await expect.poll(async () => (await egressOf(bench)).length, { timeout: 20_000 }).toBe(1);
        return (await egressOf(bench))[0] ?? 0;
      };
      for (let start = 1; start <= 5; start++) {
        await expect.poll(() => ready, { timeout: 20_000 }).toBe(start);
        const pid = await last();
        if (start === 5) {
          process.kill(pid, 'SIGSTOP');
          bench.host('touch stopped');
          await expect.poll(() => readdirSync(bench.workspace), { timeout: 20_000 }).toContain('queued');
        }
        process.kill(pid, 'SIGKILL');
        await expect.poll(() => egressOf(bench), { timeout: 20_000 }).not.toContain(pid);
      }
      const { out, err, denied } = await running;
      expect(out).toMatch(/^first: \d+\nsecond: \d+\n$/);
      expect(err).toContain('Connection refused');
      expect(denied[0]).toMatchObject({ kind: 'network', rule: expect.stringContaining('does not run') });
    } finally {
      await bench.close();
    }
  });

  test('ends when no namespace is left, and starts again with the next', async () => {
    const bench = await openBench(who, { idle_ms: 100, preforked: 0 });
    try {
      await bench.bash('true');
      expect(await egressOf(bench)).toEqual([]);
      expect((await bench.bash(tunnel('a.example.com:443'), {}, SHARED)).out).toMatch(/^HTTP\/1\.1 403 /);
      await expect.poll(() => egressOf(bench), { timeout: 20_000 }).toEqual([]);
      expect((await bench.bash(tunnel('b.example.com:443'), {}, SHARED)).out).toMatch(/^HTTP\/1\.1 403 /);
    } finally {
      await bench.close();
    }
  });
});
