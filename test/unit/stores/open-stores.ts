import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { type ArtifactStore, createArtifactStore } from '#src/stores/artifacts.js';
import { type Consents, createConsents } from '#src/stores/consents.js';
import { createDaemonKeys, type DaemonKeys } from '#src/stores/keys.js';
import { createProjectStore, type ProjectStore } from '#src/stores/projects.js';
import type { Database } from '#src/stores/sqlite.js';
import { STATE_MIGRATIONS } from '#src/stores/state-migrations.js';
import { sessionNamed } from '../../helpers/sessions.ts';
import { createTestDatabase } from '../../helpers/test-database.ts';

export const SESSION_A = sessionNamed('session-a');
export const SESSION_B = sessionNamed('session-b');
export const DAY_MS = 24 * 60 * 60 * 1000;

/** A clock that the test sets. */
export class TestClock implements Clock {
  nowMs = Date.UTC(2025, 0, 15, 12);

  now(): number {
    return this.nowMs;
  }

  monotonic(): number {
    return this.nowMs;
  }
}

export async function makeTempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'contextd-stores-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A started database in `dir`, stopped when the test ends. */
export async function openTestDatabase(dir: string): Promise<Database> {
  const database = createTestDatabase({ file: join(dir, 'contextd.db'), migrations: STATE_MIGRATIONS });
  await database.start();
  onTestFinished(() => database.stop());
  return database;
}

export async function openTestKeys(database: Database): Promise<DaemonKeys> {
  const keys = createDaemonKeys({ database });
  await keys.start();
  return keys;
}

export interface TestArtifacts {
  dir: string;
  clock: TestClock;
  database: Database;
  artifacts: ArtifactStore;
}

/** A started artifact store below `dir`; the database is `<dir>/contextd.db`, the files are in `<dir>/artifacts`. */
export async function openTestArtifacts(dir: string, maxBytes = 1024 ** 3): Promise<TestArtifacts> {
  const database = await openTestDatabase(dir);
  const keys = await openTestKeys(database);
  const clock = new TestClock();
  const limits = { max_age_days: 7, max_bytes: maxBytes };
  const artifacts = createArtifactStore({
    database,
    keys,
    dir: join(dir, 'artifacts'),
    limits,
    clock,
    logger: silentLogger,
  });
  await artifacts.start();
  onTestFinished(() => artifacts.stop());
  return { dir, clock, database, artifacts };
}

/** Started stores of consents and projects over `database`. */
export async function openTestProjects(
  database: Database,
  clock: TestClock,
): Promise<{ consents: Consents; projects: ProjectStore }> {
  const consents = createConsents({ database, clock });
  await consents.start();
  const projects = createProjectStore({ database, consents, clock, contextdHome: null });
  await projects.start();
  return { consents, projects };
}
