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
});
