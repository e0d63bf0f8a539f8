import { createSocket } from 'node:dgram';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopeKey } from '#src/egress/messages.js';
import { clientHello, inRecords } from '../helpers/client-hello.js';
import { dnsQuery } from '../helpers/dns-query.js';
import { EgressProcess, Peer, Upstream } from '../helpers/egress-process.js';
import { HAS_LOW_PORTS } from '../helpers/low-ports.ts';

const NET = `127.78.${process.pid % 250}`;
const GOOD = `${NET}.1`;
const SCOPE = scopeKey({ project: '/project', tool: null });
const AT = { scope: SCOPE, namespace: 'net:[1]' };
const OTHER = { scope: scopeKey({ project: '/other', tool: null }), namespace: 'net:[2]' };
const ALERT_DENIED = '\x15\x03\x03\x00\x02\x02\x31';
const ALERT_NAME = '\x15\x03\x03\x00\x02\x02\x70';
const A = 1;
const AAAA = 28;
const NXDOMAIN = 3;
const helloOf = (name: string) => inRecords(clientHello({ serverNames: [name] }));

let egress: EgressProcess;
let upstreams: Record<number, Upstream>;
const ports: Record<number, number> = {};
let names: number;

beforeAll(async () => {
  egress = await EgressProcess.start(`${GOOD} good.example\n${GOOD} web.example\n`);
  upstreams = {};
  for (const port of [443, 80, 22])
    upstreams[port] = await Upstream.listen(GOOD, port, ({ socket }) => {
      socket.on('data', (chunk: Buffer) => {
        socket.write(port === 80 ? 'HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok' : `got ${chunk.length}`);
      });
    });
  for (const port of [443, 80, 22, 8443]) ports[port] = await egress.listen(port, AT);
  names = await egress.listenForNames(AT);
  await egress.setRules(SCOPE, [
    'good.example',
    'good.example:22',
    'web.example:80',
    '*.wild.example',
    { pattern: 'no.wild.example', verdict: 'deny' },
  ]);
});

afterAll(async () => {
  await egress.stop();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
});

/** The code of the answer, and its address if it has one. */
async function lookUp(name: string, type = A, port = names): Promise<{ code: number; address: string | null }> {
  const socket = createSocket('udp4');
  try {
    const answer = await new Promise<Buffer>((resolve) => {
      socket.once('message', resolve).send(dnsQuery(name, type, 99), port, '127.0.0.1');
    });
    expect(answer.readUInt16BE(0)).toBe(99);
    return {
      code: answer.readUInt16BE(2) & 15,
      address: answer.readUInt16BE(6) === 0 ? null : answer.subarray(-4).join('.'),
    };
  } finally {
    socket.close();
  }
}

async function addressOf(name: string): Promise<string> {
  const { address } = await lookUp(name);
  if (address === null) throw new Error(`${name} has no address`);
  return address;
}

describe.runIf(HAS_LOW_PORTS)('the local DNS', () => {
  it('gives each allowed name one address of its own', async () => {
    const address = await addressOf('good.example');
    expect(address).toMatch(/^127\.(6[4-9]|[789]\d|1[01]\d|12[0-7])\./);
    expect(await addressOf('GOOD.example')).toBe(address);
    expect(await addressOf('any.thing.wild.example')).not.toBe(address);
    expect(egress.facts.filter(({ via }) => via === 'dns')).toEqual([]);
  });

  it('has no other records of an allowed name, and loopback for localhost', async () => {
    for (const type of [AAAA, 16, 65, 255])
      expect(await lookUp('good.example', type)).toEqual({ code: 0, address: null });
    expect(await addressOf('app.localhost')).toBe('127.0.0.1');
    expect(await lookUp('localhost', AAAA)).toEqual({ code: 0, address: null });
  });

  for (const name of [
    'evil.example',
    'wild.example',
    'no.wild.example',
    'good.example.evil.example',
    'c2VjcmV0.evil.example',
  ])
    it(`says that ${name} does not exist, and reports it`, async () => {
      expect(await lookUp(name)).toEqual({ code: NXDOMAIN, address: null });
      await egress.sync();
      expect(egress.facts.at(-1)).toMatchObject({
        host: name.toLowerCase(),
        port: 0,
        via: 'dns',
        lane: null,
        allowed: false,
      });
    });

  it('reports the questions of one look-up once', async () => {
    const socket = createSocket('udp4');
    const both = new Promise<void>((resolve) => {
      let answers = 0;
      socket.on('message', () => {
        answers += 1;
        if (answers === 2) resolve();
      });
    });
    for (const type of [A, AAAA]) socket.send(dnsQuery('twice.example', type, type), names, '127.0.0.1');
    await both;
    socket.close();
    await egress.sync();
    expect(egress.facts.filter(({ host }) => host === 'twice.example')).toHaveLength(1);
  });

  it('gives no answer to what is not a question', async () => {
    const socket = createSocket('udp4');
    socket.send(Buffer.from('not a question at all'), names, '127.0.0.1');
    socket.close();
    expect(await addressOf('good.example')).not.toBe('');
  });
});

describe.runIf(HAS_LOW_PORTS)('a program that knows no proxy', () => {
  it('reaches the name that it looked up, with the same name in TLS', async () => {
    const peer = await Peer.to(ports[443] ?? 0, await addressOf('good.example'));
    await peer.write(helloOf('good.example')).until('got');
    peer.socket.destroy();
    expect(egress.facts.at(-1)).toMatchObject({
      host: 'good.example',
      port: 443,
      via: 'direct',
      lane: null,
      allowed: true,
    });
  });

  it('with another name in TLS gets an alert', async () => {
    const peer = await Peer.to(ports[443] ?? 0, await addressOf('good.example'));
    expect(await peer.write(helloOf('evil.example')).all()).toBe(ALERT_NAME);
  });

  it('at a port that is not allowed for the name gets an alert', async () => {
    const peer = await Peer.to(ports[443] ?? 0, await addressOf('web.example'));
    expect(await peer.all()).toBe(ALERT_DENIED);
    expect(egress.facts.at(-1)).toMatchObject({
      host: 'web.example',
      port: 443,
      rule: 'web.example:80',
      isAllowable: true,
    });
  });

  it('at an address that no name has is refused, also at loopback and at the address of a name of another project', async () => {
    const otherNames = await egress.listenForNames(OTHER);
    await egress.setRules(
      OTHER.scope,
      Array.from({ length: 30 }, (_, n) => `host${n}.example`),
    );
    let theirs = '';
    for (let n = 0; n < 30; n += 1) theirs = (await lookUp(`host${n}.example`, A, otherNames)).address ?? '';
    for (const address of [theirs, '127.64.99.99', '127.0.0.1']) {
      expect(await (await Peer.to(ports[443] ?? 0, address)).all()).toBe(ALERT_DENIED);
      expect(egress.facts.at(-1)).toMatchObject({ host: address, allowed: false, isAllowable: false });
      expect(await (await Peer.to(ports[80] ?? 0, address)).all()).toContain('HTTP/1.1 403 contextd refused');
      expect(await (await Peer.to(ports[22] ?? 0, address)).all()).toMatch(/^contextd refused .*\r\n$/);
      expect(await (await Peer.to(ports[8443] ?? 0, address)).all()).toBe('');
    }
  });

  it('reaches a web server, whose host each request must name', async () => {
    const address = await addressOf('good.example');
    const peer = await Peer.to(ports[80] ?? 0, address);
    await peer.write('GET / HTTP/1.1\r\nHost: good.example\r\n\r\n').until('\r\n\r\nok');
    expect(await peer.write('GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n').all()).toContain(
      '403 contextd refused evil.example:80',
    );
    for (const head of [
      'GET / HTTP/1.1\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: good.example\r\nHost: evil.example\r\n\r\n',
      'GET http://evil.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n',
      'CONNECT good.example:443 HTTP/1.1\r\nHost: good.example\r\n\r\n',
    ]) {
      const other = await Peer.to(ports[80] ?? 0, address);
      expect(await other.write(head).all(), head).toMatch(/^HTTP\/1\.1 400 contextd/);
    }
  });

  it('reaches SSH, and only with SSH', async () => {
    const address = await addressOf('good.example');
    const upstream = upstreams[22] as Upstream;
    const index = upstream.peers.length;
    const ssh = await Peer.to(ports[22] ?? 0, address);
    (await upstream.peer(index)).write('SSH-2.0-server\r\n');
    await ssh.until('SSH-2.0-server');
    await ssh.write('SSH-2.0-client\r\n').until('got 16');
    ssh.socket.destroy();
    const http = await Peer.to(ports[22] ?? 0, address);
    await http.write('POST / HTTP/1.1\r\nHost: good.example\r\n\r\n').all();
    const reached = await upstream.peer(index + 1);
    await reached.closed;
    expect(reached.bytes.length).toBe(0);
  });
});
