import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { NO_FILTER } from '#src/features/memory/rows.js';
import { AT_NIGHT } from '../helpers/property-runs.ts';
import { openTestMemories } from '../unit/features/memory/open-memories.ts';
import { makeTempDir } from '../unit/stores/open-stores.ts';

const PROGRAM = join(import.meta.dirname, '../fixtures/memories-store-forever.ts');
/** Each ends one process in the middle of a write. */
const KILLS = AT_NIGHT ? 50 : 10;

interface Acknowledged {
  id: string;
  title: string;
}

/** Runs the program until it has acknowledged `count` memories, then kills it while it stores the next. */
async function storeUntilKilled(dir: string, run: number, count: number): Promise<Acknowledged[]> {
  const child = spawn(process.execPath, [PROGRAM, dir, String(run)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const exited = once(child, 'exit');
  const acknowledged: Acknowledged[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(JSON.parse(line));
    if (acknowledged.length === count) child.kill('SIGKILL');
  }
  await exited;
  return acknowledged;
}

it('issue 18 kill -9 again and again while storing loses no acknowledged memory, nor its words or outbox row', async () => {
  const dir = await makeTempDir();
  const acknowledged: Acknowledged[] = [];
  for (let run = 0; run < KILLS; run++) acknowledged.push(...(await storeUntilKilled(dir, run, 1 + (run % 5))));
  expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS);

  const { memories, database, events } = await openTestMemories(dir);
  expect(events).toEqual([]);
  const outbox = new Set((await database.read('SELECT id FROM outbox')).map(({ id }) => id));
  for (const { id, title } of acknowledged) {
    expect((await memories.read('/p', [id]))[0]?.title).toBe(title);
    const {
      memories: [found],
    } = await memories.search('/p', { query: title, limit: 1, filter: NO_FILTER });
    expect(found?.id).toBe(id);
    expect(outbox.has(id)).toBe(true);
  }
}, 300_000);
