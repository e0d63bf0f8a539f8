import { randomUUID } from 'node:crypto';
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** Whose a session is: nothing else opens it. */
export interface SessionOwner {
  readonly token: string;
  readonly project: string;
}

interface McpSession extends SessionOwner {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  unfollow(): void;
}

/** Sessions of one project, and of all. The one that was used least lately makes room for another. */
const PROJECT_MAX = 16;
const SESSIONS_MAX = 64;

/** The sessions that clients of revisions before 2026-07-28 hold over HTTP, where a server can ask its client. */
export class McpSessions {
  readonly #sessions = new Map<string, McpSession>();
  readonly #onEnd: (project: string, id: string) => void;

  constructor(onEnd: (project: string, id: string) => void) {
    this.#onEnd = onEnd;
  }

  /** The transport for the first request of a client. `follow` sends its server what it must know, until the session ends. */
  async open(
    owner: SessionOwner,
    create: (id: string) => Server,
    follow: (server: Server) => () => void,
  ): Promise<WebStandardStreamableHTTPServerTransport> {
    const id = randomUUID();
    const server = create(id);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#end(id),
    });
    await server.connect(transport);
    const ofProject = [...this.#sessions].filter(([, { project }]) => project === owner.project);
    if (ofProject.length >= PROJECT_MAX) this.#end(ofProject[0]?.[0] ?? '');
    for (const oldest of this.#sessions.keys()) if (this.#sessions.size >= SESSIONS_MAX) this.#end(oldest);
    this.#sessions.set(id, { ...owner, transport, server, unfollow: follow(server) });
    return transport;
  }

  /** Undefined for a session that does not exist, or is another's. */
  find(id: string, { token, project }: SessionOwner): WebStandardStreamableHTTPServerTransport | undefined {
    const found = this.#sessions.get(id);
    if (found === undefined || found.token !== token || found.project !== project) return undefined;
    this.#sessions.delete(id);
    this.#sessions.set(id, found);
    return found.transport;
  }

  close(): void {
    for (const id of this.#sessions.keys()) this.#end(id);
  }

  #end(id: string): void {
    const ended = this.#sessions.get(id);
    if (ended === undefined) return;
    this.#sessions.delete(id);
    ended.unfollow();
    this.#onEnd(ended.project, id);
    void ended.server.close().catch(() => {});
  }
}
