import { expect, test } from 'vitest';
import type { ConnectionFact } from '#src/egress/messages.js';
import { Attribution, Lanes } from '#src/sandbox/egress/attribution.js';

const FACT: ConnectionFact = {
  id: 1,
  scope: '["/p",null]',
  namespace: 'net:[1]',
  lane: '127.32.0.1',
  atMs: 1_000,
  host: 'a.example.com',
  port: 443,
  via: 'connect',
  allowed: true,
  rule: 'a.example.com',
  why: '',
  isAllowable: false,
};
/** What a record says of it. */
const { id: _, scope: __, namespace: ___, lane: ____, atMs: _____, ...SUMMED } = FACT;
const REFUSED = { allowed: false, rule: null, why: 'no rule of this project allows it', isAllowable: true } as const;

const fact = (change: Partial<ConnectionFact>): ConnectionFact => ({ ...FACT, ...change });
const user = (run: number, lane = `127.32.0.${run}`, namespace = 'net:[1]') => ({ run, lane, namespace });

test('a connection belongs to the command whose address it used', () => {
  const attribution = new Attribution();
  const [first, second] = [attribution.begin(user(1)), attribution.begin(user(2))];
  expect(attribution.connection(fact({ lane: '127.32.0.2' }))).toBe(2);
  expect([first().connections, second().connections.map(({ host }) => host)]).toEqual([[], ['a.example.com']]);
});

test('a connection without an address belongs to the only command of its namespace, and to nobody if there are two', () => {
  const attribution = new Attribution();
  attribution.begin(user(1));
  const endOther = attribution.begin(user(9, '127.32.0.1', 'net:[2]'));
  expect(attribution.connection(fact({ lane: null }))).toBe(1);
  expect(attribution.connection(fact({ lane: '127.0.0.1' }))).toBe(1);
  const endSecond = attribution.begin(user(2));
  expect(attribution.connection(fact({ lane: null }))).toBeNull();
  endSecond();
  expect(attribution.connection(fact({ lane: null }))).toBe(1);
  expect(endOther().connections).toEqual([]);
});

test('a connection by an address that no running command has belongs to the only one, so a program cannot hide it', () => {
  const attribution = new Attribution();
  attribution.begin(user(1))();
  const end = attribution.begin(user(2));
  for (const lane of ['127.32.0.1', '127.32.250.7', '127.33.0.1', null])
    expect(attribution.connection(fact({ lane }))).toBe(2);
  const endThird = attribution.begin(user(3));
  expect(attribution.connection(fact({ lane: '127.32.250.7' }))).toBeNull();
  expect([end().connections, endThird().connections]).toMatchObject([[{ host: 'a.example.com', count: 4 }], []]);
});

test('a refusal of which nothing says whose it is stands in the answers of all that ran beside it, and says so', () => {
  const attribution = new Attribution();
  const [job, call] = [attribution.begin(user(1)), attribution.begin(user(2))];
  const elsewhere = attribution.begin(user(3, '127.32.0.3', 'net:[2]'));
  for (const [lane, host] of [
    [null, 'look.example.com'],
    ['127.32.250.7', 'other.example.com'],
  ] as const)
    expect(attribution.connection(fact({ ...REFUSED, lane, host, port: 0, via: 'dns' }))).toBeNull();
  attribution.connection(fact({ lane: null, id: 2 }));
  attribution.connection(fact({ ...REFUSED, id: 3, lane: '127.32.0.2', host: 'own.example.com' }));
  const ofCall = call();
  const denied = ofCall.denied.map(({ host, rule }) => [host, rule.includes('or one that ran beside it')]);
  expect(denied).toEqual([
    ['own.example.com', false],
    ['look.example.com', true],
    ['other.example.com', true],
  ]);
  expect(ofCall.denied[1]?.how_to_allow).toContain('ctxd network allow look.example.com');
  expect(ofCall.connections.map(({ host }) => host)).toEqual(['own.example.com']);
  expect(job().denied.map(({ host }) => host)).toEqual(['look.example.com', 'other.example.com']);
  expect(elsewhere().denied).toEqual([]);
});

test('connections that differ in nothing but their bytes count as one, with the bytes of all', () => {
  const attribution = new Attribution();
  const end = attribution.begin(user(1));
  for (const id of [1, 2, 3]) attribution.connection(fact({ id }));
  attribution.traffic({ id: 1, up: 5, down: 50 });
  attribution.closed({ id: 1, up: 10, down: 100 }, '');
  attribution.traffic({ id: 2, up: 1, down: 2 });
  attribution.traffic({ id: 2, up: 1, down: 3 });
  expect(end()).toEqual({ connections: [{ ...SUMMED, count: 3, up: 11, down: 103 }], denied: [] });
});

test('a connection that is refused after all is a denial, which nobody can allow', () => {
  const attribution = new Attribution();
  const end = attribution.begin(user(1));
  attribution.connection(FACT);
  expect(attribution.closed({ id: 1, up: 0, down: 0 }, 'its TLS name differs')).toBe(1);
  const { denied, connections } = end();
  expect(connections.map(({ allowed, why }) => [allowed, why])).toEqual([
    [true, ''],
    [false, 'its TLS name differs'],
  ]);
  expect(denied).toEqual([expect.objectContaining({ kind: 'network', host: 'a.example.com', port: 443 })]);
  expect(denied[0]?.how_to_allow).not.toContain('ctxd network');
});

test('a host that was looked up and then asked for is one denial; at most ten are reported', () => {
  const attribution = new Attribution();
  const end = attribution.begin(user(1));
  attribution.connection(fact({ ...REFUSED, lane: null, port: 0, via: 'dns' }));
  attribution.connection(fact({ ...REFUSED, id: 2 }));
  for (let i = 0; i < 300; i++) attribution.connection(fact({ ...REFUSED, id: 3 + i, host: `h${i}.example.com` }));
  const { denied, connections } = end();
  expect(denied).toHaveLength(10);
  expect(denied.filter(({ host }) => host === 'a.example.com').map(({ port }) => port)).toEqual([443]);
  expect(connections).toHaveLength(101);
});

test('if the proxy process ends, a command with an open connection has the reason first, and old numbers mean nothing', () => {
  const attribution = new Attribution();
  const [end, withoutConnection] = [attribution.begin(user(1)), attribution.begin(user(2))];
  attribution.connection(FACT);
  attribution.cut({ kind: 'network', rule: 'it ended', how_to_allow: 'again' });
  expect(attribution.closed({ id: 1, up: 7, down: 7 }, '')).toBeNull();
  attribution.connection(fact({ ...REFUSED, id: 2, host: 'b.example.com' }));
  const { denied, connections } = end();
  expect(denied.map(({ rule, host }) => host ?? rule)).toEqual(['it ended', 'b.example.com']);
  expect(connections[0]).toEqual({ ...SUMMED, count: 1, up: 0, down: 0 });
  expect(withoutConnection().denied).toEqual([]);
});

test('if there is no proxy process, every running command has the reason', () => {
  const attribution = new Attribution();
  const ends = [attribution.begin(user(1)), attribution.begin(user(2))];
  attribution.unavailable({ kind: 'network', rule: 'none runs', how_to_allow: 'look' });
  expect(ends.map((end) => end().denied.map(({ rule }) => rule))).toEqual([['none runs'], ['none runs']]);
});

test('an address is given to one sandbox at a time, and again as late as possible', () => {
  const lanes = new Lanes();
  const first = lanes.take();
  expect(first?.address).toBe('127.32.0.1');
  first?.release();
  const others = Array.from({ length: 65_533 }, () => lanes.take()?.address);
  expect([others[0], others[254], others.at(-1)]).toEqual(['127.32.0.2', '127.32.1.0', '127.32.255.254']);
  expect([lanes.take()?.address, lanes.take()]).toEqual(['127.32.0.1', null]);
});
