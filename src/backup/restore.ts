import { createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createAuditLog, PERSON_DOOR } from '../audit/log.ts';
import { hashOfListing, type LogListing, listingFile, RESTORE_ACT, writeListing } from '../audit/other-log.ts';
import { NO_END } from '../audit/record.ts';
import { publishBundle } from '../catalog/bundle.ts';
import { loadConfig } from '../config/load.ts';
import { ensureDirectories, type Paths } from '../config/paths.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError, type ErrorCode } from '../core/errors.ts';
import { newRequestId } from '../core/ids.ts';
import type { Logger } from '../core/log.ts';
import { readBackup } from './archive.ts';
import { holdEmptyState, placeOf, projectFolders } from './empty-state.ts';
import { auditOf, projectFileOf, toolOf } from './entry-paths.ts';
import { type BackedUpFile, type Manifest, SETTINGS } from './manifest.ts';
import { moveFile, Placements } from './placements.ts';
import { prepareDatabases } from './restored-databases.ts';
import { BACKED_UP } from './tables.ts';
import { checkedRecord, endedCalls, isCalls, recordedMs } from './undo-content.ts';

export interface RestoreOptions {
  /** Absolute. */
  file: string;
  paths: Paths;
  clock: Clock;
  logger: Logger;
}

export interface RestoredBackup {
  readonly made: string;
  readonly host: string;
  readonly contextd: string;
  readonly artifacts: number;
  /** Names of the audit logs, for `ctxd audit verify --of`. */
  readonly logs: readonly string[];
  readonly tools: number;
  /** Projects with the files that undo, checkpoints and branches need. */
  readonly projects_with_files: number;
  /** False: the backup has none, or there were settings already, which stay. */
  readonly has_settings: boolean;
}

/**
 * Puts a backup into an empty state. The whole backup is checked before anything is written; the state database, which makes the
 * state a state, comes last. Throws INTEGRITY_FAILED, VERSION_MISMATCH, CONFLICT (a daemon runs, or the state is not empty) and
 * STORAGE_FULL.
 */
export async function restoreBackup({ file, paths, clock, logger }: RestoreOptions): Promise<RestoredBackup> {
  const manifest = await readBackup(file, async (_file, bytes) => {
    for await (const _ of bytes);
  });
  checkVersions(manifest);
  aheadOf(manifest, clock.now());
  await ensureDirectories(paths);
  const held = holdEmptyState(paths);
  try {
    await mkdir(paths.backupDir, { recursive: true, mode: 0o700 });
    const dir = await mkdtemp(join(paths.backupDir, 'restore-'));
    try {
      // The file may have been exchanged since: what counts is what this reading has.
      const unpacked = await readBackup(file, (one, bytes) => unpack(dir, one, bytes));
      return await putInPlace(dir, unpacked, { paths, clock, logger });
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  } finally {
    held.close();
  }
}

function checkVersions({ contextd, schemas }: Manifest): void {
  for (const { entry, migrations } of BACKED_UP) {
    const version = schemas[entry] ?? 0;
    if (version <= migrations.length) continue;
    throw new ContextdError(
      'VERSION_MISMATCH',
      `${entry} in this backup has schema version ${version}, and this contextd knows versions up to ${migrations.length}`,
      { remedy: `Restore it with contextd ${contextd}, which made it, or a newer one.` },
    );
  }
}

async function unpack(dir: string, { path, is_program }: BackedUpFile, bytes: AsyncIterable<Buffer>): Promise<void> {
  const target = join(dir, path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await pipeline(bytes, createWriteStream(target, { flags: 'wx', mode: 0o600 }));
  if (is_program === true) await chmod(target, 0o700);
}

/** Clocks differ by seconds, and by an hour where a time zone was taken for another. */
const CLOCK_SLACK_MS = 24 * 60 * 60 * 1000;

/**
 * Milliseconds by which the clock of the backup is ahead of this one. Throws INTEGRITY_FAILED if it is far ahead: what seems to come
 * from the future would stay the last call, and would never be too old.
 */
function aheadOf({ made }: Manifest, nowMs: number): number {
  const aheadMs = Math.max(0, Date.parse(made) - nowMs);
  if (aheadMs <= CLOCK_SLACK_MS) return aheadMs;
  const now = new Date(nowMs).toISOString();
  throw new ContextdError('INTEGRITY_FAILED', `this backup says that it was made at ${made}, and now it is ${now}`, {
    remedy:
      'Nothing was changed. If the clock of this machine is wrong, set it; otherwise use another copy of the backup.',
  });
}

async function putInPlace(dir: string, unpacked: Manifest, to: Omit<RestoreOptions, 'file'>): Promise<RestoredBackup> {
  const { paths, clock, logger } = to;
  const artifacts = await prepareDatabases(dir, unpacked);
  const manifest = await checkUndo(dir, unpacked, aheadOf(unpacked, clock.now()));
  const settings = await checkedSettings(dir, manifest, paths);
  const tools = await placeTools(dir, manifest, paths.toolsDir);
  const placed = new Placements(join(dir, 'replaced'));
  let isRecorded = false;
  try {
    for (const { from, name } of artifacts)
      await placed.move(from, join(paths.artifactsDir, name.slice(0, 2), name.slice(2)));
    const logs = await placeLogs(dir, manifest, paths.otherAuditDir, placed);
    if (settings !== null) await placed.move(settings, paths.configFile);
    // Before the state is there: with it, a daemon can start, and writes the log itself.
    await record(manifest, logs, null, to);
    isRecorded = true;
    const projects = await placeState(dir, manifest, paths, placed);
    return {
      made: manifest.made,
      host: manifest.host,
      contextd: manifest.contextd,
      artifacts: artifacts.length,
      logs: logs.map(({ log }) => log),
      tools,
      projects_with_files: projects,
      has_settings: settings !== null,
    };
  } catch (thrown) {
    await placed.takeBack();
    if (isRecorded)
      await record(manifest, [], ContextdError.from(thrown).code, to).catch((cause: unknown) =>
        logger.error('backup.failure_not_recorded', { cause: String(cause) }),
      );
    throw thrown;
  }
}

/**
 * Throws INTEGRITY_FAILED if a record is not as a daemon writes it. Drops the calls that had not ended. If the clock of the backup is
 * ahead, all times move back as far. Returns the manifest with the names that the records have then.
 */
async function checkUndo(dir: string, manifest: Manifest, aheadMs: number): Promise<Manifest> {
  const madeMs = Date.parse(manifest.made);
  const files: BackedUpFile[] = [];
  for (const file of manifest.files) {
    const at = join(dir, file.path);
    if (isCalls(file.path)) await writeFile(at, endedCalls(await readFile(at, 'utf8'), madeMs, aheadMs));
    files.push(recordedMs(file.path) === null ? file : await checkRecord(dir, file, madeMs, aheadMs));
  }
  return { ...manifest, files };
}

async function checkRecord(dir: string, file: BackedUpFile, madeMs: number, aheadMs: number): Promise<BackedUpFile> {
  try {
    const { path, text } = checkedRecord(file.path, await readFile(join(dir, file.path), 'utf8'), madeMs, aheadMs);
    if (path === file.path) return file;
    await writeFile(join(dir, file.path), text);
    await rename(join(dir, file.path), join(dir, path));
    return { ...file, path };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ContextdError('INTEGRITY_FAILED', `a file of this backup is not as contextd makes it: ${why}`, {
      remedy: 'Nothing was changed. Use another copy of the backup.',
      cause,
    });
  }
}

/** Returns the number of projects with files. Without the databases the files mean nothing, and the next restore needs empty folders. */
async function placeState(dir: string, manifest: Manifest, paths: Paths, placed: Placements): Promise<number> {
  try {
    const projects = await placeProjectFiles(dir, manifest, paths);
    const [state, ...others] = BACKED_UP.map((one) => ({ from: join(dir, one.entry), to: placeOf(one, paths) }));
    if (state === undefined) throw new Error('there are three databases');
    for (const { from, to } of others) await placed.move(from, to);
    // It comes last: a restore that was cut short left no state. The lock is on the file that it replaces.
    await moveFile(state.from, state.to);
    return projects;
  } catch (thrown) {
    for (const folder of projectFolders(paths)) await rm(folder, { recursive: true, force: true });
    throw thrown;
  }
}

/** Null if the backup has no settings, or the target has its own. Throws SCHEMA_INVALID. */
async function checkedSettings(dir: string, { files }: Manifest, paths: Paths): Promise<string | null> {
  const file = join(dir, SETTINGS);
  if (!files.some(({ path }) => path === SETTINGS) || existsSync(paths.configFile)) return null;
  await loadConfig({ configFile: file });
  return file;
}

async function placeTools(dir: string, { files }: Manifest, toolsDir: string): Promise<number> {
  const bundles = new Set(files.flatMap(({ path }) => toolOf(path)?.bundle ?? []));
  for (const bundle of bundles) {
    const published = await publishBundle(join(dir, 'tools', bundle), toolsDir);
    if (published === bundle) continue;
    await rm(join(toolsDir, published), { recursive: true, force: true });
    throw new ContextdError('INTEGRITY_FAILED', `the tool ${bundle} of this backup has the hash ${published}`, {
      remedy: 'Use another copy of the backup.',
    });
  }
  return bundles.size;
}

/** Who owns the projects is not known here: the daemon gives the files to them when they are used. Returns the number of projects. */
async function placeProjectFiles(dir: string, { files }: Manifest, paths: Paths): Promise<number> {
  const projects = new Set<string>();
  for (const { path } of files) {
    const place = projectFileOf(path);
    if (place === null) continue;
    await moveFile(join(dir, path), join(paths[place.root], place.file));
    if (place.root === 'undoDir') projects.add(path.split('/')[2] ?? '');
  }
  return projects.size;
}

/** Puts the logs of other machines beside the own one, each with a list of its segments. */
async function placeLogs(
  dir: string,
  manifest: Manifest,
  otherAuditDir: string,
  placed: Placements,
): Promise<LogListing[]> {
  const listings = new Map<string, LogListing>();
  for (const { path, bytes, sha256 } of manifest.files) {
    const at = auditOf(path);
    if (at === null) continue;
    const listing = listings.get(at.log) ?? { log: at.log, segments: [] };
    listings.set(at.log, { ...listing, segments: [...listing.segments, { name: at.segment, bytes, sha256 }] });
    await placed.move(join(dir, path), join(otherAuditDir, at.log, at.segment));
  }
  for (const listing of listings.values()) {
    await placed.willMake(listingFile(otherAuditDir, listing.log));
    await writeListing(otherAuditDir, listing);
  }
  return [...listings.values()];
}

/**
 * The own log says what was restored, with the hash of each list, so that the restored logs cannot be changed unnoticed. `fault`: the code of
 * the error for which it was taken back.
 */
async function record(
  { made, host, contextd }: Manifest,
  logs: readonly LogListing[],
  fault: ErrorCode | null,
  { paths, clock, logger }: Omit<RestoreOptions, 'file'>,
): Promise<void> {
  const auditLog = createAuditLog({ dir: paths.auditDir, clock, logger });
  await auditLog.start();
  try {
    const hashes = Object.fromEntries(logs.map((listing) => [listing.log, hashOfListing(listing)]));
    await auditLog.append({
      ...NO_END,
      time: new Date(clock.now()).toISOString(),
      request_id: newRequestId(clock.now()),
      session: '',
      project: '',
      door: PERSON_DOOR,
      kind: 'person',
      tool: RESTORE_ACT,
      input: { made, host, contextd, logs: hashes },
      error_code: fault,
    });
  } finally {
    await auditLog.stop();
  }
}
