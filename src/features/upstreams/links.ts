import type { Tool } from '@modelcontextprotocol/client';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/log.ts';
import type { McpMessage, PassedRequest } from '../../core/passing.ts';
import { PACKAGE_VERSION } from '../../protocol/versions.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import type { SeenTool } from '../../upstream/definitions.ts';
import { UpstreamServer } from '../../upstream/server.ts';
import { HeldRequests } from './held-requests.ts';
import { openServerProcess, type ServerProcessDeps } from './server-process.ts';

export interface LinkDeps extends ServerProcessDeps {
  /** Milliseconds without a request after which a server is stopped. */
  idleMs: number;
  clock: Clock;
  logger: Logger;
}

type NoticeListener = (project: string, server: string, message: McpMessage) => void;

/** A process of a server for one client of an older revision, or for all clients of the newest one, which keep nothing there. */
interface Link {
  readonly server: UpstreamServer;
  /** What it listed. */
  tools: readonly SeenTool[];
}

/** What a server may ask of a client of the newest revision, which says with each request what it can. */
const EVERYTHING: JsonObject = { elicitation: { form: {}, url: {} }, sampling: { context: {}, tools: {} }, roots: {} };

/** The links of one project and server: more than a door keeps sessions. */
const LINKS_MAX = 32;

/** The processes to which requests of MCP clients are passed on as they are. */
export class UpstreamLinks {
  readonly #deps: LinkDeps;
  readonly #links = new Map<string, Link>();
  readonly #held: HeldRequests;
  readonly #listeners = new Set<NoticeListener>();

  constructor(deps: LinkDeps) {
    this.#deps = deps;
    this.#held = new HeldRequests(deps.timer);
  }

  /** Calls `listener` with what servers say to all their clients, until the returned function is called. It must not throw. */
  follow(listener: NoticeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#held.stop();
    await this.#end(() => true);
  }

  /** Ends what the servers of a project keep for a client. */
  closeClient(project: string, key: string): Promise<void> {
    this.#held.closeClient(project, key);
    return this.#end((id) => id.startsWith(`${project}\0`) && id.endsWith(`\0session ${key}`));
  }

  /** Ends all links to a server. */
  forget({ project, name }: Pick<StoredServer, 'project' | 'name'>): Promise<void> {
    return this.#end((id) => id.startsWith(`${project}\0${name}\0`));
  }

  /** What the server declared for this client. */
  capabilities(server: StoredServer, request: PassedRequest, timeoutMs: number): Promise<JsonObject> {
    const link = this.#linkOf(server, request);
    return link.server.use({ signal: request.signal, timeoutMs }, async ({ capabilities }) => capabilities);
  }

  /**
   * `definition`: of the tool that is called, as a person accepted it. Throws McpError, HYDRATE_FAILED if the tool is another one
   * now, and what calls of tools throw.
   */
  async pass(
    server: StoredServer,
    request: PassedRequest,
    { definition, timeoutMs }: { definition?: Tool; timeoutMs: number },
  ): Promise<JsonObject> {
    const resumed = this.#held.resume(server, request);
    if (resumed !== null) return resumed;
    const link = this.#linkOf(server, request);
    const use = { signal: request.signal, timeoutMs, hasEffects: definition !== undefined };
    return link.server.use(use, (session, leftMs) => {
      checkDefinition(server.name, link, definition);
      const options = { ...(definition === undefined ? {} : { definition }), timeoutMs: leftMs };
      if (request.client.isLegacy || session.isModern) return session.pass(request, options);
      return this.#held.start(server, request, (asking) => session.pass(asking, options));
    });
  }

  #linkOf(stored: StoredServer, { client }: PassedRequest): Link {
    const { project, name, spec } = stored;
    const key = client.isLegacy ? `session ${client.key}` : '';
    const id = `${project}\0${name}\0${key}`;
    const known = this.#links.get(id);
    if (known !== undefined) return known;
    const { clock, timer, logger, idleMs } = this.#deps;
    if ([...this.#links.keys()].filter((other) => other.startsWith(`${project}\0${name}\0`)).length >= LINKS_MAX)
      throw new ContextdError('RATE_LIMITED', `the MCP server ${name} already has ${LINKS_MAX} sessions of clients`, {
        remedy: 'End one of them, or use a client of the revision 2026-07-28, which needs none.',
      });
    const passing = {
      isLegacy: client.isLegacy,
      capabilities: client.isLegacy ? client.capabilities : EVERYTHING,
      onNotice: (message: McpMessage) => {
        if (client.isLegacy) client.notify(message);
        else for (const listener of this.#listeners) listener(project, name, message);
      },
    };
    const link: Link = {
      tools: [],
      server: new UpstreamServer({
        name,
        url: spec.url === '' ? null : spec.url,
        version: PACKAGE_VERSION,
        idleMs,
        passing,
        start: () => openServerProcess(stored, this.#deps),
        onTools: async ({ tools }) => {
          link.tools = tools;
        },
        clock,
        timer,
        logger,
      }),
    };
    this.#links.set(id, link);
    return link;
  }

  async #end(isMeant: (id: string) => boolean): Promise<void> {
    const ended = [...this.#links].filter(([id]) => isMeant(id));
    for (const [id] of ended) this.#links.delete(id);
    await Promise.all(ended.map(([, { server }]) => server.stop()));
  }
}

function checkDefinition(server: string, { tools }: Link, definition: Tool | undefined): void {
  if (definition === undefined) return;
  const accepted = JSON.stringify(definition);
  if (tools.some(({ name, text }) => name === definition.name && JSON.stringify(JSON.parse(text)) === accepted)) return;
  throw new ContextdError('HYDRATE_FAILED', `the tool ${definition.name} is not what a person accepted`, {
    remedy: `A person sees what changed: \`ctxd upstream approve ${server}\`.`,
  });
}
