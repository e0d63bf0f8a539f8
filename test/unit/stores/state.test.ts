import { describe, expect, it } from 'vitest';
import { createJournal } from '#src/stores/journal.js';
import type { AcceptedTool } from '#src/stores/projects.js';
import { createSessionStore, type SessionStore } from '#src/stores/sessions.js';
import {
  DAY_MS,
  makeTempDir,
  openTestDatabase,
  openTestKeys,
  openTestProjects,
  SESSION_A,
  SESSION_B,
  TestClock,
} from './open-stores.js';

const clock = new TestClock();

async function openSessions(dir: string): Promise<{ sessions: SessionStore; stop(): Promise<void> }> {
  const database = await openTestDatabase(dir);
  const sessions = createSessionStore({ database, keys: await openTestKeys(database), clock });
  return { sessions, stop: () => database.stop() };
}

async function takeNumbers(sessions: SessionStore, count: number, session = SESSION_A): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => sessions.next(session)));
}

describe('secret numbers', () => {
  it('count from 1 in each session', async () => {
    const { sessions } = await openSessions(await makeTempDir());
    expect(await takeNumbers(sessions, 3)).toEqual([1, 2, 3]);
    expect(await takeNumbers(sessions, 2, SESSION_B)).toEqual([1, 2]);
    expect(await takeNumbers(sessions, 200)).toEqual(Array.from({ length: 200 }, (_, i) => i + 4));
  });

  it('have a last one: exact while the daemon runs, never too low after a restart', async () => {
    const dir = await makeTempDir();
    const first = await openSessions(dir);
    expect(await first.sessions.last(SESSION_A)).toBe(0);
    await takeNumbers(first.sessions, 3);
    expect(await first.sessions.last(SESSION_A)).toBe(3);
    await first.stop();
    const second = await openSessions(dir);
    expect(await second.sessions.last(SESSION_A)).toBe(8);
    expect(await takeNumbers(second.sessions, 1)).toEqual([9]);
    expect(await second.sessions.last(SESSION_A)).toBe(9);
    await second.stop();
  });

  it('are never given twice, however often the daemon restarts', async () => {
    const dir = await makeTempDir();
    const given: number[] = [];
    for (const count of [1, 8, 9, 70, 3]) {
      const { sessions, stop } = await openSessions(dir);
      given.push(...(await takeNumbers(sessions, count)));
      await stop();
    }
    expect(new Set(given).size).toBe(given.length);
    expect(given).toEqual(given.toSorted((a, b) => a - b));
  });
});

describe('session keys', () => {
  it('differ by session and use, and survive a restart', async () => {
    const dir = await makeTempDir();
    const first = await openSessions(dir);
    const etags = [SESSION_A, SESSION_B].map((key) => first.sessions.etagKey(key));
    const cursors = [SESSION_A, SESSION_B].map((key) => first.sessions.cursorKey(key).toString('hex'));
    await first.stop();
    expect(etags[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set([...etags, ...cursors]).size).toBe(4);
    const second = await openSessions(dir);
    expect(second.sessions.etagKey(SESSION_A)).toBe(etags[0]);
    expect(second.sessions.cursorKey(SESSION_B).toString('hex')).toBe(cursors[1]);
  });

  it('differ between homes', async () => {
    const one = await openSessions(await makeTempDir());
    const other = await openSessions(await makeTempDir());
    expect(one.sessions.etagKey(SESSION_A)).not.toBe(other.sessions.etagKey(SESSION_A));
  });
});

describe('projects', () => {
  const bash: AcceptedTool = {
    name: 'safe_bash',
    bundleSha256: 'ab'.repeat(32),
    origin: 'core',
    grants: ['log', 'exec'],
  };
  const read: AcceptedTool = { name: 'safe_read', bundleSha256: 'cd'.repeat(32), origin: 'installed', grants: [] };

  it('are registered, found, listed and unregistered, over a restart too', async () => {
    const dir = await makeTempDir();
    const database = await openTestDatabase(dir);
    const { projects } = await openTestProjects(database, clock);
    expect(await projects.register('/p', [read, bash])).toBe(true);
    expect(await projects.register('/p', [{ ...bash, grants: ['exec', 'log'] }, read])).toBe(false);
    expect(await projects.register('/a', [])).toBe(true);
    const expected = { root: '/p', tools: [{ ...bash, grants: ['exec', 'log'] }, read] };
    expect(await projects.find('/p')).toEqual(expected);
    expect(await projects.find('/p/sub')).toBeNull();
    await database.stop();

    const { projects: reopened } = await openTestProjects(await openTestDatabase(dir), clock);
    expect(await reopened.list()).toEqual([{ root: '/a', tools: [] }, expected]);
    expect(await reopened.register('/p', [read, bash])).toBe(false);
    expect(await reopened.register('/p', [read])).toBe(true);
    expect(await reopened.unregister('/p')).toBe(true);
    expect(await reopened.unregister('/p')).toBe(false);
    expect(await reopened.find('/p')).toBeNull();
  });

  it('accept concurrent registrations in order', async () => {
    const dir = await makeTempDir();
    const database = await openTestDatabase(dir);
    const { projects } = await openTestProjects(database, clock);
    const changes = [projects.register('/p', [bash]), projects.register('/p', [read]), projects.unregister('/p')];
    expect(await Promise.all([...changes, projects.register('/p', [bash, read])])).toEqual([true, true, true, true]);
    const { projects: again } = await openTestProjects(database, clock);
    expect(await again.find('/p')).toEqual(await projects.find('/p'));
  });

  it('refuse to start if their accepted tools cannot be read: a grant is never guessed', async () => {
    const database = await openTestDatabase(await makeTempDir());
    const { projects } = await openTestProjects(database, clock);
    await projects.register('/p', [bash]);
    await database.write([
      { sql: `UPDATE consents SET subject = 'grant:' WHERE subject LIKE 'grant:%:exec'`, params: [] },
    ]);
    await expect(openTestProjects(database, clock)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  });
});

describe('the journal', () => {
  it('counts running, finished and failed calls', async () => {
    const journal = createJournal({ database: await openTestDatabase(await makeTempDir()), clock });
    await journal.start();
    for (const requestId of ['req_1', 'req_2', 'req_3'])
      await journal.begin({ requestId, tool: 'safe_bash', session: SESSION_A });
    await journal.finish('req_1', null);
    await journal.finish('req_2', 'TIMEOUT');
    await journal.finish('req_2', null);
    expect(await journal.counts()).toEqual({ running: 1, finished: 2, failed: 1, interrupted: 0 });
  });

  it('NFR-2.3: has of a call that runs again under another id neither an answer nor a call that can begin', async () => {
    const journal = createJournal({ database: await openTestDatabase(await makeTempDir()), clock });
    await journal.start();
    await journal.begin({ requestId: 'req_1', tool: 'safe_bash', session: SESSION_A, tag: 'tag' });
    await journal.finish('req_1', 'DAEMON_UNAVAILABLE', 'sealed');
    expect(await journal.find('req_1')).toMatchObject({ answer: 'sealed' });
    for (const requestId of ['req_1', 'req_2']) {
      const entry = { requestId, tool: 'safe_bash', session: SESSION_A, tag: 'tag' };
      await journal.retire(entry);
      expect(await journal.find(requestId)).toMatchObject({ tag: 'tag', isOpen: false, answer: null });
      await expect(journal.begin(entry)).rejects.toMatchObject({ code: 'CONFLICT' });
    }
    expect(await journal.counts()).toEqual({ running: 0, finished: 2, failed: 2, interrupted: 0 });
  });

  it('refuses a request id a second time', async () => {
    const journal = createJournal({ database: await openTestDatabase(await makeTempDir()), clock });
    await journal.begin({ requestId: 'req_1', tool: 't', session: SESSION_A });
    await expect(journal.begin({ requestId: 'req_1', tool: 't', session: SESSION_B })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });

  it('marks open calls as interrupted at start, and forgets calls after 7 days', async () => {
    const turned = new TestClock();
    const journal = createJournal({ database: await openTestDatabase(await makeTempDir()), clock: turned });
    await journal.begin({ requestId: 'req_1', tool: 't', session: SESSION_A });
    expect(await journal.start()).toBe(1);
    expect(await journal.counts()).toEqual({ running: 0, finished: 1, failed: 1, interrupted: 1 });
    turned.nowMs += 7 * DAY_MS + 1;
    expect(await journal.start()).toBe(0);
    expect(await journal.counts()).toEqual({ running: 0, finished: 0, failed: 0, interrupted: 0 });
    await journal.begin({ requestId: 'req_1', tool: 't', session: SESSION_A });
  });
});
