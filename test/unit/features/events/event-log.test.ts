import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SESSION_EFFECT_NAMES, SESSION_EFFECTS } from '#src/call/effects.js';
import { FOR_SERVERS } from '#src/catalog/tool-list.js';
import type { CallEventFacts, NewEvent } from '#src/features/events/event.js';
import { EVENT_MIGRATIONS } from '#src/features/events/migrations.js';
import { CORE_EFFECTS, effectsOf } from '../../../helpers/core-effects.ts';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { createTestDatabase } from '../../../helpers/test-database.ts';
import { makeTempDir, SESSION_A, SESSION_B } from '../../stores/open-stores.ts';
import { factsOf } from './made-events.ts';
import { messageOf, openTestEvents } from './open-events.ts';

const DAY_MS = 86_400_000;

describe('issue 19.1 the event log', () => {
  it('keeps every event in its order, with positions without gaps, over restarts', async () => {
    const branches = fc.constantFrom(null, 'br_1', 'br_2');
    const appended = fc.tuple(fc.constantFrom(SESSION_A, SESSION_B), branches, fc.string({ unit: 'binary' }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(appended, { maxLength: 300 }), { minLength: 1, maxLength: 3 }),
        async (runs) => {
          const dir = await makeTempDir();
          for (const run of runs) {
            const { eventLog } = await openTestEvents(dir);
            for (const [session, branch, text] of run) eventLog.append(messageOf({ ...session, branch }, text));
            await eventLog.stop();
          }
          const { eventLog } = await openTestEvents(dir);
          for (const session of [SESSION_A, SESSION_B]) {
            const own = runs.flat().filter(([one]) => one === session);
            const read = await eventLog.read(session, { allBranches: true });
            expect(read.map(({ text }) => text)).toEqual(own.map(([, , text]) => text.toWellFormed()));
            expect(read.map(({ seq }) => seq)).toEqual(own.map((_, index) => index + 1));
            expect(await eventLog.position(session)).toBe(own.length);
            const base = await eventLog.read(session, {});
            expect(base).toEqual(read.filter((event) => event.session.branch === null));
            expect(await eventLog.read({ ...session, branch: 'br_1' }, { newest: 2 })).toEqual(
              read.filter((event) => event.session.branch === 'br_1').slice(-2),
            );
          }
          await eventLog.stop();
        },
      ),
      { numRuns: propertyRuns('door') },
    );
  });

  it('gives an event that shows an earlier output the event of that output as its parent', async () => {
    const { eventLog } = await openTestEvents();
    eventLog.append(messageOf(SESSION_A, 'other'));
    eventLog.append(messageOf(SESSION_A, 'made', { artifact: 'art_1' }));
    eventLog.append({ ...messageOf(SESSION_A, 'shows'), parentArtifact: 'art_1' });
    eventLog.append({ ...messageOf(SESSION_B, 'of another session'), parentArtifact: 'art_1' });
    const parents = async (session: typeof SESSION_A) => (await eventLog.read(session, {})).map(({ parent }) => parent);
    expect(await parents(SESSION_A)).toEqual([null, null, 2]);
    expect(await parents(SESSION_B)).toEqual([null]);
  });

  it('issue 19.7 finds the session before by the first work of each session, however many events it has', async () => {
    const { eventLog, database } = await openTestEvents();
    const names = ['one', 'two', 'three'];
    const sessions = names.map((session) => ({ ...SESSION_A, session }));
    for (const [at, session] of sessions.entries()) {
      eventLog.append(messageOf(session, 'work', { at }));
      eventLog.append(messageOf(session, 'more', { at }));
    }
    expect(await eventLog.before({ ...SESSION_A, session: 'three' })).toMatchObject({ session: 'two' });
    // To read the second event of a session fails.
    await database.write([{ sql: 'PRAGMA ignore_check_constraints = ON', params: [] }]);
    await database.write([{ sql: "UPDATE events SET kind = 'call', facts = '{' WHERE seq = 2", params: [] }]);
    for (const last of names) {
      const order = [...names.filter((name) => name !== last), last];
      for (const [at, name] of order.entries())
        await database.write([{ sql: 'UPDATE logs SET used_ms = ? WHERE session = ?', params: [100 + at, name] }]);
      expect(await eventLog.before({ ...SESSION_A, session: 'new' })).toMatchObject({ session: last });
    }
    expect(await eventLog.hasWork(SESSION_A.project)).toBe(true);
  });

  it('counts as work what a call was, not which tool made it', async () => {
    const { eventLog } = await openTestEvents();
    const callIn = (session: typeof SESSION_A, facts: CallEventFacts): NewEvent => ({
      ...messageOf(session, 'a call'),
      kind: 'call',
      facts,
    });
    for (const effect of SESSION_EFFECT_NAMES) {
      const session = { ...SESSION_A, project: `/${effect}` };
      eventLog.append(callIn(session, factsOf('a_tool', effect, { effect })));
      expect(await eventLog.hasWork(session.project), effect).toBe(SESSION_EFFECTS[effect].isWork);
    }
  });

  it('knows of calls that an earlier version recorded what they were', async () => {
    const dir = await makeTempDir();
    const file = join(dir, 'sessions.db');
    const earlier = createTestDatabase({ file, migrations: EVENT_MIGRATIONS.slice(0, 3) });
    await earlier.start();
    // That version had no way to find tools.
    const later = new Set(['tool_browse', 'tool_execute', 'tool_hydrate', ...FOR_SERVERS.keys()]);
    const tools = [...[...CORE_EFFECTS.keys()].filter((tool) => !later.has(tool)), 'weather'];
    const row = `INSERT INTO events VALUES (1, ?, NULL, ?, NULL, 1, 'internal', 1, '', json_object('tool', ?), NULL)`;
    await earlier.write([
      { sql: `INSERT INTO logs VALUES (1, ?, ?, 99, 1)`, params: [SESSION_A.project, SESSION_A.session] },
      ...tools.map((tool, i) => ({
        sql: row,
        params: [i + 1, effectsOf(tool).session === 'memory' ? 'memory' : 'call', tool],
      })),
    ]);
    await earlier.stop();
    const { eventLog } = await openTestEvents(dir);
    const known = (await eventLog.read(SESSION_A, {})).map(({ facts }) => ('tool' in facts ? facts : null));
    expect(known.map((facts) => [facts?.tool, facts?.effect])).toEqual(
      tools.map((tool) => [tool, effectsOf(tool).session]),
    );
  });

  it('removes old events, and the oldest of the sessions that have most; positions are never used again', async () => {
    const { eventLog, clock } = await openTestEvents(undefined, { maxAgeMs: 30 * DAY_MS, maxEvents: 60 });
    const at = clock.now();
    for (let i = 1; i <= 100; i++) eventLog.append(messageOf(SESSION_A, `a${i}`, { at: at + i }));
    for (let i = 1; i <= 10; i++) eventLog.append(messageOf(SESSION_B, `b${i}`, { at: at + i }));
    await eventLog.prune();
    expect((await eventLog.read(SESSION_A, {})).map(({ text }) => text)).toEqual(
      Array.from({ length: 50 }, (_, i) => `a${i + 51}`),
    );
    expect(await eventLog.read(SESSION_B, {})).toHaveLength(10);
    clock.nowMs = at + 100 + 30 * DAY_MS;
    await eventLog.prune();
    expect(await eventLog.read(SESSION_A, {})).toHaveLength(1);
    eventLog.append(messageOf(SESSION_A, 'later', { at: clock.now() }));
    expect((await eventLog.read(SESSION_A, {})).map(({ seq }) => seq)).toEqual([100, 101]);
    expect(await eventLog.read(SESSION_B, {})).toEqual([]);
  });

  it('issue 19.9 loses nothing while the disk is full, and never fails the caller', async () => {
    const { eventLog, database, logged } = await openTestEvents();
    eventLog.append(messageOf(SESSION_A, 'first'));
    await eventLog.position(SESSION_A);
    const [pages = [{}]] = await database.write([{ sql: 'PRAGMA page_count', params: [] }]);
    await database.write([{ sql: `PRAGMA max_page_count = ${Number(pages[0]?.page_count) + 2}`, params: [] }]);
    const texts = Array.from({ length: 500 }, (_, i) => `${i} ${'x'.repeat(500)}`);
    for (const text of texts) eventLog.append(messageOf(SESSION_A, text));
    expect((await eventLog.read(SESSION_A, {})).length).toBeLessThan(500);
    expect(logged).toContain('events.not_written');
    await database.write([{ sql: 'PRAGMA max_page_count = 1000000', params: [] }]);
    expect((await eventLog.read(SESSION_A, {})).map(({ text }) => text)).toEqual(['first', ...texts]);
  });

  it('issue 19.9 takes events and answers reads with the reason if its file cannot be used', async () => {
    const dir = await makeTempDir();
    const holder = await openTestEvents(dir);
    const { eventLog, logged } = await openTestEvents(dir);
    eventLog.append(messageOf(SESSION_A, 'nowhere to go'));
    await expect(eventLog.read(SESSION_A, {})).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining('another contextd holds'),
    });
    expect(logged).toEqual(['events.unavailable']);
    expect(await holder.eventLog.read(SESSION_A, {})).toEqual([]);
  });
});
