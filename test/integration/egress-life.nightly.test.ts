import { createSocket } from 'node:dgram';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EgressEvent, scopeKey } from '#src/egress/messages.js';
import { clientHello, inRecords } from '../helpers/client-hello.js';
import { EgressProcess, Peer, Upstream } from '../helpers/egress-process.js';

const NET = `127.79.${process.pid % 250}`;
const GOOD = `${NET}.1`;
const SCOPE = scopeKey({ project: '/project', tool: null });
const AT = { scope: SCOPE, namespace: 'net:[1]' };
const RULE = 'good.example:8443';
const HELLO = inRecords(clientHello({ serverNames: ['good.example'] }));
const CONNECT = 'CONNECT good.example:8443 HTTP/1.1\r\n\r\n';

let egress: EgressProcess;
let upstream: Upstream;
let proxy: number;

beforeEach(async () => {
  egress = await EgressProcess.start(`${NET}.9 good.example\n${GOOD} good.example\n${GOOD} also.example\n`);
  upstream = await Upstream.listen(GOOD, 8443);
  proxy = await egress.listen(3128, AT);
});

afterEach(async () => {
  await egress.stop();
  await upstream.close();
});

/** An open tunnel: its program's side and its host's side. */
async function open(name = 'good.example'): Promise<[Peer, Peer]> {
  const index = upstream.peers.length;
  const peer = await Peer.to(proxy);
  await peer.write(`CONNECT ${name}:8443 HTTP/1.1\r\n\r\n`).until('200 Connection established\r\n\r\n');
  peer.write(inRecords(clientHello({ serverNames: [name] })));
  const host = await upstream.peer(index);
  await host.until('\x16');
  return [peer, host];
}

/** The same without a word of the program. */
async function openSilent(): Promise<[Peer, Peer]> {
  const index = upstream.peers.length;
  const peer = await Peer.to(proxy);
  await peer.write(CONNECT).until('200 Connection established\r\n\r\n');
  return [peer, await upstream.peer(index)];
}

const closedWith = (why: string) => egress.until((event) => event.ev === 'closed' && event.why.includes(why));

describe('the proxy process', () => {
  it('refuses everything until it knows rules', async () => {
    expect(await (await Peer.to(proxy)).write(CONNECT).all()).toContain(
      '403 contextd refused good.example:8443: no rule',
    );
  });

  it('tries the addresses of a name in turn', async () => {
    await egress.setRules(SCOPE, [RULE]);
    const [peer] = await open();
    peer.socket.destroy();
  });

  it('looks a name up for each connection, and never dials another address of it later', async () => {
    await egress.setRules(SCOPE, [{ pattern: RULE, anyPrivate: false, privateAddresses: [GOOD, `${NET}.9`] }]);
    const [peer, host] = await open();
    egress.setHosts('169.254.169.254 good.example\n');
    const refused = await (await Peer.to(proxy)).write(CONNECT).all();
    expect(refused).toContain('it leads to 169.254.169.254, a link-local or metadata address');
    expect(refused).toContain('ctxd network allow good.example:8443 --private 169.254.169.254');
    host.write('the first one stays');
    await peer.until('the first one stays');
    peer.socket.destroy();
  });

  it('cuts open connections that a new policy does not allow, and no other', async () => {
    await egress.setRules(SCOPE, [RULE, 'also.example:8443']);
    const [cut] = await open();
    const [kept, host] = await open('also.example');
    await egress.setRules(SCOPE, ['also.example:8443']);
    await cut.all();
    await closedWith('the rules changed: no rule of this project allows it');
    host.write('still here');
    await kept.until('still here');
    await egress.setRules(SCOPE, [{ pattern: 'also.example:8443', anyPrivate: false }]);
    await kept.all();
    await closedWith(`the rules changed: it leads to ${GOOD}`);
  });

  it('cuts open connections when their rule ends', async () => {
    await egress.setRules(SCOPE, [{ pattern: RULE, expiresMs: Date.now() + 1_500 }]);
    const [peer] = await open();
    await peer.all();
    await closedWith('the rules changed: no rule');
    expect(await (await Peer.to(proxy)).write(CONNECT).all()).toContain('403');
  });

  it('cuts the connections and closes the listeners of a namespace that is gone', async () => {
    await egress.setRules(SCOPE, [RULE]);
    const [peer] = await open();
    egress.send({ op: 'close', namespace: AT.namespace });
    await peer.all();
    await egress.sync();
    await expect(Peer.to(proxy)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('counts the bytes of open connections', async () => {
    await egress.setRules(SCOPE, [RULE]);
    const [peer, host] = await open();
    host.write('x'.repeat(1_000));
    await peer.until('x'.repeat(1_000));
    expect(await egress.sync()).toEqual([{ id: egress.facts.at(-1)?.id, up: HELLO.length, down: 1_000 }]);
    peer.socket.end();
    host.socket.end();
    await egress.until(({ ev }) => ev === 'closed');
    expect(await egress.sync()).toEqual([]);
  });

  it('lets no more bytes out to a host than the policy says, over all its connections', async () => {
    await egress.setRules(SCOPE, [RULE], HELLO.length * 2 + 500);
    const [first, host] = await open();
    first.write('y'.repeat(400));
    await host.until('y'.repeat(400));
    const [second, other] = await open();
    second.write('z'.repeat(200));
    await second.all();
    await closedWith('the limit of bytes that may be sent to this host is used up');
    expect(other.text).not.toContain('z');
    first.write('y'.repeat(100));
    await host.until('y'.repeat(500));
    expect(await (await Peer.to(proxy)).write(CONNECT).all()).toContain('the limit of bytes that may be sent');
    await egress.setRules(SCOPE, [RULE], null);
    const [third] = await open();
    third.socket.destroy();
  });

  it('goes on counting what an earlier process sent, as that one reported it', async () => {
    await egress.setRules(SCOPE, [RULE], HELLO.length + 100_000);
    const [peer, host] = await open();
    peer.write('y'.repeat(90_000));
    await host.until('y'.repeat(90_000));
    await egress.sync();
    const reports = egress.events.flatMap((event) => (event.ev === 'sent' ? [event] : []));
    const { host: name = '', bytes = 0 } = reports.at(-1) ?? {};
    expect([name, bytes >= HELLO.length + 90_000]).toEqual(['good.example', true]);
    peer.socket.destroy();
    await egress.stop();
    egress = await EgressProcess.start(`${GOOD} good.example\n`);
    proxy = await egress.listen(3128, AT);
    egress.send({ op: 'sent', scope: SCOPE, hosts: { [name]: bytes } });
    await egress.setRules(SCOPE, [RULE], HELLO.length + 100_000);
    expect(await (await Peer.to(proxy)).write(CONNECT).all()).toContain('the limit of bytes that may be sent');
    await egress.setRules(SCOPE, [RULE], HELLO.length + 200_000);
    (await open())[0].socket.destroy();
  });

  it('carries the end of one direction alone', async () => {
    await egress.setRules(SCOPE, [RULE]);
    const [peer, host] = await open();
    peer.socket.end('last words');
    await host.until('last words');
    await host.closed;
    host.write('answer after the end');
    host.socket.end();
    expect(await peer.all()).toContain('answer after the end');
    await egress.until((event) => event.ev === 'closed' && event.why === '');
  });

  it('reports no refusal if a program leaves in the middle of its ClientHello', async () => {
    await egress.setRules(SCOPE, [RULE]);
    const [peer] = await openSilent();
    peer.write(HELLO.subarray(0, 20)).socket.end();
    expect(await egress.until(({ ev }) => ev === 'closed')).toMatchObject({ why: '' });
  });

  it('passes a reset of the host on', async () => {
    await egress.setRules(SCOPE, [RULE]);
    const [peer, host] = await open();
    const broken = new Promise((resolve) => void peer.socket.once('error', resolve));
    host.socket.resetAndDestroy();
    expect(await broken).toMatchObject({ code: 'ECONNRESET' });
    await egress.until(({ ev }) => ev === 'closed');
  });

  const FLOODED: [title: string, start: () => Promise<[Peer, Peer]>][] = [
    ['after the program has spoken', () => open()],
    ['before the program has spoken', openSilent],
  ];
  for (const [title, start] of FLOODED)
    it(`holds no more of a host's bytes than the program takes, ${title}`, async () => {
      await egress.setRules(SCOPE, [RULE]);
      const [peer, host] = await start();
      peer.socket.pause();
      const chunk = Buffer.alloc(1_000_000, 1);
      let sent = 0;
      const fill = (): void => {
        sent += 1;
        // 60 MB are more than all sockets on the way take.
        if (sent < 60) host.socket.write(chunk, fill);
      };
      fill();
      // Until nothing moves any more.
      for (let [still, before] = [0, -1]; still < 20 && sent < 60; ) {
        const [traffic] = await egress.sync();
        still = traffic?.down === before && before > 0 ? still + 1 : 0;
        before = traffic?.down ?? 0;
      }
      expect(sent).toBeLessThan(30);
      peer.socket.destroy();
      await egress.until(({ ev }) => ev === 'closed');
    });

  it('takes ten thousand connections, turns away what is over its limit, and serves another project meanwhile', async () => {
    const other = { scope: scopeKey({ project: '/other', tool: null }), namespace: 'net:[2]' };
    const theirs = await egress.listen(3128, other);
    await egress.setRules(other.scope, [RULE]);
    const silent: Peer[] = [];
    let turnedAway = 0;
    for (let n = 0; n < 10_000; n += 1) {
      const peer = await Peer.to(proxy);
      if (silent.length < 1_100) silent.push(peer);
      else peer.socket.destroy();
    }
    for (const peer of silent) if (peer.text.includes('503 contextd: too many connections')) turnedAway += 1;
    expect(turnedAway).toBeGreaterThan(0);
    const peer = await Peer.to(theirs);
    await peer.write(CONNECT).until('200');
    peer.socket.destroy();
    for (const { socket } of silent) socket.destroy();
    await egress.sync();
    expect(await (await Peer.to(proxy)).write(CONNECT).all()).toContain('403');
  });

  it('ends a tunnel without an answer once it was refused twenty times, and no other', async () => {
    const answers: string[] = [];
    for (let n = 0; n < 20; n += 1) answers.push(await (await Peer.to(proxy)).write(CONNECT).all());
    const silent = Array.from({ length: 5 }, async () => (await Peer.to(proxy)).write(CONNECT).all());
    answers.push(...(await Promise.all(silent)));
    expect(answers.map((answer) => (answer === '' ? '' : answer.slice(9, 12)))).toEqual([
      ...Array<string>(20).fill('403'),
      ...Array<string>(5).fill(''),
    ]);
    const other = CONNECT.replace('good', 'other');
    expect(await (await Peer.to(proxy)).write(other).all()).toContain('403');
  });

  it('reports a bounded number of refusals, and says that there are more', async () => {
    const peer = await Peer.to(proxy);
    for (let n = 0; n < 500; n += 1) {
      const one = await Peer.to(proxy);
      await one.write(`CONNECT h${n}.example:443 HTTP/1.1\r\n\r\n`).all();
    }
    peer.socket.destroy();
    await egress.until((event) => event.ev === 'log' && event.event === 'refusals_not_reported');
    expect(egress.facts.length).toBeGreaterThanOrEqual(300);
    expect(egress.facts.length).toBeLessThan(490);
  });

  it('takes a listener again from its parent and serves on', async () => {
    await egress.setRules(SCOPE, [RULE]);
    const again = await egress.listen(3128, AT);
    const peer = await Peer.to(again);
    await peer.write(CONNECT).until('200');
    peer.socket.destroy();
    await expect(Peer.to(proxy)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('ends with its parent', async () => {
    await egress.stop();
  });
});

describe('a name server that does not answer', () => {
  it('makes the connections to its names fail with the reason, and no others', async () => {
    const silent = createSocket('udp4');
    const asked = new Promise<void>((resolve) => void silent.once('message', () => resolve()));
    await new Promise<void>((resolve) => void silent.bind(53, `${NET}.53`, resolve));
    const asking = await EgressProcess.start(`${GOOD} good.example\n`, `${NET}.53`);
    const other = { scope: scopeKey({ project: '/other', tool: null }), namespace: 'net:[2]' };
    const [mine, theirs] = [await asking.listen(3128, AT), await asking.listen(3128, other)];
    for (const { scope } of [AT, other]) await asking.setRules(scope, [RULE, '*.slow.example:8443']);
    const slow: Peer[] = [];
    for (let n = 0; n < 12; n += 1)
      slow.push((await Peer.to(mine)).write(`CONNECT n${n}.slow.example:8443 HTTP/1.1\r\n\r\n`));
    await asked;
    const quick = await Peer.to(theirs);
    await quick.write(CONNECT).until('200');
    quick.socket.destroy();
    expect(slow.map(({ text }) => text).join('')).toBe('');
    for (const peer of slow)
      expect(await peer.all()).toMatch(
        /502 contextd: n\d+\.slow\.example:8443 is allowed, but its name cannot be looked up \(EAI_AGAIN\)/,
      );
    await asking.stop();
    silent.close();
  });
});

describe("the machine's own proxy", () => {
  const setUpstream = (url: string, noProxy: readonly string[] = []): void =>
    egress.send({ op: 'settings', settings: { upstream: { url, noProxy }, extraCa: [] } });

  it('is used with its password for names that it may know better, and not for hosts that bypass it', async () => {
    const own = await Upstream.listen('127.0.0.1', 0, ({ socket }) => {
      socket.once('data', () => void socket.write('HTTP/1.1 200 OK\r\nX: y\r\n\r\nfrom the proxy'));
    });
    setUpstream(`http://user:p%40ss@127.0.0.1:${own.port}`, ['good.example']);
    await egress.setRules(SCOPE, [RULE, 'only-there.example:8443', 'only-there.example']);
    const [direct] = await open();
    direct.socket.destroy();
    const peer = await Peer.to(proxy);
    await peer.write('CONNECT only-there.example:8443 HTTP/1.1\r\n\r\n').until('from the proxy');
    const authorization = `Proxy-Authorization: Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect((await own.peer()).text).toBe(
      `CONNECT only-there.example:8443 HTTP/1.1\r\nHost: only-there.example:8443\r\n${authorization}\r\n\r\n`,
    );
    peer.socket.destroy();
    const plain = await Peer.to(proxy);
    plain.write('GET http://only-there.example/x HTTP/1.1\r\nHost: only-there.example\r\n\r\n');
    const request = await (await own.peer(1)).until('\r\n\r\n');
    expect(request).toMatch(/^GET http:\/\/only-there\.example\/x HTTP\/1\.1\r\nHost: only-there\.example\r\n/);
    expect(request).toContain(authorization);
    plain.socket.destroy();
    await own.close();
  });

  it('that refuses, is silent or is gone is named', async () => {
    await egress.setRules(SCOPE, ['only-there.example:8443']);
    const answers = [
      'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
      'SSH-2.0-x\r\n\r\n\r\n',
      `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(4_000)}`,
    ];
    for (const text of answers) {
      const own = await Upstream.listen('127.0.0.1', 0, ({ socket }) => void socket.write(text));
      setUpstream(`http://127.0.0.1:${own.port}`);
      const refused = await (await Peer.to(proxy)).write('CONNECT only-there.example:8443 HTTP/1.1\r\n\r\n').all();
      expect(refused).toMatch(
        /^HTTP\/1\.1 502 contextd: only-there\.example:8443 is allowed, but the machine's own proxy answered/,
      );
      await own.close();
    }
    const gone = await (await Peer.to(proxy)).write('CONNECT only-there.example:8443 HTTP/1.1\r\n\r\n').all();
    expect(gone).toContain("the machine's own proxy 127.0.0.1:");
    setUpstream('socks5://127.0.0.1:1');
    await egress.until((event: EgressEvent) => event.ev === 'log' && event.event === 'upstream_unusable');
    const unusable = await (await Peer.to(proxy)).write('CONNECT only-there.example:8443 HTTP/1.1\r\n\r\n').all();
    expect(unusable).toContain(
      "502 contextd: only-there.example:8443 is allowed, but the machine's proxy is not an address",
    );
  });
});
