import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { ArtifactFiles } from './artifact-files.ts';
import { bytesOf, type Database, integerOf, type Row, textOf } from './sqlite.ts';

/** Artifacts removed in one transaction. Bounds how long other requests wait. */
const BATCH = 500;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Days for which an expired id is still distinguished from an unknown id. */
const TOMBSTONE_DAYS = 30;
/** Over the quota, contents are removed down to this fraction of it, so that not every put prunes. */
const REFILL = 0.9;
/** Pages of 4 KiB that one run returns to the file system. */
const VACUUM_PAGES = 2_000;

export interface PrunerDeps {
  database: Database;
  files: ArtifactFiles;
  limits: { max_age_days: number; max_bytes: number };
  clock: Clock;
  logger: Logger;
}

/** Prunes on request, and in the background once puts exceed the quota; never twice at the same time. */
export class ArtifactPruner {
  readonly #deps: PrunerDeps;
  /** The size of all contents, or more: a deduplicated put is counted until the next prune. */
  #totalBytes = 0;
  #pruning: Promise<number> | undefined;
  #makingRoom: Promise<void> | undefined;
  #sweepDue = true;

  constructor(deps: PrunerDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#totalBytes = await countBytes(this.#deps.database);
  }

  async stop(): Promise<void> {
    await this.#makingRoom;
    await this.#pruning?.catch(() => undefined);
  }

  /** Counts a put that was committed. */
  add(bytes: number): void {
    this.#totalBytes += bytes;
    if (this.#totalBytes <= this.#deps.limits.max_bytes) return;
    this.#makingRoom ??= this.#makeRoom();
  }

  /** A file may exist without its row. The next prune looks for such files. */
  expectOrphans(): void {
    this.#sweepDue = true;
  }

  prune(): Promise<number> {
    this.#pruning ??= this.#prune().finally(() => {
      this.#pruning = undefined;
    });
    return this.#pruning;
  }

  async #prune(): Promise<number> {
    const { database, files, clock, limits, logger } = this.#deps;
    if (this.#sweepDue) {
      this.#sweepDue = false;
      await sweepFiles(database, files);
    }
    const { max_age_days: maxAgeDays, max_bytes: maxBytes } = limits;
    const removed = await pruneArtifacts({ database, files, nowMs: clock.now(), maxAgeDays, maxBytes });
    this.#totalBytes = await countBytes(database);
    if (removed > 0) logger.info('artifacts.pruned', { removed, bytes: this.#totalBytes });
    return removed;
  }

  /** Repeats if puts exceeded the quota again in the meantime. */
  async #makeRoom(): Promise<void> {
    try {
      while (this.#totalBytes > this.#deps.limits.max_bytes && (await this.prune()) > 0);
    } catch (error) {
      this.#deps.logger.error('artifacts.prune_failed', {}, error);
    }
    this.#makingRoom = undefined;
  }
}

interface PruneDeps {
  database: Database;
  files: ArtifactFiles;
  nowMs: number;
  /** Age limit in days. */
  maxAgeDays: number;
  /** Quota of all contents in bytes. */
  maxBytes: number;
}

/** A checkpoint keeps what it refers to. */
const NOT_PINNED = 'NOT EXISTS (SELECT 1 FROM checkpoint_pins WHERE artifact = artifacts.id)';

/** Bytes of all contents. */
async function countBytes(database: Database): Promise<number> {
  const [row] = await database.read('SELECT coalesce(sum(bytes), 0) AS bytes FROM contents');
  return integerOf(row ?? {}, 'bytes');
}

/** Removes old artifacts, then the least recently used until the quota holds. Returns the number of removed artifacts. */
async function pruneArtifacts(deps: PruneDeps): Promise<number> {
  const aged = await removeAged(deps);
  await removeUnreferencedFiles(deps);
  const unused = await removeLeastUsed(deps);
  if (unused > 0) await removeUnreferencedFiles(deps);
  await deps.database.write([
    { sql: 'DELETE FROM tombstones WHERE expired_ms < ?', params: [deps.nowMs - TOMBSTONE_DAYS * DAY_MS] },
    {
      // A cursor into an expired artifact must still answer EXPIRED as long as the artifact's tombstone does.
      sql: 'DELETE FROM continuations WHERE made_ms < ?',
      params: [deps.nowMs - (deps.maxAgeDays + TOMBSTONE_DAYS) * DAY_MS],
    },
    { sql: `PRAGMA incremental_vacuum(${VACUUM_PAGES})`, params: [] },
  ]);
  return aged + unused;
}

/** Removes files without a content row, which an interrupted put or prune left. */
async function sweepFiles(database: Database, files: ArtifactFiles): Promise<void> {
  const rows = await database.read('SELECT hash FROM contents WHERE in_file = 1');
  const known = new Set(rows.map((row) => bytesOf(row, 'hash').toString('hex')));
  for (const hash of await files.list()) {
    if (known.has(hash.toString('hex'))) continue;
    await files.withContent(hash, async () => {
      const [row] = await database.read('SELECT id FROM contents WHERE hash = ?', hash);
      if (row === undefined) await files.remove(hash);
    });
  }
}

/** Removes a content at once if no artifact refers to it any more, because it holds a secret. */
export async function removeContent({ database, files }: Pick<PruneDeps, 'database' | 'files'>, id: number) {
  const sql = `DELETE FROM contents WHERE id = ? AND in_file = 0
               AND NOT EXISTS (SELECT 1 FROM artifacts WHERE content = contents.id)`;
  await database.write([{ sql, params: [id] }]);
  await removeUnreferencedFiles({ database, files });
}

async function removeAged(deps: PruneDeps): Promise<number> {
  const before = deps.nowMs - deps.maxAgeDays * DAY_MS;
  let removed = 0;
  for (;;) {
    const victims = await deps.database.read(
      `SELECT id, content FROM artifacts WHERE created_ms < ? AND ${NOT_PINNED} ORDER BY created_ms LIMIT ?`,
      before,
      BATCH,
    );
    if (victims.length === 0) return removed;
    removed += await removeArtifacts(deps, victims);
  }
}

async function removeLeastUsed(deps: PruneDeps): Promise<number> {
  let excess = await countBytes(deps.database);
  if (excess <= deps.maxBytes) return 0;
  excess -= Math.floor(deps.maxBytes * REFILL);
  let removed = 0;
  while (excess > 0) {
    const contents = await leastUsed(deps.database, excess);
    if (contents.length === 0) break;
    for (const content of contents) excess -= content.bytes;
    const ids = JSON.stringify(contents.map((content) => content.id));
    const victims = await deps.database.read(
      'SELECT id, content FROM artifacts WHERE content IN (SELECT value FROM json_each(?))',
      ids,
    );
    removed += await removeArtifacts(deps, victims);
  }
  return removed;
}

/** The least recently used contents that together free `excess` bytes, at most one batch of them. */
async function leastUsed(database: Database, excess: number): Promise<{ id: number; bytes: number }[]> {
  const rows = await database.read(
    `SELECT id, bytes FROM contents WHERE EXISTS (SELECT 1 FROM artifacts WHERE content = contents.id)
       AND NOT EXISTS (SELECT 1 FROM artifacts WHERE content = contents.id AND NOT (${NOT_PINNED}))
     ORDER BY used_ms, id LIMIT ?`,
    BATCH,
  );
  const chosen: { id: number; bytes: number }[] = [];
  for (const row of rows) {
    if (excess <= 0) break;
    chosen.push({ id: integerOf(row, 'id'), bytes: integerOf(row, 'bytes') });
    excess -= integerOf(row, 'bytes');
  }
  return chosen;
}

/** Leaves a tombstone for each artifact. Contents in the database go with their last artifact; files go later. */
async function removeArtifacts(deps: PruneDeps, victims: readonly Row[]): Promise<number> {
  const ids = JSON.stringify(victims.map((row) => textOf(row, 'id')));
  const contents = JSON.stringify(victims.map((row) => integerOf(row, 'content')));
  await deps.database.write([
    {
      sql: `INSERT INTO tombstones SELECT id, session, ? FROM artifacts WHERE id IN (SELECT value FROM json_each(?))
            ON CONFLICT DO NOTHING`,
      params: [deps.nowMs, ids],
    },
    { sql: 'DELETE FROM artifacts WHERE id IN (SELECT value FROM json_each(?))', params: [ids] },
    {
      sql: `DELETE FROM contents WHERE id IN (SELECT value FROM json_each(?)) AND in_file = 0
            AND NOT EXISTS (SELECT 1 FROM artifacts WHERE content = contents.id)`,
      params: [contents],
    },
  ]);
  return victims.length;
}

/** Removes first the row and then the file, while no put of the same content can run. */
async function removeUnreferencedFiles({ database, files }: Pick<PruneDeps, 'database' | 'files'>): Promise<void> {
  const rows = await database.read(
    `SELECT hash FROM contents WHERE in_file = 1
     AND NOT EXISTS (SELECT 1 FROM artifacts WHERE content = contents.id)`,
  );
  for (const hash of rows.map((row) => bytesOf(row, 'hash'))) {
    await files.withContent(hash, async () => {
      const sql = `DELETE FROM contents WHERE hash = ?
                   AND NOT EXISTS (SELECT 1 FROM artifacts WHERE content = contents.id) RETURNING id`;
      const [removed] = await database.write([{ sql, params: [hash] }]);
      if (removed?.length) await files.remove(hash);
    });
  }
}
