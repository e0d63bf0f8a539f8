import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { STATE_MIGRATIONS } from '#src/stores/state-migrations.js';
import { makeTempDir, openTestDatabase, openTestProjects, TestClock } from './open-stores.ts';

const clock = new TestClock();
const HASH_A = 'aa'.repeat(32);
const HASH_B = 'bb'.repeat(32);

it('a consent covers one hash in one project, survives a restart and ends when it is withdrawn', async () => {
  const dir = await makeTempDir();
  const database = await openTestDatabase(dir);
  const { consents, projects } = await openTestProjects(database, clock);
  await projects.register('/p', []);
  await projects.register('/q', []);
  await consents.give('/p', 'rules', HASH_A);
  expect(consents.has('/p', 'rules', HASH_A)).toBe(true);
  expect(consents.has('/p', 'rules', HASH_B)).toBe(false);
  expect(consents.has('/q', 'rules', HASH_A)).toBe(false);
  await consents.give('/p', 'rules', HASH_B);
  await database.stop();

  const { consents: reopened } = await openTestProjects(await openTestDatabase(dir), clock);
  expect(reopened.list('/p')).toEqual([
    { scope: '/p', subject: 'rules', hash: HASH_B, givenMs: clock.nowMs, expiresMs: null },
  ]);
  expect(await reopened.withdraw('/p', 'rules')).toBe(true);
  expect(await reopened.withdraw('/p', 'rules')).toBe(false);
  expect(reopened.has('/p', 'rules', HASH_B)).toBe(false);
});

it('consents go with their project, in memory and in the database, and none is kept for an unknown project', async () => {
  const database = await openTestDatabase(await makeTempDir());
  const { consents, projects } = await openTestProjects(database, clock);
  await expect(consents.give('/p', 'rules', HASH_A)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  expect(consents.list('/p')).toEqual([]);
  await projects.register('/p', [{ name: 'safe_bash', bundleSha256: HASH_A, origin: 'core', grants: ['exec'] }]);
  await consents.give('/p', 'rules', HASH_A);
  await projects.unregister('/p');
  expect(consents.list('/p')).toEqual([]);
  expect(await database.read('SELECT * FROM consents')).toEqual([]);
  await projects.register('/p', []);
  expect(consents.has('/p', 'rules', HASH_A)).toBe(false);
});

it('a project keeps its other consents, and the time of unchanged ones, when its tools are accepted again', async () => {
  const turned = new TestClock();
  const database = await openTestDatabase(await makeTempDir());
  const { consents, projects } = await openTestProjects(database, turned);
  const bash = { name: 'safe_bash', bundleSha256: HASH_A, origin: 'core' as const, grants: ['exec', 'network:a:443'] };
  await projects.register('/p', [bash]);
  await consents.give('/p', 'rules', HASH_A);
  turned.nowMs += 1000;
  await projects.register('/p', [{ ...bash, grants: ['network:a:443', 'log'] }]);
  expect(consents.list('/p').map(({ subject, givenMs }) => [subject, turned.nowMs - givenMs])).toEqual([
    ['grant:safe_bash:log', 0],
    ['grant:safe_bash:network:a:443', 1000],
    ['rules', 1000],
    ['tool:core:safe_bash', 1000],
  ]);
  expect(await projects.find('/p')).toEqual({ root: '/p', tools: [{ ...bash, grants: ['log', 'network:a:443'] }] });
});

it('a grant counts only for the bundle it was given to', async () => {
  const database = await openTestDatabase(await makeTempDir());
  const { consents, projects } = await openTestProjects(database, clock);
  await projects.register('/p', [{ name: 'safe_bash', bundleSha256: HASH_A, origin: 'core', grants: [] }]);
  await consents.give('/p', 'grant:safe_bash:exec', HASH_B);
  expect((await projects.find('/p'))?.tools[0]?.grants).toEqual([]);
  await consents.give('/p', 'grant:safe_bash:exec', HASH_A);
  expect((await projects.find('/p'))?.tools[0]?.grants).toEqual(['exec']);
});

it('a database of version 3 keeps its accepted tools and approved rules as consents', async () => {
  const dir = await makeTempDir();
  const old = new DatabaseSync(join(dir, 'contextd.db'));
  for (const migration of STATE_MIGRATIONS.slice(0, 3)) old.exec(migration);
  old.exec(`
    PRAGMA user_version = 3;
    INSERT INTO projects VALUES ('/p', 111), ('/empty', 222), ('/damaged', 333);
    INSERT INTO project_tools VALUES
      ('/p', 'safe_bash', '${HASH_A}', 'core', '["exec","log"]'),
      ('/p', 'other', '${HASH_B}', 'installed', '[]'),
      ('/damaged', 'safe_bash', '${HASH_A}', 'core', '{"a":"exec"}'),
      ('/damaged', 'torn', '${HASH_B}', 'installed', '["exec"');
    INSERT INTO rule_approvals VALUES ('/p', '${HASH_B}', 444);
  `);
  old.close();
  const database = await openTestDatabase(dir);
  const { consents, projects } = await openTestProjects(database, clock);
  expect(consents.list('/p')).toEqual([
    { scope: '/p', subject: 'grant:safe_bash:exec', hash: HASH_A, givenMs: 111, expiresMs: null },
    { scope: '/p', subject: 'grant:safe_bash:log', hash: HASH_A, givenMs: 111, expiresMs: null },
    { scope: '/p', subject: 'rules', hash: HASH_B, givenMs: 444, expiresMs: null },
    { scope: '/p', subject: 'tool:core:safe_bash', hash: HASH_A, givenMs: 111, expiresMs: null },
    { scope: '/p', subject: 'tool:installed:other', hash: HASH_B, givenMs: 111, expiresMs: null },
  ]);
  const bash = { name: 'safe_bash', bundleSha256: HASH_A, origin: 'core', grants: ['exec', 'log'] };
  expect(await projects.list()).toEqual([
    {
      root: '/damaged',
      tools: [
        { ...bash, grants: [] },
        { name: 'torn', bundleSha256: HASH_B, origin: 'installed', grants: [] },
      ],
    },
    { root: '/empty', tools: [] },
    { root: '/p', tools: [{ name: 'other', bundleSha256: HASH_B, origin: 'installed', grants: [] }, bash] },
  ]);
  expect(
    await database.read(`SELECT name FROM sqlite_schema WHERE name IN ('project_tools', 'rule_approvals')`),
  ).toEqual([]);
});
