import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Connection } from '#src/sandbox/contract/command.js';
import { CONNECTIONS_LISTED, ConnectionSums } from '#src/sandbox/contract/connection-sums.js';

function connection(host: string, more: Partial<Connection> = {}): Connection {
  const allowed = { allowed: true, rule: '*.example.com', why: '', isAllowable: false };
  return { host, port: 443, via: 'connect', ...allowed, count: 1, up: 1, down: 10, ...more };
}

const REFUSED = { allowed: false, rule: null, why: 'no', isAllowable: true, up: 0, down: 0 } as const;

test('what was allowed is listed, however much was refused before it (issue 15, audit)', () => {
  const sums = new ConnectionSums();
  for (let n = 0; n < 5_000; n += 1) sums.add(connection(`junk${n}.example`, REFUSED));
  sums.add(connection('a.example.com'));
  const listed = sums.read();
  expect(listed[0]).toMatchObject({ host: 'a.example.com', allowed: true });
  expect(listed).toHaveLength(CONNECTIONS_LISTED + 1);
  expect(listed.at(-1)).toMatchObject({ host: '*', allowed: false, count: 5_000 - CONNECTIONS_LISTED + 1 });
});

test('equal connections are one entry with their number, the bytes of all and the reason of the first', () => {
  const sums = new ConnectionSums();
  sums.add(connection('a.example.com')).down += 5;
  sums.add(connection('a.example.com', { via: 'socks' }));
  sums.add(connection('a.example.com', { port: 8443 }));
  for (const why of ['first', 'second']) sums.add(connection('a.example.com', { ...REFUSED, why }));
  expect(sums.read()).toEqual([
    connection('a.example.com', { via: 'several', count: 2, up: 2, down: 25 }),
    connection('a.example.com', { port: 8443 }),
    connection('a.example.com', { ...REFUSED, why: 'first', count: 2 }),
  ]);
});

test('no connection and no byte is missing, in whatever order they come and through however many lists they go', () => {
  const some = fc.record({
    host: fc.nat(400).map((n) => `h${n}.example.com`),
    isAllowed: fc.boolean(),
    up: fc.nat(9),
  });
  const total = (list: readonly Connection[], allowed: boolean) =>
    list
      .filter((one) => one.allowed === allowed)
      .reduce((sum, one) => ({ count: sum.count + one.count, up: sum.up + one.up }), { count: 0, up: 0 });
  fc.assert(
    fc.property(fc.array(fc.array(some, { maxLength: 400 }), { maxLength: 4 }), (commands) => {
      const call = new ConnectionSums();
      const all = commands.map((command) =>
        command.map(({ host, isAllowed, up }) => connection(host, { ...(isAllowed ? {} : REFUSED), up })),
      );
      for (const command of all) {
        const sums = new ConnectionSums();
        for (const one of command) sums.add(one);
        for (const one of sums.read()) call.add(one);
      }
      const listed = call.read();
      for (const allowed of [true, false]) expect(total(listed, allowed)).toEqual(total(all.flat(), allowed));
      expect(listed.length).toBeLessThanOrEqual(CONNECTIONS_LISTED + 2);
      const firstRefused = listed.findIndex((one) => !one.allowed);
      const reached = new Set(all.flat().flatMap(({ allowed, host }) => (allowed ? [host] : [])));
      const named = listed.filter(({ allowed, host }) => allowed && host !== '*').length;
      expect(named).toBe(Math.min(reached.size, CONNECTIONS_LISTED));
      if (firstRefused !== -1) expect(firstRefused).toBeGreaterThanOrEqual(named);
    }),
  );
});
