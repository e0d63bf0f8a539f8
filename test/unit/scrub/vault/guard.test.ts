import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Guard, type GuardHit, searchAtOnce } from '#src/scrub/vault/guard.js';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';

const random = seededRandom(42);
const secretOf = (chars: number): string => generate(`[A-Za-z0-9+/]{${chars}}`, random);

function guardOf(...values: string[]): Guard {
  const guard = new Guard();
  for (const value of values) guard.add(value, 'r');
  return guard;
}

function places(guard: Guard, text: string): string[] {
  return guard.scan(text).map(({ start, end }) => text.slice(start, end));
}

function wholeValues(hits: readonly GuardHit[]): GuardHit[] {
  return hits.filter(({ shows }) => shows === 'value');
}

describe('SEC-1.3 the guard', () => {
  it('finds every known value anywhere, however many there are', () => {
    const values = Array.from({ length: 500 }, (_, i) => `eyJhbGciOiJIUzI1NiJ9.${secretOf(8 + (i % 40))}`);
    const guard = guardOf(...values);
    expect(guard.size).toBe(500);
    const text = values.map((value) => `a${value}b`).join('');
    expect(wholeValues(guard.scan(text)).map(({ start, end }) => text.slice(start, end))).toEqual(values);
  });

  it('issue 38 takes 64,000 values, the later ones as they are, and counts those for which it has no room', () => {
    const guard = new Guard();
    const values = Array.from({ length: 64_002 }, (_, at) => `K${(at * 7_368_787).toString(36)}x9Qz${at}vT4wR8`);
    for (const value of values) guard.add(value, 'r', 'as it is');
    expect([guard.size, guard.refused]).toEqual([64_000, 2]);
    const kept = [0, 7999, 8000, 31_999, 63_999].map((at) => values[at] ?? '');
    expect(places(guard, `<${kept.join('> <')}>`)).toEqual(kept);
    // A value that is known needs no room.
    expect([guard.add(values[63_999] ?? '', 'r', 'as it is'), guard.refused]).toEqual([0, 2]);
    expect([guard.add(values[64_000] ?? '', 'r', 'as it is'), guard.refused]).toEqual([0, 3]);
  });

  it('finds what a plain search finds, at any position', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'C', '1', 'é', '😀'), maxLength: 14 });
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 5 }), fc.array(letters, { maxLength: 5 }), (values, around) => {
        const guard = guardOf(...values);
        const taken = [...new Set(values)].filter((value) => places(guard, value).includes(value));
        const text = around.flatMap((part, i) => [part, values[i] ?? '']).join('');
        const expected = taken.flatMap((value) => {
          const found: string[] = [];
          for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) found.push(`${at} ${value}`);
          return found;
        });
        const found = wholeValues(guard.scan(text)).map(({ start, end }) => `${start} ${text.slice(start, end)}`);
        expect(found.sort()).toEqual(expected.sort());
      }),
    );
  });

  it('reports the value of a hit and what the hit shows of it', () => {
    const [a, b] = [secretOf(40), `${secretOf(20)}"${secretOf(20)}`];
    const text = `${a} ${JSON.stringify(b)} ${a.slice(0, 20)} ${Buffer.from(b).toString('hex')}`;
    expect(
      guardOf(a, b)
        .scan(text)
        .map(({ of, shows }) => [of, shows]),
    ).toEqual([
      [a, 'value'],
      [b, 'escape'],
      [a, 'trace'],
      [b, 'trace'],
    ]);
  });

  it('pauses in a long text and finds the same, also across the pauses', () => {
    const values = [secretOf(40), secretOf(60)];
    const guard = guardOf(...values);
    const filler = generate('[a-z]{5} [a-z]{3} ', random);
    const half = filler.repeat(60_000);
    for (let shift = 0; shift < 60; shift += 7) {
      const text = `${half.slice(0, 512 * 1024 - shift)}${values[0]}-${Buffer.from(values[1] ?? '').toString('hex')}${half}`;
      const search = Guard.search([guard], text);
      let pauses = 0;
      let step = search.next();
      for (; step.done !== true; step = search.next()) pauses++;
      expect(pauses).toBe(Math.ceil(text.length / (512 * 1024)) - 1);
      expect(step.value.map(({ start, end }) => text.slice(start, end))).toEqual([
        values[0],
        Buffer.from(values[1] ?? '').toString('hex'),
      ]);
    }
  });

  it('searches for the values of several guards at once', () => {
    const [one, two] = [secretOf(30), secretOf(30)];
    const hits = searchAtOnce([guardOf(one), guardOf(), guardOf(two)], `${two} ${one}`);
    expect(hits.map(({ of }) => of)).toEqual([two, one]);
  });

  it.each(['hunter2', 'aaaaaaaaaaaa', 'abababababab', 'warnings', 'Password', 'SETTINGS', '20240131'])(
    'does not accept %s: masking it everywhere would hide ordinary text',
    (value) => {
      expect(guardOf(value).size).toBe(0);
    },
  );

  it('knows the lines of a private key one by one, and does not take its marks for secrets', () => {
    const lines = [secretOf(64), secretOf(64), secretOf(30)];
    const guard = guardOf(`-----BEGIN PRIVATE KEY-----\r\n${lines.join('\r\n')}\n-----END PRIVATE KEY-----`);
    expect(places(guard, `sed -n 3p: ${lines[1]}\n-----BEGIN PRIVATE KEY-----`)).toEqual([lines[1]]);
  });

  it('knows the lines of a key that is too long to be searched for', () => {
    const lines = Array.from({ length: 140 }, () => secretOf(64));
    const guard = guardOf(`-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----`);
    expect(guard.size).toBe(140);
    expect(guard.scan(`x ${lines[70]} x`)).toMatchObject([{ start: 2, end: 66, shows: 'trace' }]);
  });

  it('refuses a text that is crafted to be costly', () => {
    const guard = new Guard();
    for (let i = 0; i < 300; i++) guard.add(`${'abcdefgh'.repeat(1000)}${String(i).padStart(3, 'x')}`, 'r');
    expect(() => guard.scan('abcdefgh'.repeat(100_000))).toThrow(expect.objectContaining({ code: 'SCRUB_FAILED' }));
    expect(guard.scan('an ordinary text about the alphabet, abcdefgh')).toEqual([]);
  });
});
