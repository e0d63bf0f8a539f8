import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopeKey } from '#src/egress/messages.js';
import { clientHello, inRecords } from '../helpers/client-hello.js';
import { dnsQuery } from '../helpers/dns-query.js';
import { EgressProcess, Upstream } from '../helpers/egress-process.js';
import { HAS_LOW_PORTS } from '../helpers/low-ports.ts';
import { propertyRuns } from '../helpers/property-runs.ts';

const NET = `127.76.${process.pid % 250}`;
const [GOOD, EVIL, SILENT] = [`${NET}.1`, `${NET}.2`, `${NET}.3`];
const SCOPE = scopeKey({ project: '/project', tool: null });
const AT = { scope: SCOPE, namespace: 'net:[1]' };
const GOOD_PORTS = [443, 80, 22, 8443];
const HELLO = inRecords(clientHello({ serverNames: ['good.example'] }));
const EVIL_HELLO = inRecords(clientHello({ serverNames: ['evil.example'] }));
const SOCKS = Buffer.concat([
  Buffer.from([5, 1, 0, 5, 1, 0, 3, 12]),
  Buffer.from('good.example'),
  Buffer.from([1, 187]),
]);

/** Conversations that pass, or nearly. Each is changed by the generator. */
const SEEDS: readonly Buffer[] = [
  Buffer.concat([Buffer.from('CONNECT good.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n'), HELLO]),
  Buffer.concat([Buffer.from('CONNECT good.example:8443 HTTP/1.1\r\n\r\n'), EVIL_HELLO]),
  Buffer.from('CONNECT good.example:22 HTTP/1.0\r\n\r\nSSH-2.0-client\r\n'),
  Buffer.from('CONNECT evil.example:443 HTTP/1.1\r\n\r\n'),
  Buffer.from(
    'GET http://good.example/a HTTP/1.1\r\nHost: good.example\r\n\r\nGET http://evil.example/ HTTP/1.1\r\n\r\n',
  ),
  Buffer.from('POST http://good.example/a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'),
  Buffer.from('GET / HTTP/1.1\r\nHost: good.example\r\n\r\n'),
  Buffer.concat([SOCKS, HELLO]),
  Buffer.concat([SOCKS, EVIL_HELLO]),
  HELLO,
  Buffer.from('SSH-2.0-client\r\n'),
];

let egress: EgressProcess;
let upstreams: Upstream[];
let evil: Upstream[];
let silent: Upstream;
let doors: number[];
let names: number;
let address: string;

beforeAll(async () => {
  egress = await EgressProcess.start(`${GOOD} good.example\n${EVIL} evil.example\n${SILENT} silent.example\n`);
  const answer = ({ socket }: { socket: { write(text: string): unknown } }): void =>
    void socket.write('SSH-2.0-server\r\n');
  upstreams = await Promise.all(GOOD_PORTS.map((port) => Upstream.listen(GOOD, port, answer)));
  evil = await Promise.all(GOOD_PORTS.map((port) => Upstream.listen(EVIL, port)));
  silent = await Upstream.listen(SILENT, 80);
  doors = [];
  for (const port of [3128, ...GOOD_PORTS]) doors.push(await egress.listen(port, AT));
  names = await egress.listenForNames(AT);
  await egress.setRules(SCOPE, ['good.example', 'good.example:22', 'good.example:8443']);
  address = await firstAddress();
});

afterAll(async () => {
  await egress.stop();
  await Promise.all([...upstreams, ...evil, silent].map((upstream) => upstream.close()));
});

function firstAddress(): Promise<string> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('message', (answer: Buffer) => {
      socket.close();
      resolve(answer.subarray(-4).join('.'));
    });
    socket.send(dnsQuery('good.example', 1, 1), names, '127.0.0.1');
  });
}

/** Bytes in pieces, one connection. */
interface Attack {
  readonly door: number;
  readonly pieces: readonly Buffer[];
  readonly isReset: boolean;
}

const bytes = fc.oneof(
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...SEEDS),
        fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.constantFrom('set', 'insert', 'delete', 'repeat')), {
          maxLength: 6,
        }),
      )
      .map(([seed, changes]) => changes.reduce(changed, seed)),
  },
);

const attack: fc.Arbitrary<Attack> = fc.record({
  door: fc.nat(4),
  isReset: fc.boolean(),
  pieces: fc.tuple(bytes, fc.array(fc.nat(), { maxLength: 4 })).map(([data, cuts]) => pieces(data, cuts)),
});

function changed(data: Buffer, [place, value, how]: [number, number, string]): Buffer {
  const at = data.length === 0 ? 0 : place % data.length;
  const [before, after] = [data.subarray(0, at), data.subarray(at + 1)];
  if (how === 'set') return Buffer.concat([before, Buffer.from([value]), after]);
  if (how === 'insert') return Buffer.concat([before, Buffer.from([value]), data.subarray(at)]);
  if (how === 'delete') return Buffer.concat([before, after]);
  return Buffer.concat([before, data.subarray(at, at + value), data.subarray(at)]);
}

function pieces(data: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set([0, ...cuts.map((cut) => cut % (data.length + 1)), data.length])].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => data.subarray(places[index], end));
}

/** Resolves when the connection is over, at the latest when the attacker has nothing more to say and gives up. */
async function run({ door, pieces: parts, isReset }: Attack): Promise<void> {
  const host = door === 0 ? '127.0.0.1' : address;
  const socket = connect({ port: doors[door] ?? 0, host, noDelay: true });
  socket.on('error', () => {}).resume();
  const over = new Promise((resolve) => socket.once('close', resolve));
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.write('', () => (isReset ? socket.resetAndDestroy() : socket.destroy()));
  await over;
}

describe.runIf(HAS_LOW_PORTS)('hostile bytes', () => {
  it('at every listener reach no host that is not allowed, and never end the process', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(attack, { minLength: 10, maxLength: 10 }), async (attacks) => {
        await Promise.all(attacks.map(run));
      }),
      { numRuns: Math.ceil(propertyRuns() / 5), endOnFailure: true },
    );
    await egress.sync();
    expect(evil.flatMap(({ peers }) => peers)).toEqual([]);
    expect(egress.events.filter(({ ev }) => ev === 'ready')).toHaveLength(1);
    expect(egress.facts.some(({ allowed }) => allowed)).toBe(true);
    for (const { allowed, host } of egress.facts) if (allowed) expect(host).toBe('good.example');
    expect(await firstAddress()).toBe(address);
  });

  it('of requests that nobody answers end their connection: at most sixteen wait', async () => {
    const own = scopeKey({ project: '/silent', tool: null });
    await egress.setRules(own, ['silent.example']);
    const door = await egress.listen(3128, { scope: own, namespace: 'net:[2]' });
    const reached = silent.peers.length;
    const socket = connect({ port: door, host: '127.0.0.1' });
    const over = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {}).resume();
    socket.write('GET http://silent.example/ HTTP/1.1\r\nHost: silent.example\r\n\r\n'.repeat(2_000));
    await over;
    await egress.sync();
    expect(silent.peers.length - reached).toBeLessThanOrEqual(16);
  });

  it('as datagrams never end the process', async () => {
    const socket = createSocket('udp4');
    const query = dnsQuery('good.example', 1, 1);
    await fc.assert(
      fc.asyncProperty(bytes, fc.nat(query.length - 1), fc.nat(255), async (data, at, value) => {
        const mutated = Buffer.from(query);
        mutated[at] = value;
        for (const datagram of [data, mutated]) socket.send(datagram, names, '127.0.0.1');
      }),
    );
    socket.close();
    expect(await firstAddress()).toBe(address);
  });
});
