import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json } from '../core/json.ts';
import { type Database, textOf } from './sqlite.ts';

/** A toolchain that a person allowed for the commands of every project. */
export interface AllowedToolchain {
  readonly name: string;
  /** Absolute real paths. */
  readonly mounts: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

/** What a person allowed on this machine. Consents of a project are in consents.ts; these hold for every project. */
export interface ToolchainStore {
  start(): Promise<void>;
  /** Sorted by name. */
  list(): readonly AllowedToolchain[];
  /** The person's PATH when the toolchains were last looked for; empty before that. */
  path(): readonly string[];
  /** Replaces everything. */
  set(toolchains: readonly AllowedToolchain[], path: readonly string[]): Promise<void>;
}

export function createToolchainStore(deps: { database: Database; clock: Clock }): ToolchainStore {
  let allowed: readonly AllowedToolchain[] = [];
  let path: readonly string[] = [];
  return {
    async start() {
      const rows = await deps.database.read('SELECT name, mounts, variables FROM toolchains ORDER BY name');
      allowed = rows.map((row) => ({
        name: textOf(row, 'name'),
        mounts: parsePaths(textOf(row, 'mounts')),
        variables: parseVariables(textOf(row, 'variables')),
      }));
      const [own] = await deps.database.read('SELECT path FROM host_path');
      path = own === undefined ? [] : parsePaths(textOf(own, 'path'));
    },
    list: () => allowed,
    path: () => path,
    async set(toolchains, newPath) {
      await deps.database.write([
        { sql: 'DELETE FROM toolchains', params: [] },
        { sql: 'DELETE FROM host_path', params: [] },
        { sql: 'INSERT INTO host_path (path) VALUES (?)', params: [JSON.stringify(newPath)] },
        ...toolchains.map(({ name, mounts, variables }) => ({
          sql: 'INSERT INTO toolchains (name, mounts, variables, allowed_ms) VALUES (?, ?, ?, ?)',
          params: [name, JSON.stringify(mounts), JSON.stringify(variables), deps.clock.now()],
        })),
      ]);
      allowed = toolchains.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      path = [...newPath];
    },
  };
}

function parsePaths(text: string): string[] {
  const value: Json = JSON.parse(text);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw damaged(text);
}

function parseVariables(text: string): Record<string, string> {
  const value: Json = JSON.parse(text);
  if (!isJsonObject(value)) throw damaged(text);
  return Object.fromEntries(
    Object.entries(value).map(([name, path]) => {
      if (typeof path !== 'string') throw damaged(text);
      return [name, path];
    }),
  );
}

function damaged(text: string): ContextdError {
  return new ContextdError('INTERNAL_ERROR', `the state database holds a damaged toolchain: ${text.slice(0, 200)}`, {
    remedy: 'Run `ctxd doctor`.',
  });
}
