import type { CallToolResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import type { Denial } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import { PACKAGE_VERSION } from '../../protocol/versions.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import type { StoredServer, UpstreamServerStore } from '../../stores/upstream-servers.ts';
import { type CatalogueAnswers, cannedPrompt, cannedRead } from '../../upstream/catalogue-file.ts';
import type { RequestLimits } from '../../upstream/connection.ts';
import type {
  UpstreamCall,
  UpstreamPrompt,
  UpstreamPromptRequest,
  UpstreamRead,
  UpstreamResource,
  UpstreamServers,
  UpstreamSnapshot,
} from '../../upstream/contract.ts';
import {
  acceptable,
  changesBetween,
  definitionsHash,
  differing,
  type SeenTools,
  type ToolChange,
  unchanged,
} from '../../upstream/definitions.ts';
import { type ServerState, UpstreamServer } from '../../upstream/server.ts';
import type { ServerSession } from '../../upstream/session.ts';
import { snapshotOf } from '../../upstream/snapshot.ts';
import { type LinkDeps, UpstreamLinks } from './links.ts';
import { grantCommand } from './refusals.ts';
import { changedAgain, runsNothing } from './server-faults.ts';
import { openServerProcess, storageOf } from './server-process.ts';
import { type UnseenPaths, unseenPaths } from './unseen-paths.ts';

export interface UpstreamsDeps extends LinkDeps {
  store: UpstreamServerStore;
  sandbox: Pick<Sandbox, 'open' | 'storage'>;
}

/** How a server is now, or that it is a file. */
export type LiveServer = Pick<UpstreamServer, 'protocol' | 'lastError' | 'lastLines' | 'leftOut'> & {
  readonly state: ServerState | 'catalogue';
};

/** What waits for a person: the tools whose definitions they have not accepted. */
export interface PendingChanges {
  /** Identifies what the server has now. */
  readonly sha256: string;
  readonly changes: readonly ToolChange[];
}

/** How something is read from a server or a catalogue file. */
interface Reading<T> {
  /** Throws if it is not what a person accepted. */
  check(): unknown;
  canned(answers: CatalogueAnswers): T;
  ask(session: ServerSession, limits: RequestLimits): Promise<T>;
}

/** The MCP servers of all projects: what a person added, the processes of those that run, and the tools that are accepted. */
export class Upstreams implements UpstreamServers {
  readonly name = 'upstreams';
  /** What requests of MCP clients are passed on through. */
  readonly links: UpstreamLinks;
  readonly #deps: UpstreamsDeps;
  /** Those that were used. */
  readonly #servers = new Map<string, UpstreamServer>();
  /** What the network refused to the last process of each. */
  readonly #refusals = new Map<string, readonly Denial[]>();
  /** By project; made again when anything changes. */
  readonly #snapshots = new Map<string, UpstreamSnapshot>();
  readonly #listeners = new Set<() => void>();

  constructor(deps: UpstreamsDeps) {
    this.#deps = deps;
    this.links = new UpstreamLinks(deps);
  }

  async start(): Promise<void> {}

  /** Stops every server. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all([this.links.stop(), ...Array.from(this.#servers.values(), (server) => server.stop())]);
    this.#servers.clear();
  }

  async snapshot(project: string): Promise<UpstreamSnapshot> {
    return this.#snapshotOf(project);
  }

  notStarted(project: string, name: string): ContextdError | undefined {
    if (this.#deps.store.find(project, name)?.accepted !== null) return undefined;
    return this.#servers.get(keyOf(project, name))?.lastFault ?? undefined;
  }

  async call(project: string, { tool, ...call }: UpstreamCall): Promise<CallToolResult> {
    const check = (): void => {
      // The same definition, so that nothing is called that a person has not accepted.
      if (this.#snapshotOf(project).byId.get(tool.id)?.definition === tool.definition) return;
      if (isEqual(this.#snapshotOf(project).byId.get(tool.id)?.definition, tool.definition)) return;
      throw new ContextdError('HYDRATE_FAILED', `the MCP server ${tool.server} does not have ${tool.id} as it was`, {
        remedy: `Find it again with tool_browse. A person sees what changed: \`ctxd upstream approve ${tool.server}\`.`,
      });
    };
    check();
    const server = this.find(project, tool.server);
    if (server.spec.catalogue !== undefined) throw runsNothing(server);
    return this.#serverOf(server).call({ ...call, ...tool }, check);
  }

  read(project: string, { resource, uri, ...limits }: UpstreamRead): Promise<ReadResourceResult> {
    return this.#reading(project, resource, limits, {
      // A resource is data: the server says itself whether it has it.
      check: () => resource.isTemplate && this.#checkOffered(project, 'resources', resource),
      canned: (answers) => cannedRead(answers, uri),
      ask: (session, left) => session.readResource(uri, left),
    });
  }

  getPrompt(project: string, { prompt, args, ...limits }: UpstreamPromptRequest): Promise<GetPromptResult> {
    return this.#reading(project, prompt, limits, {
      check: () => this.#checkOffered(project, 'prompts', prompt),
      canned: (answers) => cannedPrompt(answers, prompt.upstreamName, args),
      ask: (session, left) => session.getPrompt(prompt.upstreamName, args, left),
    });
  }

  /** `check` is called again when the lists of the server are known. */
  async #reading<T>(
    project: string,
    { server: name }: UpstreamResource | UpstreamPrompt,
    limits: RequestLimits,
    { check, canned, ask }: Reading<T>,
  ): Promise<T> {
    check();
    const server = this.find(project, name);
    const { catalogue } = server.spec;
    if (catalogue !== undefined) return canned(catalogue.answers);
    return this.#serverOf(server).use(limits, (session, timeoutMs) => {
      check();
      return ask(session, { ...limits, timeoutMs });
    });
  }

  /** Throws RESOURCE_NOT_FOUND or PROMPT_NOT_FOUND if it is not what a person accepted. */
  #checkOffered(project: string, kind: keyof typeof GONE, wanted: UpstreamResource | UpstreamPrompt): void {
    const { id, server, definition } = wanted;
    const offers: readonly (UpstreamResource | UpstreamPrompt)[] = this.#snapshotOf(project)[kind];
    if (offers.some((one) => one.server === server && isEqual(one.definition, definition))) return;
    throw new ContextdError(GONE[kind], `the MCP server ${server} does not have ${id} as it was`, {
      remedy: `Browse for it again. A person sees what changed: \`ctxd upstream approve ${server}\`.`,
    });
  }

  /** Throws NOT_FOUND. */
  find(project: string, name: string): StoredServer {
    const found = this.#deps.store.find(project, name);
    if (found !== null) return found;
    const known = this.#deps.store.list(project).map((server) => server.name);
    throw new ContextdError('NOT_FOUND', `this project has no MCP server ${name}`, {
      remedy: known.length === 0 ? 'Add one with `ctxd upstream add NAME -- COMMAND`.' : `It has ${known.join(', ')}.`,
    });
  }

  /** The server as it runs or would run. */
  liveOf(server: StoredServer): LiveServer {
    const { catalogue } = server.spec;
    if (catalogue === undefined) return this.#serverOf(server);
    return { state: 'catalogue', protocol: '', lastError: '', lastLines: [], leftOut: catalogue.leftOut };
  }

  /** What the network refused to its last process, as `host: reason` or `host:port: reason`. */
  refusedTo({ project, name }: StoredServer): string[] {
    const refused = this.#refusals.get(keyOf(project, name)) ?? [];
    // A name that was looked up and refused has no port yet.
    return refused.map(({ host = '', port = 0, rule }) => `${host}${port === 0 ? '' : `:${port}`}: ${rule}`);
  }

  /** What it lacks, whether it is added or only planned: paths of its command, and the command that grants all of it, or ''. */
  lackOf(server: StoredServer): { readonly unseen: UnseenPaths | null; readonly toGrant: string } {
    const isAdded = this.#deps.store.find(server.project, server.name) === server;
    const denied = isAdded ? (this.#refusals.get(keyOf(server.project, server.name)) ?? []) : [];
    const unseen = unseenPaths(server, this.#deps);
    return { unseen, toGrant: grantCommand(server, { denied, unseen }, this.#deps.network) };
  }

  /** The ids of the tools that a person accepted in a project, or with '' in all of them. */
  toolIds(project: string): string[] {
    const all = new Set(this.#deps.store.all().map((server) => server.project));
    return [...all]
      .filter((one) => project === '' || one === project)
      .flatMap((one) => this.#snapshotOf(one).tools.map(({ id }) => id));
  }

  list(project: string): readonly StoredServer[] {
    return this.#deps.store.list(project);
  }

  /** What the servers keep, as the owners and sessions of a storage. */
  homes(): { project: string; session: string }[] {
    return this.#deps.store
      .all()
      .map(storageOf)
      .map(({ owner, session }) => ({ project: owner, session }));
  }

  /**
   * Adds it, or replaces the one of its name, and starts it. What it lists first is accepted, because a person added it. If a
   * catalogue file takes the place of another, what a person accepted of that one stays accepted, and the rest waits.
   */
  async add(server: StoredServer): Promise<void> {
    const { project, name, spec, seen } = server;
    await this.#forgetProcess(project, name);
    if (spec.catalogue !== undefined) {
      const before = this.#deps.store.find(project, name);
      const accepted = before?.spec.catalogue === undefined ? null : before.accepted;
      await this.#deps.store.set({ ...server, accepted: accepted ?? acceptable(seen) });
      this.#changed(project);
      return;
    }
    await this.#deps.store.set(server);
    this.#changed(project);
    await this.#serverOf(server)
      .wake()
      .catch((thrown: unknown) => this.#deps.logger.info('upstream.not_started', { cause: String(thrown) }));
  }

  async remove({ project, name }: StoredServer): Promise<void> {
    await this.#forgetProcess(project, name);
    await this.#deps.store.remove(project, name);
    this.#changed(project);
    const { owner, session } = storageOf({ project, name });
    await this.#deps.sandbox.storage({ do: 'end_session', project: owner, session });
    await this.#deps.sandbox.storage({ do: 'remove', project: owner });
  }

  /** Throws why it cannot be started. */
  async restart(server: StoredServer): Promise<void> {
    if (server.spec.catalogue !== undefined) throw runsNothing(server);
    return this.#serverOf(server).restart();
  }

  /** Removes all servers of a project that is no longer registered. */
  async forget(project: string): Promise<void> {
    for (const server of this.#deps.store.list(project)) await this.remove(server);
  }

  pending({ accepted, seen }: StoredServer): PendingChanges {
    return { sha256: definitionsHash(acceptable(seen)), changes: changesBetween(accepted ?? seen, seen) };
  }

  /** Accepts what the server has now. Throws CONFLICT if that is not what the person saw. */
  async approve(server: StoredServer, sha256: string): Promise<void> {
    if (definitionsHash(acceptable(server.seen)) !== sha256) throw changedAgain(server);
    await this.#deps.store.set({ ...server, accepted: acceptable(server.seen) });
    this.#changed(server.project);
  }

  /** Calls `listener` when the tools of a project may have changed, until the returned function is called. It must not throw. */
  readonly follow = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #changed(project: string): void {
    this.#snapshots.delete(project);
    for (const listener of this.#listeners) listener();
  }

  #snapshotOf(project: string): UpstreamSnapshot {
    const known = this.#snapshots.get(project);
    if (known !== undefined) return known;
    const servers = this.#deps.store.list(project);
    const made = snapshotOf(
      servers.map(({ name, accepted, seen, spec }) => ({
        name,
        offers: unchanged(accepted ?? [], seen),
        files: spec.project,
        waiting: differing(accepted ?? [], seen),
      })),
    );
    this.#snapshots.set(project, made);
    return made;
  }

  #serverOf(stored: StoredServer): UpstreamServer {
    const { project, name, spec } = stored;
    const key = keyOf(project, name);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const { clock, timer, logger, idleMs } = this.#deps;
    const server = new UpstreamServer({
      name,
      url: spec.url === '' ? null : spec.url,
      version: PACKAGE_VERSION,
      idleMs,
      start: async () => {
        const process = await openServerProcess(stored, this.#deps);
        this.#refusals.set(key, process.refused);
        return process;
      },
      onTools: (seen) => this.#listed(project, name, seen),
      clock,
      timer,
      logger,
    });
    this.#servers.set(key, server);
    return server;
  }

  async #listed(project: string, name: string, { tools }: SeenTools): Promise<void> {
    const { store } = this.#deps;
    const server = store.find(project, name);
    // It was removed meanwhile.
    if (server === null) return;
    if (server.accepted !== null && definitionsHash(server.seen) === definitionsHash(tools)) return;
    await store.set({ ...server, seen: tools, accepted: server.accepted ?? acceptable(tools) });
    this.#changed(project);
  }

  async #forgetProcess(project: string, name: string): Promise<void> {
    const key = keyOf(project, name);
    await Promise.all([this.links.forget({ project, name }), this.#servers.get(key)?.stop()]);
    this.#servers.delete(key);
    this.#refusals.delete(key);
  }
}

const GONE = { resources: 'RESOURCE_NOT_FOUND', prompts: 'PROMPT_NOT_FOUND' } as const;

function keyOf(project: string, name: string): string {
  return `${project}\0${name}`;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
