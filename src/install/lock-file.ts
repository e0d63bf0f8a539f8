import type { ToolInfo } from '../call/management.ts';
import { TOOL_NAME_PATTERN } from '../catalog/tool-name.ts';
import { ContextdError } from '../core/errors.ts';
import { invisibleIn } from '../core/invisible.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { isBelow } from '../core/paths.ts';

/** In the root of a project. A proposal for those who share the project: it allows nothing on any machine. */
export const LOCK_FILE = 'contextd.lock';

/** One tool as the lock file names it. */
export interface LockedTool {
  name: string;
  version: string;
  /** In the grammar of docs/sources.md. A place inside the project is written relative to its root. */
  source: string;
  /** "" unless the source is a git repository. */
  commit: string;
  /** Of the archive, hex; "" unless the source is one. */
  archiveSha256: string;
  /** Of the bundle: every file, its path and its execute bit. */
  bundleSha256: string;
  grants: readonly string[];
}

const FORMAT = 1;
const HASH = /^[0-9a-f]{64}$/;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Reads a lock file. Throws SCHEMA_INVALID with what is wrong, and VERSION_MISMATCH for a newer format. */
export function parseLock(text: string): LockedTool[] {
  const lock = parseObject(text);
  if (lock.format !== FORMAT) {
    if (typeof lock.format === 'number' && lock.format > FORMAT) {
      throw new ContextdError(
        'VERSION_MISMATCH',
        `${LOCK_FILE} has format ${lock.format}, this contextd reads ${FORMAT}`,
        {
          remedy: 'Update contextd.',
        },
      );
    }
    throw invalid(`"format" must be ${FORMAT}`);
  }
  if (!isJsonObject(lock.tools)) throw invalid('"tools" must be an object');
  return Object.entries(lock.tools).map(([name, entry]) => toolOf(name, entry));
}

/** The text of a lock file: one object per tool, sorted by name, so that changes of two people seldom meet. */
export function formatLock(tools: readonly LockedTool[]): string {
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
  const entries = sorted.map(({ name, version, source, commit, archiveSha256, bundleSha256, grants }) => [
    name,
    {
      version,
      source,
      ...(commit === '' ? {} : { commit }),
      ...(archiveSha256 === '' ? {} : { archive_sha256: archiveSha256 }),
      sha256: bundleSha256,
      grants,
    },
  ]);
  return `${JSON.stringify({ format: FORMAT, tools: Object.fromEntries(entries) }, null, 2)}\n`;
}

/** The entry of an installed tool of the project in `root`; null for a tool of contextd. */
export function lockedTool(
  { name, version, bundle_sha256, grants, installed_from }: ToolInfo,
  root: string,
): LockedTool | null {
  if (installed_from === null) return null;
  const { commit, archive_sha256: archiveSha256 } = installed_from;
  const source = portable(installed_from.source, root);
  return { name, version, source, commit, archiveSha256, bundleSha256: bundle_sha256, grants };
}

/** Colleagues have the project somewhere else. */
function portable(source: string, root: string): string {
  if (source === root) return '.';
  return isBelow(root, source) ? `.${source.slice(root.length)}` : source;
}

/** True for a source that only one machine has. */
export function isOfMachine({ source }: LockedTool): boolean {
  return source.startsWith('/') || source.startsWith('git::file://');
}

function toolOf(name: string, entry: Json | undefined): LockedTool {
  const where = `"tools.${name.slice(0, 100)}"`;
  if (!TOOL_NAME_PATTERN.test(name)) throw invalid(`${where} is not the name of a tool`);
  if (!isJsonObject(entry)) throw invalid(`${where} must be an object`);
  const text = (key: string, pattern: RegExp): string => {
    const value = entry[key] ?? '';
    if (typeof value === 'string' && pattern.test(value) && invisibleIn(value) === null) return value;
    throw invalid(`${where} has no usable "${key}"`);
  };
  const { grants } = entry;
  const isList = Array.isArray(grants) && grants.every((grant): grant is string => typeof grant === 'string');
  if (!isList) throw invalid(`${where} has no usable "grants"`);
  return {
    name,
    version: text('version', /^[0-9A-Za-z.+-]{1,100}$/),
    source: text('source', /^.{1,2048}$/u),
    commit: text('commit', new RegExp(`^$|${COMMIT.source}`)),
    archiveSha256: text('archive_sha256', new RegExp(`^$|${HASH.source}`)),
    bundleSha256: text('sha256', HASH),
    grants,
  };
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    throw invalid('it is not JSON (a merge conflict?)');
  }
  throw invalid('it is not an object');
}

function invalid(what: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `${LOCK_FILE} cannot be used: ${what}`, {
    remedy: `Restore it from version control, or delete it and install the tools again.`,
  });
}
