import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { AuditLog } from '../../audit/log.ts';
import type { Paths } from '../../config/paths.ts';
import type { Clock } from '../../core/clock.ts';
import type { RpcHandlers } from '../../protocol/management-contract.ts';
import type { Database } from '../../stores/sqlite.ts';

export interface BackupDeps {
  database: Pick<Database, 'copyTo'>;
  memoryDatabase: Pick<Database, 'copyTo'>;
  sessionDatabase: Pick<Database, 'copyTo'>;
  auditLog: Pick<AuditLog, 'segments'>;
  paths: Pick<Paths, 'backupDir' | 'stateDb' | 'memoryDb' | 'sessionDb'>;
  clock: Clock;
}

/** Milliseconds after which what a `ctxd` that died left is removed. */
const LEFT_MS = 24 * 60 * 60 * 1000;

/**
 * Copies of what only the daemon may open, for `ctxd backup create`, which removes them. They hold the keys, as the databases do,
 * and lie where those lie.
 */
export function createBackupManagement(deps: BackupDeps): Pick<RpcHandlers, 'copyState'> {
  const { database, memoryDatabase, sessionDatabase, auditLog, paths, clock } = deps;
  return {
    async copyState() {
      await mkdir(paths.backupDir, { recursive: true, mode: 0o700 });
      await removeLeft(paths.backupDir, clock.now() - LEFT_MS);
      const directory = await mkdtemp(join(paths.backupDir, 'copy-'));
      const to = (file: string): string => join(directory, basename(file));
      try {
        await database.copyTo(to(paths.stateDb));
        await memoryDatabase.copyTo(to(paths.memoryDb));
        await sessionDatabase.copyTo(to(paths.sessionDb));
        return { directory, segments: await auditLog.segments() };
      } catch (thrown) {
        await rm(directory, { recursive: true, force: true });
        throw thrown;
      }
    },
  };
}

async function removeLeft(dir: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(dir)) {
    const path = join(dir, name);
    if ((await stat(path)).mtimeMs < beforeMs) await rm(path, { recursive: true, force: true });
  }
}
