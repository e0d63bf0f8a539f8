import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import type { MemoryOutcome } from '#src/features/memory/item.js';
import { liftOf } from '#src/features/memory/lift.js';
import { rateMemory, searchMemories, storeMemory } from '#src/features/memory/memory-services.js';
import { Retrievals } from '#src/features/memory/retrievals.js';
import type { ServiceCall } from '#src/runner/host-methods.js';
import { seededRandom } from '../../../helpers/secret-samples.ts';
import { draftOf, openTestMemories, PROJECT } from './open-memories.ts';

const CALL = { requestId: 'req_1', tool: 'memory_search', isCore: true } as ServiceCall;

/** Memories with known ids, because the ids decide what is held out. */
async function openHoldout(share: number, titles: readonly string[]) {
  const at = await openTestMemories();
  const nowMs = at.clock.now();
  const made = { project: PROJECT, origin: 'model' as const, owner: '', source: '', provenance: [], contradicts: [] };
  const items = titles.map((title, i) => ({ ...draftOf(title), ...made, id: `mem_000000000${i}`, nowMs }));
  await at.store.insert(items);
  const retrievals = new Retrievals({ database: at.database, share, clock: at.clock, logger: silentLogger });
  const deps = { ...at, retrievals, countTokens: (text: string) => text.length / 4 };
  const sessionOf = (session: string) => ({ project: PROJECT, session, branch: null });
  return {
    ...at,
    retrievals,
    async find(session: string, query: string, isCore = true): Promise<string[]> {
      const { answer } = await searchMemories(sessionOf(session), { query, limit: 10 }, { isCore }, deps);
      return (answer.memories as JsonObject[]).map(({ id }) => String(id));
    },
    rate: (session: string, id: string, outcome: MemoryOutcome) =>
      rateMemory(sessionOf(session), { id, outcome }, CALL, deps),
    learn: (session: string, title: string, outcome: MemoryOutcome, isCore = true) =>
      storeMemory(sessionOf(session), { title, content: title, outcome }, { ...CALL, isCore }, deps),
  };
}

/** Sessions that find a memory once and end as the chances say, with and without it. */
async function simulate(sessions: number, share: number, chances: { shown: number; heldOut: number }) {
  const at = await openHoldout(share, ['Migrate the database first']);
  const random = seededRandom(19);
  for (let i = 0; i < sessions; i++) {
    const isSeen = (await at.retrievals.divide(`session ${i}`, ['mem_0000000000'])).size === 0;
    const isGood = random() < (isSeen ? chances.shown : chances.heldOut);
    await at.retrievals.settle(`session ${i}`, isGood ? 'success' : 'failure');
  }
  return { at, report: (await at.retrievals.report(PROJECT, ['mem_0000000000']))[0] };
}

describe('a memory that is held out', () => {
  it('issue 18 is missing in every search of a session that must not see it, and in about its share of sessions', async () => {
    const at = await openHoldout(0.3, ['Migrate first', 'Migrate last']);
    let held = 0;
    for (let i = 0; i < 200; i++) {
      const first = await at.find(`s${i}`, 'migrate');
      expect(await at.find(`s${i}`, 'how to migrate it')).toEqual(first);
      held += 2 - first.length;
    }
    expect(held / 400).toBeGreaterThan(0.23);
    expect(held / 400).toBeLessThan(0.37);
    const report = await at.retrievals.report(PROJECT, []);
    expect(report.map(({ heldOut }) => heldOut.open).reduce((a, b) => a + b)).toBe(held);
    expect(report.map(({ shown, heldOut }) => shown.open + heldOut.open)).toEqual([200, 200]);
  });

  it('issue 18 is shown and not recorded without a share, and to a tool of another author', async () => {
    const none = await openHoldout(0, ['Migrate first']);
    const half = await openHoldout(0.5, ['Migrate first']);
    for (let i = 0; i < 20; i++) {
      expect(await none.find(`s${i}`, 'migrate')).toHaveLength(1);
      expect(await half.find(`s${i}`, 'migrate', false)).toHaveLength(1);
    }
    expect(await none.retrievals.report(PROJECT, [])).toEqual([]);
    expect(await half.retrievals.report(PROJECT, [])).toEqual([]);
  });

  it('issue 18 counts with the first outcome that its session reports afterwards, seen or not', async () => {
    const at = await openHoldout(0.5, ['Migrate first', 'Restart vite', 'Rotate the key']);
    await at.learn('a', 'Before any search', 'failure');
    const seen = [...(await at.find('a', 'migrate')), ...(await at.find('a', 'vite')), ...(await at.find('a', 'key'))];
    await at.learn('a', 'Of a tool', 'failure', false);
    await at.rate('b', 'mem_0000000000', 'failure');
    const open = await at.retrievals.report(PROJECT, []);
    expect(open.map(({ shown, heldOut }) => shown.open + heldOut.open)).toEqual([1, 1, 1]);
    await at.rate('a', 'mem_0000000000', 'mixed');
    await at.rate('a', 'mem_0000000000', 'failure');
    const settled = await at.retrievals.report(PROJECT, []);
    expect(settled).toHaveLength(3);
    for (const { id, shown, heldOut } of settled) {
      const [own, other] = seen.includes(id) ? [shown, heldOut] : [heldOut, shown];
      expect(own).toEqual({ count: 1, good: 0.5, open: 0 });
      expect(other).toEqual({ count: 0, good: 0, open: 0 });
    }
    expect(seen.length).toBeLessThan(3);
    expect(seen.length).toBeGreaterThan(0);
  });

  it('issue 18 costs no search its answer if it cannot be recorded', async () => {
    const at = await openHoldout(0.5, ['Migrate first']);
    const before = await at.find('a', 'migrate');
    await at.database.write([{ sql: 'DROP TABLE retrievals', params: [] }]);
    expect(await at.find('a', 'migrate')).toEqual(before);
  });

  it('issue 18 keeps 200,000 retrievals, and none of a forgotten memory', async () => {
    const at = await openHoldout(0.5, ['Migrate first', 'Migrate last']);
    await at.find('old', 'first');
    await at.database.write([
      {
        sql: `INSERT INTO retrievals (seq, item, session, is_held_out, at_ms) VALUES (200000, 'mem_0000000001', 'x', 0, 0)`,
        params: [],
      },
    ]);
    await at.find('new', 'last');
    const rows = await at.database.read('SELECT seq, item FROM retrievals ORDER BY seq');
    expect(rows).toEqual([
      { seq: 200_000, item: 'mem_0000000001' },
      { seq: 200_001, item: 'mem_0000000001' },
    ]);
    await at.memories.forget(PROJECT, ['mem_0000000001']);
    expect(await at.database.read('SELECT seq FROM retrievals')).toEqual([]);
  });
});

describe('the report on memories', () => {
  it('issue 18 finds a known lift within its interval', async () => {
    const { report } = await simulate(300, 0.4, { shown: 0.8, heldOut: 0.5 });
    expect(report?.verdict).toBe('helps');
    expect(report?.low).toBeLessThan(0.3);
    expect(report?.high).toBeGreaterThan(0.3);
    const harm = await simulate(300, 0.4, { shown: 0.3, heldOut: 0.7 });
    expect(harm.report?.verdict).toBe('harms');
    expect(harm.report?.high).toBeGreaterThan(-0.4);
  });

  it('issue 18 says that there is no difference, or that there is too little data', async () => {
    const same = await simulate(300, 0.5, { shown: 0.6, heldOut: 0.6 });
    expect(same.report?.verdict).toBe('no difference');
    const few = await simulate(12, 0.1, { shown: 1, heldOut: 0 });
    expect(few.report?.verdict).toBe('too little data');
    const vague = await simulate(30, 0.5, { shown: 0.6, heldOut: 0.6 });
    expect(vague.report?.verdict).toBe('too little data');
  });
});

describe('the interval of a lift', () => {
  // Newcombe 1998, table II, method 10: the limits as printed there.
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])('issue 18 of %i/%i and %i/%i is the published one', (good, count, otherGood, otherCount, low, high) => {
    const lift = liftOf({ good, count }, { good: otherGood, count: otherCount });
    expect(lift.low).toBeCloseTo(low, 4);
    expect(lift.high).toBeCloseTo(high, 4);
  });

  it('issue 18 holds the true lift in about 95 of 100 experiments', () => {
    const random = seededRandom(7);
    const draw = (count: number, chance: number) => {
      let good = 0;
      for (let i = 0; i < count; i++) if (random() < chance) good += 1;
      return { good, count };
    };
    const runs = 4_000;
    let held = 0;
    for (let i = 0; i < runs; i++) {
      const [one, other] = [0.1 + 0.8 * random(), 0.1 + 0.8 * random()];
      const { low, high } = liftOf(draw(80, one), draw(15, other));
      if (low <= one - other && one - other <= high) held += 1;
    }
    expect(held / runs).toBeGreaterThan(0.935);
    expect(held / runs).toBeLessThan(0.975);
  });

  it('issue 18 says nothing without a session of one kind', () => {
    expect(liftOf({ good: 40, count: 40 }, { good: 0, count: 0 })).toMatchObject({ verdict: 'too little data' });
    expect(liftOf({ good: 0, count: 0 }, { good: 0, count: 0 })).toMatchObject({ low: -1, high: 1, lift: 0 });
  });
});
