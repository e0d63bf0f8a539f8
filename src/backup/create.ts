import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import type { SegmentSize } from '../audit/log.ts';
import { listSegments } from '../audit/segments.ts';
import { hashFiles } from '../catalog/bundle.ts';
import { readConfigFile } from '../config/load.ts';
import type { Paths } from '../config/paths.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import { integerOf, textOf } from '../stores/sqlite.ts';
import { packBackup, readBackup } from './archive.ts';
import { branchesWithFiles, exportBranches, type LeftBranch } from './branch-layers.ts';
import { linkOrCopy, namesIn } from './files.ts';
import { BACKUP_FORMAT, type BackedUpFile, logName, MANIFEST, type Manifest, SETTINGS } from './manifest.ts';
import { BACKED_UP, type BackedUpDatabase, leftOut } from './tables.ts';
import { contentsInFiles, dropContent, knownSessions, type LeftOut, removeTags } from './tags.ts';
import { exportUndo } from './undo-files.ts';

export interface BackupOptions {
  paths: Paths;
  /** Absolute. It must not exist. */
  target: string;
  /** What the daemon copied (rpc CopyState). */
  copy: { readonly directory: string; readonly segments: readonly SegmentSize[] };
  version: string;
  host: string;
  nowMs: number;
  /** False leaves the files of undo, checkpoints and branches out. */
  withFiles: boolean;
}

export interface CreatedBackup {
  readonly file: string;
  readonly bytes: number;
  readonly artifacts: number;
  readonly segments: number;
  readonly tools: number;
  /** Projects whose undo, checkpoints and branches go along with the files that they need. */
  readonly projects_with_files: number;
  /** `variables`: names of `tools.env`, whose values may be secrets. */
  readonly left_out: LeftOut & {
    readonly variables: readonly string[];
    /** Branches that lose the files that only they have. */
    readonly branches: readonly LeftBranch[];
    /** Projects without a directory on this machine: undo and checkpoints lose their files. */
    readonly projects: readonly string[];
    readonly rows: Readonly<Record<string, number>>;
  };
}

/**
 * Makes a backup of a copied state, without the keys: what only they can read or make is left out, and everything else no longer
 * depends on them. Reads the backup once more before it returns. Throws CONFLICT if the target exists, and STORAGE_FULL.
 */
export async function createBackup(options: BackupOptions): Promise<CreatedBackup> {
  const { paths, target, copy, version, host, nowMs } = options;
  const dir = join(copy.directory, 'backup');
  await mkdir(dir, { mode: 0o700 });
  const made = new Date(nowMs).toISOString();
  const { left, schemas } = await exportDatabases(dir, options);
  await exportAudit(dir, options, logName(host, made));
  await exportTools(dir, paths.toolsDir);
  const variables = await exportSettings(dir, paths);
  const files = await listFiles(dir);
  const manifest: Manifest = { format: BACKUP_FORMAT, contextd: version, made, host, schemas, files };
  await writeFile(join(dir, MANIFEST), JSON.stringify(manifest), { mode: 0o600 });
  await packBackup(dir, manifest, target);
  await proveReadable(target);
  const count = (folder: string): number => files.filter(({ path }) => path.startsWith(folder)).length;
  return {
    file: target,
    bytes: (await stat(target)).size,
    artifacts: count('artifacts/'),
    segments: count('audit/'),
    tools: new Set(files.flatMap(({ path }) => (path.startsWith('tools/') ? [path.split('/')[1]] : []))).size,
    projects_with_files: new Set(files.flatMap(({ path }) => (path.startsWith('undo/') ? [path.split('/')[2]] : [])))
      .size,
    left_out: { ...left, variables },
  };
}

async function proveReadable(target: string): Promise<void> {
  try {
    await readBackup(target, async (_file, bytes) => {
      for await (const _ of bytes);
    });
  } catch (thrown) {
    await rm(target, { force: true });
    throw thrown;
  }
}

async function exportDatabases(to: string, { paths, copy: { directory: from }, nowMs, withFiles }: BackupOptions) {
  const opened = BACKED_UP.map((one) => ({ one, database: new DatabaseSync(join(from, one.entry)) }));
  try {
    const [state, , events] = opened;
    if (state === undefined || events === undefined) throw new Error('there are three databases');
    const sessions = knownSessions(state.database, events.database);
    await exportArtifacts(state.database, paths.artifactsDir, join(to, 'artifacts'), nowMs);
    const files = await exportFiles(to, state.database, paths, withFiles ? nowMs : null);
    const tagged = removeTags(state.database, sessions, new Set(files.branches.map(({ id }) => id)));
    const rows: Record<string, number> = {};
    for (const { one, database } of opened) {
      for (const table of leftOut(one)) {
        const { changes } = database.prepare(`DELETE FROM ${table}`).run();
        if (one.tables[table] === 'stays' && changes > 0) rows[table] = Number(changes);
      }
      dropRebuilt(database, one);
      // A new file, so that no page of the copy goes along.
      database.prepare('VACUUM INTO ?').run(join(to, one.entry));
    }
    const schemas = Object.fromEntries(opened.map(({ one, database }) => [one.entry, versionOf(database)]));
    return { left: { ...tagged, ...files, rows }, schemas };
  } finally {
    for (const { database } of opened) database.close();
  }
}

const NOT_ASKED = '--no-files was given';

/** What undo, checkpoints and branches need, up to a time; null: nothing. Returns what goes without. */
async function exportFiles(
  to: string,
  state: DatabaseSync,
  { undoDir, layersDir }: Pick<Paths, 'undoDir' | 'layersDir'>,
  madeMs: number | null,
): Promise<{ branches: LeftBranch[]; projects: string[] }> {
  if (madeMs === null)
    return { branches: branchesWithFiles(state).map(({ id }) => ({ id, why: NOT_ASKED })), projects: [] };
  // The layers before the store: a branch that is merged meanwhile has its files there.
  const branches = await exportBranches(to, state, layersDir);
  const projects: string[] = [];
  for (const row of state.prepare('SELECT root FROM projects ORDER BY root').all()) {
    const project = textOf(row, 'root');
    if (!(await exportUndo(to, project, undoDir, madeMs))) projects.push(project);
  }
  return { branches, projects };
}

/** Links each content that is in a file under its number. One that is gone has expired meanwhile. */
async function exportArtifacts(state: DatabaseSync, from: string, to: string, nowMs: number): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const { id, hash, bytes } of contentsInFiles(state)) {
    const name = hash.toString('hex');
    const target = join(to, String(id));
    const isThere = await linkOrCopy(join(from, name.slice(0, 2), name.slice(2)), target);
    if (isThere && (await stat(target)).size === bytes) continue;
    await rm(target, { force: true });
    dropContent(state, id, nowMs);
  }
}

export function dropRebuilt(database: DatabaseSync, { rebuilt }: BackedUpDatabase): void {
  if (rebuilt === null) return;
  const tables = database
    .prepare(`SELECT name FROM sqlite_master WHERE name GLOB ? AND sql LIKE 'CREATE VIRTUAL TABLE%'`)
    .all(rebuilt);
  for (const row of tables) database.exec(`DROP TABLE "${textOf(row, 'name')}"`);
}

export function versionOf(database: DatabaseSync): number {
  return integerOf(database.prepare('PRAGMA user_version').get() ?? {}, 'user_version');
}

/** The log of this machine as far as the copy goes, and the logs of others that it has. */
async function exportAudit(dir: string, { paths, copy }: BackupOptions, own: string): Promise<void> {
  const to = join(dir, 'audit');
  await mkdir(join(to, own), { recursive: true, mode: 0o700 });
  for (const { name, bytes } of copy.segments) {
    const source = join(paths.auditDir, name);
    const end = bytes === 0 ? {} : { end: bytes - 1 };
    await pipeline(createReadStream(source, end), createWriteStream(join(to, own, name), { flags: 'wx', mode: 0o600 }));
    const size = (await stat(join(to, own, name))).size;
    if (size === bytes) continue;
    throw new ContextdError('CONFLICT', `${source} changed while it was copied: it has ${size} of ${bytes} bytes`, {
      remedy: 'Run `ctxd audit verify`, then make the backup again.',
    });
  }
  for (const log of await namesIn(paths.otherAuditDir)) {
    await mkdir(join(to, log), { mode: 0o700 });
    for (const { name, path } of await listSegments(join(paths.otherAuditDir, log)))
      await cp(path, join(to, log, name));
  }
}

/** The installed tools that a project may use or return to. Core tools come with contextd. */
async function exportTools(dir: string, toolsDir: string): Promise<void> {
  const state = new DatabaseSync(join(dir, 'contextd.db'), { readOnly: true });
  const rows = state.prepare('SELECT DISTINCT bundle_sha256 FROM tool_versions').all();
  state.close();
  const present = new Set(await namesIn(toolsDir));
  for (const bundle of rows.map((row) => textOf(row, 'bundle_sha256')).filter((name) => present.has(name))) {
    for (const file of (await hashFiles(join(toolsDir, bundle))).keys()) {
      const target = join(dir, 'tools', bundle, file);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await cp(join(toolsDir, bundle, file), target);
    }
  }
}

/** Without the variables of tools, whose values may be secrets. Returns their names. Throws SCHEMA_INVALID. */
async function exportSettings(dir: string, paths: Pick<Paths, 'configFile'>): Promise<string[]> {
  const { tools, ...others } = await readConfigFile(paths);
  const { env, ...moved } = isJsonObject(tools) ? tools : {};
  const settings = { ...others, ...(Object.keys(moved).length === 0 ? {} : { tools: moved }) };
  if (Object.keys(settings).length > 0)
    await writeFile(join(dir, SETTINGS), JSON.stringify(settings, null, 2), { mode: 0o600 });
  return isJsonObject(env) ? Object.keys(env) : [];
}

const EXECUTABLE = 0o111;

async function listFiles(dir: string): Promise<BackedUpFile[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1))
    .sort();
  const files: BackedUpFile[] = [];
  for (const path of paths) {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(join(dir, path))) hash.update(chunk);
    const { size, mode } = await stat(join(dir, path));
    const isProgram = path.startsWith('tools/') && (mode & EXECUTABLE) !== 0;
    files.push({ path, bytes: size, sha256: hash.digest('hex'), ...(isProgram ? { is_program: true } : {}) });
  }
  return files;
}
