import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { SessionVaults } from '#src/scrub/vault/session-vaults.js';
import { generateSample, seededRandom } from '../../../helpers/secret-samples.ts';
import { sessionNamed } from '../../../helpers/sessions.ts';

const { secret } = generateSample('x «ghp_[A-Za-z0-9]{36}» y', seededRandom(7));

describe('the vaults of many sessions', () => {
  it('SEC-1.4: keep what sessions know, and drop only empty vaults', async () => {
    const vaults = new SessionVaults({ next: () => 1, last: () => 0 }, { now: () => 0, monotonic: () => 0 });
    vaults.of(sessionNamed('knows')).learn(secret, 'github-token');
    const { token } = await vaults.of(sessionNamed('named')).use(secret, 'github-token');
    for (let i = 0; i < 5000; i++) vaults.of(sessionNamed(`session-${i}`));
    expect(vaults.size).toBeLessThanOrEqual(1024 + 2);
    expect(vaults.find(sessionNamed('knows'))?.guard.size).toBe(1);
    expect(vaults.open(sessionNamed('named'), token, 'plain')).toBe(secret);
  });

  it('SEC-1.4 NFR-2.3: are the same in the next daemon: tokens, spellings, what is searched for, and how often it was opened', async () => {
    let next = 0;
    const numbers = { next: () => ++next, last: () => next };
    const before = new SessionVaults(numbers, { now: () => 0, monotonic: () => 5_000 });
    const [session, other] = [sessionNamed('one'), sessionNamed('other')];
    const vault = before.of(session);
    vault.learn(secret, 'github-token');
    const { token } = await vault.use(secret, 'github-token');
    vault.take(token, secret, `x ${token} y`, 2);
    before.book(session, [token], 2);
    before.book(session, [token], 2);
    before.of(other);
    // Another process has another monotonic clock.
    const after = new SessionVaults(numbers, { now: () => 0, monotonic: () => 7 });
    after.restore(deserialize(serialize(await before.state())));
    expect(after.size).toBe(1);
    expect(after.open(session, token, 'plain')).toBe(secret);
    expect(after.open(session, `x ${token} y`, 'seen')).toBe(`x ${secret} y`);
    expect(after.find(session)?.guard.scan(`a ${secret} b`)).toHaveLength(1);
    expect(await after.of(session).use(secret, 'github-token')).toMatchObject({ token });
    expect(after.find(session)?.list()).toMatchObject([{ token, opened: 2, uses: 2 }]);
    expect(() => after.book(session, [token], 2)).toThrow('was used 2 times within the hour');
    expect(next).toBe(1);
  });
});
