import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Guard } from '#src/scrub/vault/guard.js';
import { Vault } from '#src/scrub/vault/vault.js';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';

// The same cases in every run.
fc.configureGlobal({ seed: 20_261_121 });

const random = seededRandom(42);
const secretOf = (chars: number): string => generate(`[A-Za-z0-9+/]{${chars}}`, random);

function places(guard: Guard, text: string): string[] {
  return guard.scan(text).map(({ start, end }) => text.slice(start, end));
}

describe('the guard', () => {
  it('finds every known value wherever it stands, however many there are', () => {
    const guard = new Guard();
    const values = Array.from({ length: 2000 }, (_, i) => `eyJhbGciOiJIUzI1NiJ9.${secretOf(8 + (i % 40))}`);
    for (const value of values) guard.add(value, 'r');
    expect(guard.size).toBe(2000);
    const text = values.map((value) => `a${value}b`).join('');
    const found = guard.scan(text).sort((a, b) => a.start - b.start);
    expect(found.map(({ start, end }) => text.slice(start, end))).toEqual(values);
  });

  it('finds what a plain search finds, at any position', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'C', '1', 'é', '😀'), maxLength: 14 });
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 5 }), fc.array(letters, { maxLength: 5 }), (values, around) => {
        const guard = new Guard();
        for (const value of values) guard.add(value, 'r');
        const taken = [...new Set(values)].filter((value) => places(guard, value).includes(value));
        const text = around.flatMap((part, i) => [part, values[i] ?? '']).join('');
        const expected = taken.flatMap((value) => {
          const found: string[] = [];
          for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) found.push(`${at} ${value}`);
          return found;
        });
        expect(
          guard
            .scan(text)
            .map(({ start, end }) => `${start} ${text.slice(start, end)}`)
            .sort(),
        ).toEqual(expected.sort());
      }),
    );
  });

  it('finds the same in slices as in one go', () => {
    const guard = new Guard();
    const values = [secretOf(12), secretOf(40)];
    for (const value of values) guard.add(value, 'r');
    const text = `x${values[0]}${values[1]}${values[0]}yz`;
    const whole = guard.scan(text);
    expect(whole).toHaveLength(3);
    for (let cut = 0; cut <= text.length; cut++)
      expect([...guard.scan(text, 0, cut), ...guard.scan(text, cut)]).toEqual(whole);
  });

  it.each(['hunter2', 'aaaaaaaaaaaa', 'abababababab', 'warnings', 'Password', 'SETTINGS', '20240131'])(
    'does not take %s: masking it everywhere would hide ordinary text',
    (value) => {
      const guard = new Guard();
      guard.add(value, 'r');
      expect(guard.size).toBe(0);
    },
  );

  it('knows the lines of a private key one by one', () => {
    const lines = [secretOf(64), secretOf(64), secretOf(30)];
    const guard = new Guard();
    guard.add(`-----BEGIN PRIVATE KEY-----\r\n${lines.join('\r\n')}\n-----END PRIVATE KEY-----`, 'private-key');
    expect(places(guard, `sed -n 3p: ${lines[1]}\n-----BEGIN PRIVATE KEY-----`)).toEqual([lines[1]]);
  });

  it('refuses a text that is made to be costly', () => {
    const guard = new Guard();
    for (let i = 0; i < 300; i++) guard.add(`${'abcdefgh'.repeat(1000)}${String(i).padStart(3, 'x')}`, 'r');
    expect(() => guard.scan('abcdefgh'.repeat(100_000))).toThrow(expect.objectContaining({ code: 'SCRUB_FAILED' }));
    expect(guard.scan('an ordinary text about the alphabet, abcdefgh')).toEqual([]);
  });
});

describe('the vault', () => {
  const vaultWith = (next: () => Promise<number> | number): Vault => new Vault(Buffer.alloc(32, 7), next);

  it('SEC-1.4 gives one value one token, however many ask at once', async () => {
    let last = 0;
    const vault = vaultWith(async () => ++last);
    const uses = await Promise.all([vault.use('one', 'r'), vault.use('two', 's'), vault.use('one', 't')]);
    expect(uses).toEqual([
      { token: '[SECRET_1]', rule: 'r' },
      { token: '[SECRET_2]', rule: 's' },
      { token: '[SECRET_1]', rule: 'r' },
    ]);
    expect([vault.open('1'), vault.open('2'), vault.size]).toEqual(['one', 'two', 2]);
  });

  it.each(['3', '01', '1.0', '-1', ''])('SEC-1.4 opens no other number: %j', async (digits) => {
    const vault = vaultWith(() => 1);
    await vault.use('one', 'r');
    expect(() => vault.open(digits)).toThrow(expect.objectContaining({ code: 'SECRET_UNKNOWN' }));
  });

  it('keeps lone surrogates as they are', async () => {
    const vault = vaultWith(() => 1);
    await vault.use('\ud800a', 'r');
    expect(vault.open('1')).toBe('\ud800a');
  });

  it('masks without a number beyond 2000 secrets and beyond 64 Ki characters', async () => {
    let last = 0;
    const vault = vaultWith(() => ++last);
    expect(await vault.use('x'.repeat(65_537), 'r')).toEqual({ token: '[SECRET]', rule: 'r' });
    for (let i = 1; i <= 2000; i++) await vault.use(`secret ${i}`, 'r');
    expect(await vault.use('one more', 'r')).toEqual({ token: '[SECRET]', rule: 'r' });
    expect((await vault.use('secret 7', 'r')).token).toBe('[SECRET_7]');
    expect([vault.size, last]).toEqual([2000, 2000]);
  });

  it('tries again after the numbers failed, and refuses a number given twice', async () => {
    const numbers = [() => Promise.reject(new Error('disk')), () => 5, () => 5];
    const vault = vaultWith(() => numbers.shift()?.() ?? 0);
    await expect(vault.use('one', 'r')).rejects.toThrow('disk');
    expect((await vault.use('one', 'r')).token).toBe('[SECRET_5]');
    await expect(vault.use('two', 'r')).rejects.toThrow('the number 5 cannot be given');
    expect(vault.open('5')).toBe('one');
  });
});
