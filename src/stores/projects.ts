import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { textOf } from './rows.ts';
import type { Database, Row, Statement } from './sqlite.ts';

/** A tool a person accepted for a project: this bundle with these grants, and no other. */
export interface AcceptedTool {
  name: string;
  bundleSha256: string;
  origin: 'core' | 'installed';
  grants: readonly string[];
}

export interface Project {
  /** Absolute real path. */
  root: string;
  /** Sorted by name. */
  tools: readonly AcceptedTool[];
}

/** The projects `ctxd init` registered. Kept whole in memory: `find` is on the path of every call. */
export interface ProjectStore {
  start(): Promise<void>;
  /** Sets the accepted tools of a project. False when nothing changed. */
  register(root: string, tools: readonly AcceptedTool[]): Promise<boolean>;
  /** False when it was not registered. */
  unregister(root: string): Promise<boolean>;
  find(root: string): Promise<Project | null>;
  /** Sorted by root. */
  list(): Promise<readonly Project[]>;
}

export function createProjectStore(deps: { database: Database; clock: Clock }): ProjectStore {
  return new Projects(deps);
}

class Projects implements ProjectStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #projects = new Map<string, Project>();
  /** Changes run one after another, so that memory and database agree. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(deps: { database: Database; clock: Clock }) {
    this.#database = deps.database;
    this.#clock = deps.clock;
  }

  async start(): Promise<void> {
    const roots = await this.#database.read('SELECT root FROM projects');
    const rows = await this.#database.read('SELECT * FROM project_tools ORDER BY root, name');
    for (const root of roots.map((row) => textOf(row, 'root'))) {
      this.#projects.set(root, { root, tools: rows.filter((row) => row.root === root).map(toTool) });
    }
  }

  register(root: string, tools: readonly AcceptedTool[]): Promise<boolean> {
    return this.#change(async () => {
      const project = { root, tools: normalize(tools) };
      if (JSON.stringify(this.#projects.get(root)) === JSON.stringify(project)) return false;
      await this.#database.write(this.#replace(project));
      this.#projects.set(root, project);
      return true;
    });
  }

  unregister(root: string): Promise<boolean> {
    return this.#change(async () => {
      if (!this.#projects.has(root)) return false;
      await this.#database.write([{ sql: 'DELETE FROM projects WHERE root = ?', params: [root] }]);
      return this.#projects.delete(root);
    });
  }

  async find(root: string): Promise<Project | null> {
    return this.#projects.get(root) ?? null;
  }

  async list(): Promise<readonly Project[]> {
    return [...this.#projects.values()].sort((a, b) => compare(a.root, b.root));
  }

  #change(task: () => Promise<boolean>): Promise<boolean> {
    const change = this.#lastChange.then(task);
    this.#lastChange = change.catch(() => undefined);
    return change;
  }

  #replace({ root, tools }: Project): Statement[] {
    return [
      { sql: 'INSERT INTO projects VALUES (?, ?) ON CONFLICT DO NOTHING', params: [root, this.#clock.now()] },
      { sql: 'DELETE FROM project_tools WHERE root = ?', params: [root] },
      ...tools.map((tool) => ({
        sql: 'INSERT INTO project_tools (root, name, bundle_sha256, origin, grants) VALUES (?, ?, ?, ?, ?)',
        params: [root, tool.name, tool.bundleSha256, tool.origin, JSON.stringify(tool.grants)],
      })),
    ];
  }
}

/** Fixed order of tools, grants and keys: equal registrations have equal JSON. */
function normalize(tools: readonly AcceptedTool[]): AcceptedTool[] {
  return tools
    .map(({ name, bundleSha256, origin, grants }) => ({
      name,
      bundleSha256,
      origin,
      grants: [...grants].sort(compare),
    }))
    .sort((a, b) => compare(a.name, b.name));
}

function toTool(row: Row): AcceptedTool {
  return {
    name: textOf(row, 'name'),
    bundleSha256: textOf(row, 'bundle_sha256'),
    origin: toOrigin(textOf(row, 'origin')),
    grants: toGrants(textOf(row, 'grants')),
  };
}

function toOrigin(text: string): AcceptedTool['origin'] {
  if (text === 'core' || text === 'installed') return text;
  throw damaged('origin', text);
}

/** A grant that cannot be read refuses the start: guessing could widen what a person allowed. */
function toGrants(text: string): string[] {
  const grants: Json = JSON.parse(text);
  if (!Array.isArray(grants)) throw damaged('grants', text);
  return grants.map((grant: Json) => {
    if (typeof grant !== 'string') throw damaged('grants', text);
    return grant;
  });
}

function damaged(column: string, value: string): ContextdError {
  return new ContextdError('INTERNAL_ERROR', `the accepted tools in the state database have ${column} ${value}`, {
    remedy: 'Run `ctxd doctor`.',
  });
}

/** By UTF-16 units: the same on every machine, and as SQLite orders ASCII. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
