import { isJsonObject, type JsonObject } from '../core/json.ts';
import { auditOf, contentOf, projectFileOf, toolOf } from './entry-paths.ts';
import { BACKED_UP } from './tables.ts';

/** The first entry of a backup: what else is in it. */
export const MANIFEST = 'backup.json';
/** Increased when an older contextd cannot read a backup any more. Format 1 has no files of undo, checkpoints and branches. */
export const BACKUP_FORMAT = 2;
/** The settings of a person, `config.json`. */
export const SETTINGS = 'settings.json';

export interface BackedUpFile {
  /** One of the forms of `isEntryPath`. */
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** True for a program of an installed tool. */
  readonly is_program?: boolean;
}

export interface Manifest {
  readonly format: number;
  /** The version of contextd that made it. */
  readonly contextd: string;
  /** ISO 8601, UTC. */
  readonly made: string;
  readonly host: string;
  /** Schema version of each database, by its entry. */
  readonly schemas: Readonly<Record<string, number>>;
  readonly files: readonly BackedUpFile[];
}

/** No other path is in a backup, so that none leads out of the state. */
function isEntryPath(path: string): boolean {
  if (path === SETTINGS || BACKED_UP.some(({ entry }) => entry === path)) return true;
  return [contentOf, auditOf, toolOf, projectFileOf].some((formOf) => formOf(path) !== null);
}

/** The name of the folder for the audit log of a machine. */
export function logName(host: string, made: string): string {
  const name = host.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '') || 'machine';
  return `${name.slice(0, 60)}-${made.slice(0, 19).replaceAll(/[^0-9T]/g, '')}`;
}

/** Throws Error, which says what is wrong. */
export function parseManifest(text: string): Manifest {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new Error(`${MANIFEST} is no object`);
  const { format, contextd, made, host, schemas, files } = value;
  if (typeof format !== 'number' || format < 1 || typeof contextd !== 'string')
    throw new Error(`${MANIFEST} names no version`);
  if (format > BACKUP_FORMAT) return { format, contextd, made: '', host: '', schemas: {}, files: [] };
  if (typeof made !== 'string' || Number.isNaN(Date.parse(made)) || typeof host !== 'string')
    throw new Error(`${MANIFEST} does not say when and where it was made`);
  if (!Array.isArray(files)) throw new Error(`${MANIFEST} lists no files`);
  const listed = files.map(toFile);
  const twice = new Set(listed.map(({ path }) => path)).size < listed.length;
  if (twice) throw new Error(`${MANIFEST} lists a file twice`);
  const missing = BACKED_UP.find(({ entry }) => !listed.some(({ path }) => path === entry));
  if (missing !== undefined) throw new Error(`${missing.entry} is missing`);
  return { format, contextd, made, host, schemas: toSchemas(schemas), files: listed };
}

function toSchemas(value: unknown): Record<string, number> {
  const given: JsonObject = isJsonObject(value) ? value : {};
  return Object.fromEntries(
    BACKED_UP.map(({ entry }) => {
      const version = given[entry];
      if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1)
        throw new Error(`${MANIFEST} does not say the version of ${entry}`);
      return [entry, version];
    }),
  );
}

function toFile(value: unknown): BackedUpFile {
  const { path, bytes, sha256, is_program } = isJsonObject(value) ? value : {};
  if (typeof path !== 'string' || !isEntryPath(path))
    throw new Error(`${MANIFEST} names ${JSON.stringify(path ?? null).slice(0, 200)}, which is no place in a state`);
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0) throw new Error(`${path} has no size`);
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`${path} has no hash`);
  return { path, bytes, sha256, ...(is_program === true ? { is_program } : {}) };
}
