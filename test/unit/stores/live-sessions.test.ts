import { describe, expect, it } from 'vitest';
import { silentLogger as logger } from '#src/core/log.js';
import { createSessionEnd } from '#src/features/sessions/session-end.js';
import { createLiveSessions, type LiveSessions, SESSION_IDLE_MS } from '#src/stores/live-sessions.js';
import type { Database } from '#src/stores/sqlite.js';
import { makeTempDir, openTestDatabase, TestClock } from './open-stores.js';

const ROOT = '/home/ann/shop';

async function open(dir: string, clock = new TestClock()) {
  const database = await openTestDatabase(dir);
  await database.write([{ sql: 'INSERT OR IGNORE INTO projects VALUES (?, 0)', params: [ROOT] }]);
  const sessions = createLiveSessions({ database, clock, logger });
  await sessions.start();
  return { sessions, clock, database };
}

/** A call of the project that names `hint` as its session; returns its session id. */
function call(sessions: LiveSessions, hint = ''): string {
  const id = sessions.idFor(ROOT, hint);
  sessions.touch({ project: ROOT, session: id, branch: null });
  return id;
}

/** Waits for the writes that nobody waits for. */
const written = (database: Database): Promise<unknown> => database.read('SELECT 1');

describe('the session of a call', () => {
  it('is the one the caller names, if the name is usable', async () => {
    const { sessions } = await open(await makeTempDir());
    expect(sessions.idFor(ROOT, 'claude-7')).toBe('claude-7');
    for (const unusable of ['', 'a b', '../x', 'x'.repeat(129)])
      expect(sessions.idFor(ROOT, unusable)).toMatch(/^auto-\d{4}-\d{2}-\d{2}-[0-9a-z]{8}$/);
  });

  it('is otherwise the current one of the project, over midnight and restarts, until it has been idle for a day', async () => {
    const dir = await makeTempDir();
    const first = await open(dir);
    const id = call(first.sessions);
    first.clock.nowMs += SESSION_IDLE_MS - 1;
    expect(call(first.sessions)).toBe(id);
    await written(first.database);
    await first.database.stop();
    const second = await open(dir, first.clock);
    expect(second.sessions.idFor('/home/ann/other', '')).not.toBe(id);
    expect(call(second.sessions)).toBe(id);
    second.clock.nowMs += SESSION_IDLE_MS;
    expect(second.sessions.idle()).toEqual([{ project: ROOT, session: id, branch: null }]);
    expect(call(second.sessions)).not.toBe(id);
  });

  it('is a new one after the current one was ended', async () => {
    const { sessions } = await open(await makeTempDir());
    const id = call(sessions);
    expect(await sessions.remove({ project: ROOT, session: id, branch: null })).toBe(true);
    expect(await sessions.remove({ project: ROOT, session: id, branch: null })).toBe(false);
    expect(call(sessions)).not.toBe(id);
  });

  it('numbers its jobs from 1 and goes on after a restart', async () => {
    const dir = await makeTempDir();
    const first = await open(dir);
    const session = { project: ROOT, session: call(first.sessions), branch: null };
    expect(await first.sessions.nextJob(session)).toBe(1);
    expect(await first.sessions.nextJob(session)).toBe(2);
    expect(await first.sessions.nextJob({ ...session, session: 'other' })).toBe(1);
    await first.database.stop();
    const second = await open(dir, first.clock);
    expect(await second.sessions.nextJob(session)).toBe(3);
  });
});

describe('the end of a session', () => {
  it('reaches every holder of its state in order, although one of them fails', async () => {
    const { sessions } = await open(await makeTempDir());
    const session = { project: ROOT, session: call(sessions, 'named'), branch: null };
    const ended: string[] = [];
    const holder = (name: string, fails: boolean) => ({
      name,
      endSession: async ({ session: id }: { session: string }) => {
        ended.push(`${name} ${id}`);
        if (fails) throw new Error('no');
      },
    });
    const end = createSessionEnd({
      liveSessions: sessions,
      holders: [holder('jobs', true), holder('caches', false)],
      logger,
    });
    expect(await end.end(session)).toBe(true);
    expect(await end.end(session)).toBe(false);
    expect(ended).toEqual(['jobs named', 'caches named', 'jobs named', 'caches named']);
  });

  it('comes by itself after a day without a call, for idle sessions only', async () => {
    const { sessions, clock } = await open(await makeTempDir());
    call(sessions, 'idle');
    clock.nowMs += SESSION_IDLE_MS;
    call(sessions, 'busy');
    await createSessionEnd({ liveSessions: sessions, holders: [], logger }).endIdle();
    expect(sessions.list().map(({ session }) => session)).toEqual(['busy']);
  });
});
