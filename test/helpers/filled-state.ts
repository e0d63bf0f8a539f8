import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuditLog, PERSON_DOOR } from '#src/audit/log.js';
import { NO_END } from '#src/audit/record.js';
import { createBackup } from '#src/backup/create.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { ensureDirectories, type Paths, resolvePaths } from '#src/config/paths.js';
import { systemClock } from '#src/core/clock.js';
import { newRequestId } from '#src/core/ids.js';
import { silentLogger } from '#src/core/log.js';
import { createBackupManagement } from '#src/features/backup/management.js';
import { EVENT_MIGRATIONS } from '#src/features/events/migrations.js';
import { createArtifactStore } from '#src/stores/artifacts.js';
import { createDaemonKeys } from '#src/stores/keys.js';
import { createSessionStore } from '#src/stores/sessions.js';
import { STATE_MIGRATIONS } from '#src/stores/state-migrations.js';
import { sessionNamed } from './sessions.ts';
import { createTestDatabase } from './test-database.ts';
import { createTestMemoryDatabase } from './test-memory-database.ts';

export const SESSION = sessionNamed('kept');
export const SMALL = 'a small output\n';
export const LARGE = 'a large output\n'.repeat(10_000);

/** A new home, and the stores over it. */
export async function openState() {
  const home = mkdtempSync(join(tmpdir(), 'state-'));
  const paths = pathsIn(home);
  await ensureDirectories(paths);
  return { home, paths, ...(await openStores(paths)) };
}

export function pathsIn(home: string): Paths {
  return resolvePaths({ ...readEnvironment({ HOME: home }), contextdHome: home }, findInstallRoot());
}

export async function openStores(paths: Paths) {
  const database = createTestDatabase({ file: paths.stateDb, migrations: STATE_MIGRATIONS });
  const memoryDatabase = createTestMemoryDatabase({ file: paths.memoryDb });
  const sessionDatabase = createTestDatabase({ file: paths.sessionDb, migrations: EVENT_MIGRATIONS });
  const keys = createDaemonKeys({ database });
  const common = { clock: systemClock, logger: silentLogger };
  const limits = { max_age_days: 7, max_bytes: 1024 ** 3 };
  const artifacts = createArtifactStore({ database, keys, dir: paths.artifactsDir, limits, ...common });
  const auditLog = createAuditLog({ dir: paths.auditDir, ...common });
  await Promise.all([database.start(), memoryDatabase.start(), sessionDatabase.start()]);
  await keys.start();
  await Promise.all([artifacts.start(), auditLog.start()]);
  return {
    database,
    memoryDatabase,
    sessionDatabase,
    artifacts,
    auditLog,
    sessions: createSessionStore({ database, keys, clock: systemClock }),
    async close() {
      await Promise.all([artifacts.stop(), auditLog.stop()]);
      await Promise.all([database.stop(), memoryDatabase.stop(), sessionDatabase.stop()]);
    },
  };
}

/** Puts something into each store, and makes a backup of it. */
export async function backUpFilledState(state: Awaited<ReturnType<typeof openState>>) {
  const { artifacts, auditLog, database, memoryDatabase, sessionDatabase, sessions, paths, home } = state;
  const put = async (text: string) => {
    const { id, committed } = artifacts.put(
      SESSION,
      newRequestId(1),
      'safe_bash',
      [{ field: 'stdout', text }],
      0,
      text,
    );
    await committed;
    return id;
  };
  const ids = { small: await put(SMALL), large: await put(LARGE) };
  await sessions.next(SESSION);
  await database.write([
    { sql: 'INSERT INTO projects VALUES (?, 1)', params: [SESSION.project] },
    { sql: `INSERT INTO http_tokens VALUES ('t', ?, '', 'read', 1, NULL)`, params: ['ab'.repeat(32)] },
  ]);
  await auditLog.append({
    ...NO_END,
    time: new Date().toISOString(),
    request_id: newRequestId(1),
    session: '',
    project: '',
    door: PERSON_DOOR,
    kind: 'person',
    tool: 'init',
    input: {},
  });
  const deps = { database, memoryDatabase, sessionDatabase, auditLog, paths, clock: systemClock };
  const file = join(home, 'made.backup');
  const copy = await createBackupManagement(deps).copyState({ file }, { requestId: '', note: () => undefined });
  const made = await createBackup({
    paths,
    target: file,
    copy,
    version: '1.2.3',
    host: 'old',
    nowMs: 1e12,
    withFiles: true,
  });
  rmSync(copy.directory, { recursive: true });
  return { file, made, ids };
}

/** An empty home for a restore, with a file that must stay as it is. */
export function emptyHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'restored-'));
  mkdirSync(join(home, 'config'), { mode: 0o700 });
  writeFileSync(join(home, 'outside'), 'stays');
  return home;
}
