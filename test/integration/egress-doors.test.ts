import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopeKey } from '#src/egress/messages.js';
import { clientHello, inRecords, outerEch } from '../helpers/client-hello.js';
import { EgressProcess, Peer, Upstream } from '../helpers/egress-process.js';
import { HAS_LOW_PORTS } from '../helpers/low-ports.ts';

/** Loopback addresses of this test alone. */
const NET = `127.77.${process.pid % 250}`;
const [GOOD, EVIL, WILD] = [`${NET}.1`, `${NET}.2`, `${NET}.3`];
const HOSTS = `${GOOD} good.example\n${EVIL} evil.example\n${WILD} a.wild.example\n10.9.9.9 private.example\n${GOOD} half.example\n10.9.9.9 half.example\n`;
const SCOPE = scopeKey({ project: '/project', tool: null });
const AT = { scope: SCOPE, namespace: 'net:[1]' };
const hello = (name?: string, isEncrypted = false) =>
  inRecords(clientHello({ ...(name === undefined ? {} : { serverNames: [name] }), isEncrypted }));

let egress: EgressProcess;
let good: Record<number, Upstream>;
let evil: Upstream;
let proxy: number;

beforeAll(async () => {
  egress = await EgressProcess.start(HOSTS);
  good = {};
  for (const port of [443, 80, 22, 8443]) good[port] = await Upstream.listen(GOOD, port, answer);
  evil = await Upstream.listen(EVIL, 443);
  proxy = await egress.listen(3128, AT);
  await egress.setRules(SCOPE, [
    'good.example',
    'good.example:22',
    'good.example:8443',
    '*.wild.example',
    'nowhere.example',
    { pattern: 'private.example', anyPrivate: false },
    { pattern: 'half.example', anyPrivate: false, privateAddresses: [GOOD] },
    { pattern: 'denied.wild.example', verdict: 'deny' },
  ]);
});

afterAll(async () => {
  await egress.stop();
  await Promise.all([evil, ...Object.values(good)].map((upstream) => upstream.close()));
});

/** Answers HTTP, and says what it got for everything else. */
function answer({ socket }: Peer): void {
  socket.on('data', (chunk: Buffer) => {
    const text = chunk.toString('latin1');
    if (/ HTTP\/1\.1\r\n/.test(text))
      socket.write(
        `HTTP/1.1 200 Fine\r\nX-Got: ${Buffer.from(text).toString('base64')}\r\nContent-Length: 2\r\n\r\nok`,
      );
    else socket.write(`got ${chunk.length}`);
  });
}

async function ask(request: string | Buffer, port = proxy, host?: string): Promise<Peer> {
  return (await Peer.to(port, host)).write(request);
}

const connectTo = (authority: string): string => `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;

describe.runIf(HAS_LOW_PORTS)('CONNECT', () => {
  it('to an allowed name carries TLS with that name', async () => {
    const upstream = good[443] as Upstream;
    const index = upstream.peers.length;
    const peer = await ask(connectTo('good.example:443'));
    await peer.until('HTTP/1.1 200 Connection established\r\n\r\n');
    peer.write(hello('good.example'));
    await peer.until(`got ${hello('good.example').length}`);
    peer.socket.end();
    (await upstream.peer(index)).socket.end();
    await peer.all();
    const fact = egress.facts.findLast(({ via, allowed }) => via === 'connect' && allowed);
    expect(fact).toMatchObject({
      scope: SCOPE,
      namespace: 'net:[1]',
      lane: '127.0.0.1',
      host: 'good.example',
      port: 443,
      rule: 'good.example',
      why: '',
      isAllowable: false,
    });
    const closed = await egress.until((event) => event.ev === 'closed' && event.traffic.id === fact?.id);
    expect(closed).toMatchObject({ traffic: { up: hello('good.example').length, down: 6 }, why: '' });
  });

  it('says by its lane which command asked', async () => {
    await (await ask(connectTo('other.example:443'), proxy, '127.32.5.6')).all();
    expect(egress.facts.at(-1)).toMatchObject({ lane: '127.32.5.6', host: 'other.example', allowed: false });
  });

  const REFUSED: [authority: string, status: number, why: string][] = [
    [
      'evil.example:443',
      403,
      'no rule of this project allows it. A person can allow it: ctxd network allow evil.example',
    ],
    ['evil.example:8443', 403, 'ctxd network allow evil.example:8443'],
    ['good.example:23', 403, 'port 23 is not allowed'],
    ['good.example.:443', 403, 'not a host name in its normal form'],
    ['evilgood.example:443', 403, 'no rule'],
    ['good.example.evil.example:443', 403, 'no rule'],
    ['wild.example:443', 403, 'no rule'],
    ['denied.wild.example:443', 403, 'the rule denied.wild.example denies it'],
    [`${GOOD}:443`, 403, 'it is an address'],
    ['[::1]:443', 403, 'it is an address'],
    ['[::ffff:127.0.0.1]:443', 403, 'it is an address'],
    ['0x7f000001:443', 403, 'it is an address'],
    ['2130706433:443', 403, 'it is an address'],
    ['127.2:443', 403, 'it is an address'],
    ['0177.0.0.1:443', 403, 'it is an address'],
    ['good.example%00.evil.example:443', 403, 'not a host name'],
    ['private.example:443', 403, 'it leads to 10.9.9.9, a private network'],
    ['half.example:443', 403, 'it leads to 10.9.9.9, a private network'],
    ['good.example:443.0', 400, 'malformed'],
    ['good.example:+443', 400, 'malformed'],
    ['good.example:65979', 400, 'malformed'],
    ['good.example:0', 400, 'malformed'],
    ['good.example', 400, 'malformed'],
    ['evil.example#good.example:443', 400, 'this is not HTTP'],
    ['user@good.example:443', 400, 'malformed'],
    ['evil.example/good.example:443', 400, 'malformed'],
    ['nowhere.example:443', 502, 'its name cannot be looked up (ENOTFOUND)'],
    ['a.wild.example:443', 502, 'it cannot be reached (ECONNREFUSED)'],
  ];
  for (const [authority, status, why] of REFUSED)
    it(`to ${authority} is answered with ${status} and the reason`, async () => {
      const text = await (await ask(connectTo(authority))).all();
      const [head = '', body] = text.split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} contextd`));
      expect(head.split('\r\n')[0]).toContain(why);
      expect(body).toContain(why);
      expect(head.includes('X-Contextd-Denied: contextd refused')).toBe(status === 403);
    });

  it('with bytes that are not HTTP is answered with 400', async () => {
    for (const bytes of [
      'CONNECT good.example\0.evil:443 HTTP/1.1\r\n\r\n',
      '\x16\x03\x01\x00\x05hello',
      'GET\r\n\r\n',
      '\x04\x01\x01\xbb\x7f\x00\x00\x01\x00',
    ])
      expect(await (await ask(Buffer.from(bytes, 'latin1'))).all()).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('with a flood of headers is answered with 400 at the limit', async () => {
    const flood = `CONNECT good.example:443 HTTP/1.1\r\n${'X-Flood: 1234567890\r\n'.repeat(2_000)}\r\n`;
    expect(await (await ask(flood)).all()).toContain('the head of a request is limited to 16384 bytes');
  });

  it('issue 30.2.5: to port 443 with ECH beside the visible name passes, to the host of that name', async () => {
    const upstream = good[443] as Upstream;
    const before = upstream.peers.length;
    const peer = await ask(connectTo('good.example:443'));
    await peer.until('\r\n\r\n');
    const bytes = inRecords(clientHello({ serverNames: ['good.example'], extensions: [[0xfe0d, outerEch()]] }));
    peer.write(bytes);
    const reached = await upstream.peer(before);
    await reached.until(bytes.toString('latin1'));
  });

  const WRONG: [title: string, bytes: Buffer, alert: number, why: string][] = [
    ['another server name', hello('evil.example'), 112, 'names another server, evil.example'],
    ['no server name', hello(), 112, 'names no server'],
    [
      'two server names',
      inRecords(clientHello({ serverNames: ['good.example', 'evil.example'] })),
      49,
      'extension twice',
    ],
    ['an encrypted ClientHello', hello('good.example', true), 112, 'encrypted part'],
    [
      'another server name over many records',
      inRecords(clientHello({ serverNames: ['evil.example'] }), 3),
      112,
      'another server',
    ],
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n'), 49, 'does not speak TLS'],
    ['SSH', Buffer.from('SSH-2.0-x\r\n'), 49, 'does not speak TLS'],
    ['a broken ClientHello', inRecords(Buffer.from([1, 0, 0, 4, 3, 3, 0, 0])), 49, 'malformed'],
  ];
  for (const [title, bytes, alert, why] of WRONG)
    it(`to port 443 with ${title} ends with a TLS alert, and no byte reaches the host`, async () => {
      const upstream = good[443] as Upstream;
      const before = upstream.peers.length;
      const peer = await ask(connectTo('good.example:443'));
      await peer.until('\r\n\r\n');
      peer.write(bytes);
      const text = await peer.all();
      expect(Buffer.from(text.split('\r\n\r\n')[1] ?? '', 'latin1')).toEqual(Buffer.from([21, 3, 3, 0, 2, 2, alert]));
      const closed = await egress.until((event) => event.ev === 'closed' && event.why.includes(why));
      expect(closed).toMatchObject({ traffic: { up: 0 } });
      const reached = await upstream.peer(before);
      await reached.closed;
      expect(reached.bytes.length).toBe(0);
    });

  it('carries a ClientHello that arrives in single bytes', async () => {
    const peer = await ask(connectTo('good.example:443'));
    await peer.until('\r\n\r\n');
    for (const byte of hello('good.example')) {
      peer.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await peer.until('got');
    peer.socket.destroy();
  });

  it('to port 22 carries SSH and nothing else', async () => {
    const upstream = good[22] as Upstream;
    const sshIndex = upstream.peers.length;
    const ssh = await ask(connectTo('good.example:22'));
    await ssh.until('\r\n\r\n');
    (await upstream.peer(sshIndex)).write('SSH-2.0-server\r\n');
    await ssh.until('SSH-2.0-server\r\n');
    ssh.write('SSH-2.0-client\r\n');
    await ssh.until('got 16');
    ssh.socket.destroy();
    for (const bytes of [Buffer.from('GET / HTTP/1.1\r\n\r\n'), hello('good.example'), Buffer.from('\0\0\0\0')]) {
      const index = upstream.peers.length;
      const peer = await ask(connectTo('good.example:22'));
      await peer.until('\r\n\r\n');
      peer.write(bytes);
      await peer.all();
      const reached = await upstream.peer(index);
      await reached.closed;
      expect(reached.bytes.length).toBe(0);
    }
  });

  it('to port 80 checks the host of each request', async () => {
    const peer = await ask(connectTo('good.example:80'));
    await peer.until('\r\n\r\n');
    peer.write('GET /a HTTP/1.1\r\nHost: good.example\r\n\r\n');
    await peer.until('\r\n\r\nok');
    peer.write('GET /b HTTP/1.1\r\nHost: evil.example\r\n\r\n');
    expect(await peer.all()).toContain('it is asked for on a connection to good.example:80');
    expect(egress.facts.at(-1)).toMatchObject({ host: 'evil.example', port: 80, via: 'connect', allowed: false });
  });

  it('to a port of a rule checks TLS and HTTP, and carries other protocols in which the server may speak first', async () => {
    const upstream = good[8443] as Upstream;
    const tls = await ask(connectTo('good.example:8443'));
    await tls.until('\r\n\r\n');
    tls.write(hello('evil.example'));
    expect((await tls.all()).endsWith('\x02\x02\x70')).toBe(true);
    const http = await ask(connectTo('good.example:8443'));
    await http.until('\r\n\r\n');
    http.write('GET / HTTP/1.1\r\nHost: evil.example:8443\r\n\r\n');
    expect(await http.all()).toContain('403 contextd refused evil.example:8443');
    const otherIndex = upstream.peers.length;
    const other = await ask(connectTo('good.example:8443'));
    await other.until('\r\n\r\n');
    (await upstream.peer(otherIndex)).write('220 hello\r\n');
    await other.until('220 hello\r\n');
    other.write(Buffer.from([0, 1, 2]));
    await other.until('got 3');
    other.socket.destroy();
    const http2 = await ask(connectTo('good.example:8443'));
    await http2.until('\r\n\r\n');
    http2.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    await http2.all();
    const closed = await egress.until((event) => event.ev === 'closed' && event.why.includes('HTTP/2'));
    expect(closed).toMatchObject({ ev: 'closed' });
  });
});

describe.runIf(HAS_LOW_PORTS)('a port of a rule carries no TLS and no HTTP unchecked', () => {
  const warning = Buffer.from([21, 3, 1, 0, 2, 1, 90]);
  const sent: [title: string, bytes: Buffer, why: string][] = [
    ['a warning before the ClientHello', Buffer.concat([warning, hello('evil.example')]), 'does not speak TLS'],
    [
      'a ClientHello in the form of SSL 2',
      Buffer.from([0x80, 0x2e, 1, 3, 1, 0, 3, 0, 0, 0, 16, 0, 0, 5]),
      'does not speak TLS',
    ],
    [
      'blank lines for 16 KB',
      Buffer.from(`${'\r\n'.repeat(8_192)}GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n`),
      'too long',
    ],
    ['a target of 16 KB', Buffer.from(`GET /${'a'.repeat(16_384)} HTTP/1.1\r\nHost: evil.example\r\n\r\n`), 'too long'],
  ];
  for (const [title, bytes, why] of sent)
    it(`${title}: closed, and no byte reaches the host`, async () => {
      const upstream = good[8443] as Upstream;
      const index = upstream.peers.length;
      const peer = await ask(connectTo('good.example:8443'));
      await peer.until('\r\n\r\n');
      peer.write(bytes);
      await peer.all();
      expect(await egress.until((event) => event.ev === 'closed' && event.why.includes(why))).toMatchObject({
        traffic: { up: 0 },
      });
      const reached = await upstream.peer(index);
      await reached.closed;
      expect(reached.bytes.length).toBe(0);
    });
});

describe.runIf(HAS_LOW_PORTS)('a request in absolute form', () => {
  it('reaches its host, with the host of its address and without headers for the proxy', async () => {
    const peer = await ask(
      'GET http://good.example/path?q=1 HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: Basic eA==\r\nConnection: x-hop\r\nX-Hop: 1\r\nX-Kept: 2\r\n\r\n',
    );
    const [head = ''] = (await peer.until('\r\n\r\nok')).split('\r\n\r\n');
    peer.socket.destroy();
    const got = Buffer.from(/X-Got: (\S+)/.exec(head)?.[1] ?? '', 'base64').toString();
    expect(got).toMatch(/^GET \/path\?q=1 HTTP\/1\.1\r\nHost: good\.example\r\n/);
    expect(got).toContain('X-Kept: 2');
    expect(got).not.toMatch(/evil|proxy|x-hop/i);
    expect(egress.facts.at(-1)).toMatchObject({ host: 'good.example', port: 80, via: 'http', allowed: true });
  });

  it('after an allowed one on the same connection is judged by itself', async () => {
    const peer = await ask('GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n');
    await peer.until('\r\n\r\nok');
    peer.write('GET http://evil.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n');
    const text = await peer.all();
    expect(text).toContain('HTTP/1.1 403 contextd refused evil.example:80: no rule');
    expect(text).toContain('ctxd network allow evil.example\n');
  });

  it('asks for no other protocol on its connection', async () => {
    const peer = await ask(
      'GET http://good.example/ HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n',
    );
    const [head = ''] = (await peer.until('\r\n\r\nok')).split('\r\n\r\n');
    peer.socket.destroy();
    expect(Buffer.from(/X-Got: (\S+)/.exec(head)?.[1] ?? '', 'base64').toString()).not.toMatch(/upgrade|settings/i);
  });

  it('carries bodies of both kinds', async () => {
    for (const body of [
      'Content-Length: 5\r\n\r\nhello',
      'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    ]) {
      const index = (good[80] as Upstream).peers.length;
      const peer = await ask(`POST http://good.example/ HTTP/1.1\r\nHost: good.example\r\n${body}`);
      await peer.until('\r\n\r\nok');
      await (await (good[80] as Upstream).peer(index)).until('hello');
      peer.socket.destroy();
    }
  });

  const REFUSED: [request: string, status: number][] = [
    ['GET https://good.example/', 400],
    ['GET ftp://good.example/', 400],
    ['GET /path', 400],
    ['GET http://user:x@good.example/', 400],
    ['GET http://good.example@evil.example/', 400],
    ['GET http://good.example\\@evil.example/', 400],
    ['GET http://good.example:80:80/', 400],
    ['GET http://[::1]/', 403],
    ['GET http://127.0.0.1/', 403],
    ['GET http://GOOD.example./', 403],
    ['GET http://good.example:443/', 403],
  ];
  for (const [request, status] of REFUSED)
    it(`${request} is answered with ${status}`, async () => {
      const peer = await ask(`${request} HTTP/1.1\r\nHost: good.example\r\n\r\n`);
      expect(await peer.all()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} contextd`));
    });

  it('with two lengths is refused, as smuggling is', async () => {
    const smuggled =
      'POST http://good.example/ HTTP/1.1\r\nHost: good.example\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://evil.example/ HTTP/1.1\r\n\r\n';
    expect(await (await ask(smuggled)).all()).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('to a port of SSH cannot write there: the port takes SSH only', async () => {
    const before = (good[22] as Upstream).peers.length;
    const text = await (await ask('GET http://good.example:22/SSH-2.0-x HTTP/1.1\r\nHost: good.example\r\n\r\n')).all();
    expect(text).toMatch(/^HTTP\/1\.1 403 contextd refused good\.example:22/);
    expect((good[22] as Upstream).peers.length).toBe(before);
  });
});

describe.runIf(HAS_LOW_PORTS)('SOCKS5', () => {
  const greeting = Buffer.from([5, 1, 0]);
  const to = (host: string, port: number, command = 1): Buffer =>
    Buffer.concat([
      Buffer.from([5, command, 0, 3, host.length]),
      Buffer.from(host, 'latin1'),
      Buffer.from([port >> 8, port & 255]),
    ]);

  it('to an allowed name carries TLS with that name', async () => {
    const peer = await ask(greeting);
    await peer.until('\x05\x00');
    peer.write(to('good.example', 443));
    await peer.until('\x05\x00\x00\x01\0\0\0\0\0\0');
    peer.write(hello('good.example'));
    await peer.until('got');
    peer.socket.destroy();
    expect(egress.facts.at(-1)).toMatchObject({ via: 'socks', host: 'good.example', allowed: true });
  });

  it('is read from single bytes, and if all of it comes at once', async () => {
    const whole = Buffer.concat([greeting, to('good.example', 443), hello('good.example')]);
    const atOnce = await ask(whole);
    await atOnce.until('got');
    atOnce.socket.destroy();
    const slow = await ask('');
    for (const byte of whole) {
      slow.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await slow.until('got');
    slow.socket.destroy();
  });

  const REFUSED: [title: string, request: Buffer, code: number][] = [
    ['a name that no rule allows', to('evil.example', 443), 2],
    ['a name with a NUL byte', to('good.example\0.evil.example', 443), 2],
    ['an address as a name', to('127.0.0.1', 443), 2],
    ['an IPv4 address', Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, 1, 187]), 2],
    ['an IPv6 address', Buffer.from([5, 1, 0, 4, ...Array(15).fill(0), 1, 1, 187]), 2],
    ['BIND', to('good.example', 443, 2), 7],
    ['UDP', to('good.example', 443, 3), 7],
    ['a host that does not resolve', to('nowhere.example', 443), 4],
  ];
  for (const [title, request, code] of REFUSED)
    it(`refuses ${title}`, async () => {
      const text = await (await ask(Buffer.concat([greeting, request]))).all();
      expect(Buffer.from(text, 'latin1').subarray(2, 4)).toEqual(Buffer.from([5, code]));
    });

  it('refuses clients that want a password', async () => {
    expect(await (await ask(Buffer.from([5, 1, 2]))).all()).toBe('\x05\xff');
  });
});
