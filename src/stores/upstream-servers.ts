import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { type Database, integerOf, type Row, textOf } from './sqlite.ts';

/** What a server may use. Nothing else of the machine reaches it. */
export interface ServerSpec {
  /** The program and its arguments; empty for a server that is reached over HTTP. */
  readonly command: readonly string[];
  /** The URL of a server that is reached over HTTP; otherwise ''. */
  readonly url: string;
  /** True: requests to the URL carry the credential that is bound to its host. */
  readonly usesCredential: boolean;
  /** Hosts and groups of hosts, as `network:` grants name them. */
  readonly hosts: readonly string[];
  /** Outside the project. */
  readonly paths: readonly { readonly path: string; readonly isWritable: boolean }[];
  /** What it sees of the project, in whose folder it then runs. */
  readonly project: 'none' | 'read' | 'write';
  /** Where a person or a client would start the command: its relative paths are of there. Absent: the project. */
  readonly directory?: string;
  /** Absent: it is a server, and no catalogue file. */
  readonly catalogue?: StoredCatalogue;
}

/** A catalogue file as it was when a person added it, besides its definitions. */
export interface StoredCatalogue {
  readonly path: string;
  /** Answers of the protocol, as `src/upstream` checked them. */
  readonly answers: {
    readonly resources: Readonly<Record<string, JsonObject>>;
    readonly prompts: Readonly<Record<string, JsonObject>>;
  };
  /** Entries that cannot be used, and why. */
  readonly leftOut: readonly string[];
}

/** The definition of a tool or of something else that a server offers, as `src/upstream` writes it. */
export interface StoredTool {
  /** Absent: a tool. */
  readonly kind?: 'tool' | 'resource' | 'template' | 'prompt';
  readonly name: string;
  readonly text: string;
}

/** A server that a person added to a project. */
export interface StoredServer {
  readonly project: string;
  readonly name: string;
  readonly spec: ServerSpec;
  /** The values of its variables. They may be secrets. */
  readonly variables: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly addedMs: number;
  /** The account that added it, as ctxd named it. */
  readonly givenBy: string;
  /** Null before its first list. */
  readonly accepted: readonly StoredTool[] | null;
  readonly seen: readonly StoredTool[];
}

/** Kept in memory too, because every search for a tool asks. */
export interface UpstreamServerStore {
  /** Throws INTERNAL_ERROR for a row that cannot be read: guessing could widen what a server may use. */
  start(): Promise<void>;
  /** All projects; sorted by project and name. */
  all(): readonly StoredServer[];
  /** Sorted by name. */
  list(project: string): readonly StoredServer[];
  find(project: string, name: string): StoredServer | null;
  /** Replaces the one of the same name. */
  set(server: StoredServer): Promise<void>;
  remove(project: string, name: string): Promise<void>;
  forget(project: string): Promise<void>;
}

export function createUpstreamServerStore({ database }: { database: Database }): UpstreamServerStore {
  const held = new Map<string, StoredServer>();
  const keyOf = (project: string, name: string): string => `${project}\0${name}`;
  const all = (): StoredServer[] =>
    [...held.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, server]) => server);
  return {
    async start() {
      for (const row of await database.read('SELECT * FROM upstream_servers')) {
        const server = toServer(row);
        held.set(keyOf(server.project, server.name), server);
      }
    },
    all,
    list: (project) => all().filter((server) => server.project === project),
    find: (project, name) => held.get(keyOf(project, name)) ?? null,
    async set(server) {
      const { project, name, spec, variables, addedMs, givenBy, accepted, seen } = server;
      await database.write([
        {
          sql: `INSERT OR REPLACE INTO upstream_servers (project, name, spec, variables, added_ms, given_by, accepted, seen)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          params: [
            project,
            name,
            JSON.stringify(spec),
            JSON.stringify(variables),
            addedMs,
            givenBy,
            accepted === null ? '' : JSON.stringify(accepted),
            seen.length === 0 ? '' : JSON.stringify(seen),
          ],
        },
      ]);
      held.set(keyOf(project, name), server);
    },
    async remove(project, name) {
      await database.write([
        { sql: 'DELETE FROM upstream_servers WHERE project = ? AND name = ?', params: [project, name] },
      ]);
      held.delete(keyOf(project, name));
    },
    async forget(project) {
      await database.write([{ sql: 'DELETE FROM upstream_servers WHERE project = ?', params: [project] }]);
      for (const [key, server] of held) if (server.project === project) held.delete(key);
    },
  };
}

function toServer(row: Row): StoredServer {
  const [project, name] = [textOf(row, 'project'), textOf(row, 'name')];
  try {
    const accepted = textOf(row, 'accepted');
    return {
      project,
      name,
      spec: toSpec(JSON.parse(textOf(row, 'spec'))),
      variables: toVariables(JSON.parse(textOf(row, 'variables'))),
      addedMs: integerOf(row, 'added_ms'),
      givenBy: textOf(row, 'given_by'),
      accepted: accepted === '' ? null : toTools(JSON.parse(accepted)),
      seen: toTools(JSON.parse(textOf(row, 'seen') || '[]')),
    };
  } catch (cause) {
    throw new ContextdError('INTERNAL_ERROR', `the state database holds a damaged MCP server ${name} of ${project}`, {
      remedy: 'Run `ctxd doctor`.',
      cause,
    });
  }
}

function toSpec(value: Json): ServerSpec {
  if (!isJsonObject(value)) throw new TypeError('no object');
  const { command, url, usesCredential, hosts, paths, project, directory, catalogue } = value;
  if (typeof url !== 'string' || typeof usesCredential !== 'boolean') throw new TypeError('url');
  if (project !== 'none' && project !== 'read' && project !== 'write') throw new TypeError('project');
  if (directory !== undefined && typeof directory !== 'string') throw new TypeError('directory');
  const file = catalogue === undefined ? {} : { catalogue: toCatalogue(catalogue) };
  return {
    command: toTexts(command),
    url,
    usesCredential,
    hosts: toTexts(hosts),
    paths: toPaths(paths),
    project,
    ...(directory === undefined ? {} : { directory }),
    ...file,
  };
}

function toCatalogue(value: Json): StoredCatalogue {
  if (!isJsonObject(value) || typeof value.path !== 'string' || !isJsonObject(value.answers))
    throw new TypeError('catalogue');
  const { resources, prompts } = value.answers;
  return {
    path: value.path,
    answers: { resources: toObjects(resources), prompts: toObjects(prompts) },
    leftOut: toTexts(value.leftOut),
  };
}

function toObjects(value: Json | undefined): Record<string, JsonObject> {
  if (!isJsonObject(value)) throw new TypeError('answers');
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (!isJsonObject(one)) throw new TypeError('answer');
      return [key, one];
    }),
  );
}

function toPaths(value: Json | undefined): ServerSpec['paths'] {
  if (!Array.isArray(value)) throw new TypeError('paths');
  return value.map((item: Json) => {
    if (!isJsonObject(item) || typeof item.path !== 'string' || typeof item.isWritable !== 'boolean')
      throw new TypeError('path');
    return { path: item.path, isWritable: item.isWritable };
  });
}

function toTexts(value: Json | undefined): string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw new TypeError('no list of texts');
}

function toVariables(value: Json): Record<string, string> {
  if (!isJsonObject(value)) throw new TypeError('no object');
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}

const KINDS = ['tool', 'resource', 'template', 'prompt'] as const;

function toTools(value: Json): StoredTool[] {
  if (!Array.isArray(value)) throw new TypeError('no list');
  return value.map((item: Json) => {
    if (!isJsonObject(item) || typeof item.name !== 'string' || typeof item.text !== 'string')
      throw new TypeError('tool');
    const kind = KINDS.find((one) => one === item.kind);
    if (item.kind !== undefined && kind === undefined) throw new TypeError('kind');
    return { ...(kind === undefined ? {} : { kind }), name: item.name, text: item.text };
  });
}
