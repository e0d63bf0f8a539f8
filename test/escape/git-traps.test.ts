import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GIT_AUTHOR, Ground, usualIdentity } from '../helpers/sandbox-identities.ts';
import { armed, TRAPS } from './git-traps.ts';
import { proveConfined } from './planted.ts';

describe.each(usualIdentity())('a trap that a command leaves for the person’s git, %s', (identity) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await Ground.open(identity);
    await proveConfined(ground);
  });
  beforeEach(() => ground.newProject());
  afterAll(() => ground.close());

  test.each(TRAPS)(
    'SEC-2.3 runs nothing at the person’s next git command: $name',
    async ({ prepare, runs, where, uses }) => {
      if (prepare !== undefined) ground.host(prepare);
      const marker = join(ground.person, 'ran');
      for (const script of runs(marker)) await ground.run(`${script}; true`, { env: GIT_AUTHOR });
      // A scan that could not finish before the answer continues in the background.
      const isArmed = () => {
        ground.host(
          `if cd ${where} 2>/dev/null; then ${uses ?? 'git status; git checkout -q -b next'}; fi >/dev/null 2>&1 || true`,
        );
        const ran = existsSync(marker);
        ground.host(
          `rm -f '${marker}'; cd ${where} 2>/dev/null && git symbolic-ref HEAD refs/heads/other 2>/dev/null || true`,
        );
        return ran;
      };
      if (uses === undefined) return expect.poll(isArmed, { interval: 100 }).toBe(false);
      // Such a trap runs once.
      await expect.poll(async () => (await ground.run('true')).searchComplete).toBe(true);
      expect(isArmed()).toBe(false);
    },
  );

  test('SEC-2.3 positive control: runs if nothing stops it', () => {
    const marker = join(ground.person, 'ran');
    ground.host(`git init -q sub && ${armed('sub/.git', marker)} && (cd sub && git status >/dev/null)`);
    expect(existsSync(marker)).toBe(true);
  });
});
