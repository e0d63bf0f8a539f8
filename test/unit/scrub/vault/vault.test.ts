import { describe, expect, it } from 'vitest';
import { canonicalOf } from '#src/scrub/vault/folded-text.js';
import { escapeLookAlikes, replaceTokens, tokenDigits } from '#src/scrub/vault/look-alike.js';
import { Vault } from '#src/scrub/vault/vault.js';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';

function vaultWithCounter(): Vault {
  let last = 0;
  return new Vault(() => ++last);
}

const PEM = ['-----BEGIN PRIVATE KEY-----', 'MIIabc', '-----END PRIVATE KEY-----'].join('\n');

describe('SEC-1.3 one secret, one token', () => {
  it('covers every spelling of a key', async () => {
    const vault = vaultWithCounter();
    const spellings = [PEM, PEM.replaceAll('\n', '\r\n'), PEM.replaceAll('\n', '\\n'), PEM.replaceAll('\n', '\\\\n')];
    for (const text of spellings) expect((await vault.use(text, 'private-key')).token).toBe('[SECRET_1]');
    expect([vault.size, vault.open('1')]).toEqual([1, PEM]);
  });

  it('only if the spelling is one of a key', () => {
    expect(canonicalOf('a\\nb')).toBe('a\\nb');
    expect(canonicalOf('a\r\nb')).toBe('a\nb');
  });

  it('covers a form of a value that the guard names', async () => {
    const vault = vaultWithCounter();
    await vault.use('dmFsdWUx', 'r', { of: 'value1' });
    expect((await vault.use('value1', 'r')).token).toBe('[SECRET_1]');
    expect(vault.open('1')).toBe('value1');
  });
});

describe('SEC-1.4 a token in a file becomes the original text', () => {
  const seen = async (vault: Vault, spelling: string, shown: string): Promise<void> => {
    const { token } = await vault.use(spelling, 'r', { of: PEM });
    vault.take(token, spelling, shown, shown.indexOf(token));
  };
  const spelledIn = (vault: Vault, text: string): string =>
    replaceTokens(text, (digits, start, end) => vault.spell(digits, text, start, end));

  it('as the text around it decides, whichever was seen last', async () => {
    const vault = vaultWithCounter();
    const escaped = PEM.replaceAll('\n', '\\n');
    await seen(vault, escaped, '{"key":"[SECRET_1]","id":7}');
    await seen(vault, PEM, '[SECRET_1]\n');
    expect(spelledIn(vault, '{"key":"[SECRET_1]","id":8}')).toBe(`{"key":"${escaped}","id":8}`);
    expect(spelledIn(vault, '# mine\n[SECRET_1]\n')).toBe(`# mine\n${PEM}\n`);
  });

  it('issue 16.2 and a token of its own stands for a spelling if nothing decides', async () => {
    const vault = vaultWithCounter();
    await seen(vault, 'one', '<[SECRET_1]>');
    const { token } = await vault.use('two', 'r', { of: PEM });
    expect([token, vault.take(token, 'two', '<[SECRET_1]>', 1)]).toEqual(['[SECRET_1]', false]);
    expect((await vault.useApart('two', 'r', { of: PEM })).token).toBe('[SECRET_2]');
    expect(vault.take('[SECRET_2]', 'two', '<[SECRET_2]>', 1)).toBe(true);
    expect([spelledIn(vault, '<[SECRET_1]>'), spelledIn(vault, '<[SECRET_2]>')]).toEqual(['<one>', '<two>']);
    expect(vault.open('2')).toBe(PEM);
  });

  it('issue 16.2 however many places and spellings there were before', async () => {
    const vault = vaultWithCounter();
    for (let i = 0; i < 100; i++)
      expect(vault.take((await vault.use('one', 'r')).token, 'one', `${i} [SECRET_1]`, String(i).length + 1)).toBe(
        true,
      );
    expect(vault.take((await vault.use('two', 'r', { of: 'one' })).token, 'two', 'a [SECRET_1]', 2)).toBe(false);
    for (let i = 0; i < 100; i++) expect(spelledIn(vault, `${i} [SECRET_1]`)).toBe(`${i} one`);
  });
});

describe('SEC-1.3 the public list of a vault', () => {
  it('shows tokens, rules, kinds and uses, and nothing of a value', async () => {
    const vault = vaultWithCounter();
    for (let i = 0; i < 3; i++) await vault.use('hunter2hunter2', 'env-password', { tool: 'safe_read', time: 100 + i });
    await vault.use('other-value', 'github-token');
    vault.book('1', 60, 5, 500);
    expect(vault.list()).toEqual([
      {
        token: '[SECRET_1]',
        rule: 'env-password',
        kind: 'password',
        tool: 'safe_read',
        firstSeenAt: 100,
        uses: 3,
        opened: 1,
        lastOpenedAt: 500,
      },
      expect.objectContaining({ token: '[SECRET_2]', kind: 'token', tool: null, opened: 0, lastOpenedAt: null }),
    ]);
    expect(JSON.stringify(vault.list())).not.toMatch(/hunter2|other-value|14|11/);
  });

  it('a secret can be opened a limited number of times an hour', async () => {
    const vault = vaultWithCounter();
    await vault.use('value', 'r');
    const hour = 3_600_000;
    expect(vault.book('1', 3, 1_000, 0)).toEqual({ limit: 3, remaining: 2, retry_after_ms: hour });
    expect(vault.book('1', 3, 2_000, 0)).toEqual({ limit: 3, remaining: 1, retry_after_ms: hour - 1_000 });
    expect(vault.waitMs('1', 3, 3_000)).toBe(0);
    expect(vault.waitMs('1', 2, 3_000)).toBe(hour - 2_000);
    expect(vault.waitMs('1', 2, hour + 1_000)).toBe(0);
    expect(vault.waitMs('1', 0, 3_000)).toBe(Number.POSITIVE_INFINITY);
    expect(() => vault.waitMs('2', 2, 0)).toThrow(expect.objectContaining({ code: 'SECRET_UNKNOWN' }));
  });
});

describe('SEC-1.3 a plain word is masked only beside its key', () => {
  it.each(['function', 'hunter2', 'Password', 'aaaaaaaaaaaa'])(
    '%s gets a token but is not looked for',
    async (word) => {
      const vault = vaultWithCounter();
      vault.learn(word, 'quoted-secret');
      expect((await vault.use(word, 'quoted-secret')).token).toBe('[SECRET_1]');
      expect(vault.guard.scan(`a ${word} of the language`)).toEqual([]);
    },
  );
});

describe('issue 16, cause 9: an answer made of thousands of secrets', () => {
  const random = seededRandom(9);
  const secrets = Array.from({ length: 3000 }, () => ({ rule: 'r', value: generate('[A-Za-z0-9]{36}', random) }));
  const [first = '', last = ''] = [secrets[0]?.value, secrets.at(-1)?.value];
  const reversed = (value: string): string => [...value].reverse().join('');
  const found = (vault: Vault, text: string): string[] =>
    vault.guard.scan(text).map(({ start, end }) => text.slice(start, end));

  it('is learned with pauses: the first values in all forms, the others as they are', () => {
    const vault = vaultWithCounter();
    expect([...vault.learnAll(secrets)].length).toBeGreaterThan(16);
    expect(found(vault, `${first} ${reversed(first)}`)).toEqual([first, reversed(first)]);
    expect(found(vault, `${last} ${reversed(last)}`)).toEqual([last]);
    const all = secrets.map(({ value }) => value);
    expect(found(vault, all.join(' '))).toEqual(all);
  });

  it('is known in all forms as soon as a later answer shows it', () => {
    const vault = vaultWithCounter();
    for (const _ of vault.learnAll(secrets));
    for (const _ of vault.learnAll(secrets.slice(-1)));
    expect(found(vault, reversed(last))).toEqual([reversed(last)]);
  });
});

describe('look-alikes', () => {
  it('are not treated as tokens, however many backslashes they have', () => {
    expect(tokenDigits('[SECRET_3] [SECRET\\_4] [SECRET_3] [[SECRET_12]_5] [SECRET]')).toEqual(['3', '12']);
    expect(tokenDigits(escapeLookAlikes('[SECRET_3][SECRET\\\\_4]'))).toEqual([]);
  });
});
