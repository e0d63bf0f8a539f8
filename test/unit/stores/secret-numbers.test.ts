import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { SecretNumbers } from '#src/stores/secret-numbers.js';
import { DAY_MS, makeTempDir, openTestDatabase, openTestKeys, SESSION_A, SESSION_B, TestClock } from './open-stores.ts';

async function open() {
  const dir = await makeTempDir();
  const database = await openTestDatabase(dir);
  const [keys, clock] = [await openTestKeys(database), new TestClock()];
  const make = () => new SecretNumbers({ database, keys, clock, logger: silentLogger, maxAgeDays: 30 });
  const rows = async () => (await database.read('SELECT hash, number FROM secret_numbers')).length;
  return { dir, database, clock, make, rows };
}

const VALUE = `value-${'x'.repeat(40)}`;

it('SEC-1.4 a value has its number again in its session only, also for a daemon that started later', async () => {
  const { make } = await open();
  const first = make();
  expect(await first.recall(SESSION_A, VALUE)).toBeNull();
  await first.keep(SESSION_A, VALUE, 7);
  expect(await first.recall(SESSION_A, VALUE)).toBe(7);
  const later = make();
  expect(await later.recall(SESSION_A, VALUE)).toBe(7);
  expect(await later.recall(SESSION_B, VALUE)).toBeNull();
  expect(await later.recall(SESSION_A, `${VALUE}x`)).toBeNull();
});

it('keeps neither the value nor a hash that another program can make of it', async () => {
  const { dir, database, make } = await open();
  await make().keep(SESSION_A, VALUE, 1);
  await make().keep(SESSION_B, VALUE, 2);
  const hashes = (await database.read('SELECT hash FROM secret_numbers')).map(({ hash }) => String(hash));
  expect(new Set(hashes).size).toBe(2);
  const files = await Promise.all(['contextd.db', 'contextd.db-wal'].map((name) => readFile(join(dir, name))));
  for (const bytes of files)
    for (const plain of [Buffer.from(VALUE), createHash('sha256').update(VALUE).digest()])
      expect(bytes.includes(plain)).toBe(false);
});

it('forgets numbers after the time that sessions are kept, and those of a project with the project', async () => {
  const { clock, make, rows } = await open();
  await make().keep(SESSION_A, VALUE, 1);
  clock.nowMs += 29 * DAY_MS;
  expect(await make().recall(SESSION_A, VALUE)).toBe(1);
  clock.nowMs += 2 * DAY_MS;
  const numbers = make();
  expect(await numbers.recall(SESSION_A, VALUE)).toBeNull();
  expect(await rows()).toBe(0);
  await numbers.keep(SESSION_A, VALUE, 3);
  await numbers.forget('/elsewhere');
  expect(await numbers.recall(SESSION_A, VALUE)).toBe(3);
  await numbers.forget(SESSION_A.project);
  expect([await numbers.recall(SESSION_A, VALUE), await rows()]).toEqual([null, 0]);
});
