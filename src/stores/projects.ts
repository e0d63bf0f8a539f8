import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { Lock } from '../core/lock.ts';
import { pastableWord } from '../core/shell-quote.ts';
import {
  type Consent,
  type ConsentSubject,
  type Consents,
  compareText,
  grantSubject,
  type NewConsent,
  splitSubject,
  type ToolOrigin,
} from './consents.ts';
import { type Database, type Statement, textOf } from './sqlite.ts';

/** A tool that a person accepted for a project: this bundle with these grants, and no other. */
export interface AcceptedTool {
  name: string;
  bundleSha256: string;
  origin: ToolOrigin;
  grants: readonly string[];
}

export interface Project {
  /** Absolute real path. */
  root: string;
  /** Sorted by name. */
  tools: readonly AcceptedTool[];
}

/** The tools that a project accepts from now on, made from those that it accepted before. */
export type ToolChange = (held: readonly AcceptedTool[]) => readonly AcceptedTool[];

/** The projects that `ctxd init` registered. Kept in memory too, because every call asks for its own. */
export interface ProjectStore {
  /** Comes after the start of the consents. */
  start(): Promise<void>;
  /** Registers the project and sets its accepted core tools. Returns false if nothing changed. */
  register(root: string, coreTools: readonly AcceptedTool[]): Promise<boolean>;
  /**
   * Changes the accepted tools of a registered project, in one transaction with the statements in `also`. Returns false if
   * no tool changed; the statements are run all the same.
   */
  change(root: string, change: ToolChange, also?: readonly Statement[]): Promise<boolean>;
  /** Forgets the project and every consent given for it. Returns false if it was not registered. */
  unregister(root: string): Promise<boolean>;
  find(root: string): Promise<Project | null>;
  /** The refusal of a directory that is not registered: how it is registered here, and nowhere else. */
  notRegistered(code: 'NOT_FOUND' | 'PERMISSION_DENIED', root: string): ContextdError;
  /** The roots of all registered projects, unsorted. */
  roots(): readonly string[];
  /** Sorted by root. */
  list(): Promise<readonly Project[]>;
}

export interface ProjectDeps {
  database: Database;
  consents: Consents;
  clock: Clock;
  /** CONTEXTD_HOME of the daemon; null if it has none. */
  contextdHome: string | null;
}

/** A client may have another CONTEXTD_HOME than the person had for `ctxd init`: then it reaches another daemon. */
export function notRegistered(
  code: 'NOT_FOUND' | 'PERMISSION_DENIED',
  root: string,
  contextdHome: string | null,
): ContextdError {
  const directory = pastableWord(root) ?? 'DIRECTORY';
  const [where, home] =
    contextdHome === null
      ? ['', '']
      : [` of the contextd in ${contextdHome}`, `CONTEXTD_HOME=${pastableWord(contextdHome) ?? 'DIRECTORY'} `];
  return new ContextdError(code, `${root} is not a registered project${where}`, {
    remedy: `Run \`${home}ctxd init ${directory}\`. If that was done with another CONTEXTD_HOME, start the client with the same.`,
    details: { project_root: root },
  });
}

export function createProjectStore(deps: ProjectDeps): ProjectStore {
  return new Projects(deps);
}

class Projects implements ProjectStore {
  readonly #deps: ProjectDeps;
  /** By root, with the consents that the project was read from. */
  readonly #projects = new Map<string, { project: Project; consents: readonly Consent[] }>();
  /** Changes run one after another, so that memory and database agree. */
  readonly #changes = new Lock();

  constructor(deps: ProjectDeps) {
    this.#deps = deps;
  }

  notRegistered(code: 'NOT_FOUND' | 'PERMISSION_DENIED', root: string): ContextdError {
    return notRegistered(code, root, this.#deps.contextdHome);
  }

  async start(): Promise<void> {
    const rows = await this.#deps.database.read('SELECT root FROM projects');
    for (const row of rows) this.#load(textOf(row, 'root'));
  }

  register(root: string, coreTools: readonly AcceptedTool[]): Promise<boolean> {
    return this.change(root, (held) => [...coreTools, ...held.filter(({ origin }) => origin === 'installed')]);
  }

  change(root: string, change: ToolChange, also: readonly Statement[] = []): Promise<boolean> {
    return this.#changes.run(async () => {
      const { consents, clock } = this.#deps;
      const tools = change(acceptedTools(consents.list(root)));
      const wanted = new Map(tools.flatMap(consentsOf).map((consent) => [consent.subject, consent]));
      const held = consents.list(root).filter(({ subject }) => isOfTool(subject));
      const withdraw = held.map(({ subject }) => subject).filter((subject) => !wanted.has(subject));
      const give = [...wanted.values()].filter(({ subject, hash }) => !consents.has(root, subject, hash));
      const isSame = this.#projects.has(root) && withdraw.length === 0 && give.length === 0;
      if (isSame && also.length === 0) return false;
      const sql = 'INSERT INTO projects VALUES (?, ?) ON CONFLICT DO NOTHING';
      await consents.change(root, { withdraw, give }, [{ sql, params: [root, clock.now()] }, ...also]);
      this.#load(root);
      return !isSame;
    });
  }

  unregister(root: string): Promise<boolean> {
    return this.#changes.run(async () => {
      if (!this.#projects.has(root)) return false;
      const { consents } = this.#deps;
      const withdraw = consents.list(root).map(({ subject }) => subject);
      await consents.change(root, { withdraw }, [{ sql: 'DELETE FROM projects WHERE root = ?', params: [root] }]);
      return this.#projects.delete(root);
    });
  }

  async find(root: string): Promise<Project | null> {
    const known = this.#projects.get(root);
    if (known === undefined) return null;
    return known.consents === this.#deps.consents.list(root) ? known.project : this.#load(root);
  }

  roots(): readonly string[] {
    return [...this.#projects.keys()];
  }

  async list(): Promise<readonly Project[]> {
    const projects = await Promise.all([...this.#projects.keys()].map((root) => this.find(root)));
    return projects.filter((project) => project !== null).sort((a, b) => compareText(a.root, b.root));
  }

  #load(root: string): Project {
    const consents = this.#deps.consents.list(root);
    const project = { root, tools: acceptedTools(consents) };
    this.#projects.set(root, { project, consents });
    return project;
  }
}

/** The consents that a person gives by accepting a tool. */
function consentsOf({ name, bundleSha256: hash, origin, grants }: AcceptedTool): NewConsent[] {
  return [
    { subject: `tool:${origin}:${name}`, hash },
    ...grants.map((grant) => ({ subject: grantSubject(name, grant), hash })),
  ];
}

/** The accepted tools among the consents of a project. A grant counts only for the bundle it was given to. */
function acceptedTools(consents: readonly Consent[]): AcceptedTool[] {
  const tools = consents.flatMap(({ subject, hash }): AcceptedTool[] => {
    const [kind, origin, name] = splitSubject(subject);
    if (kind !== 'tool' || (origin !== 'core' && origin !== 'installed')) return [];
    const prefix = grantSubject(name, '');
    const grants = consents.filter((one) => one.subject.startsWith(prefix) && one.hash === hash);
    return [{ name, bundleSha256: hash, origin, grants: grants.map((one) => one.subject.slice(prefix.length)) }];
  });
  return tools.sort((a, b) => compareText(a.name, b.name));
}

function isOfTool(subject: ConsentSubject): boolean {
  const [kind] = splitSubject(subject);
  return kind === 'tool' || kind === 'grant';
}
