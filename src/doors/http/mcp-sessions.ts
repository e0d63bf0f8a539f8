import { randomUUID } from 'node:crypto';
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { TokenGrant } from '../../core/permissions.ts';

/** Whose a session is: nothing else opens it. */
export interface SessionOwner {
  /** The token itself: a later one of the same name is another. */
  readonly grant: TokenGrant;
  readonly project: string;
}

export type McpSessionTransport = WebStandardStreamableHTTPServerTransport;

interface McpSession extends SessionOwner {
  readonly transport: McpSessionTransport;
  readonly server: Server;
  unfollow(): void;
}

export interface McpSessionsDeps {
  /** False once the token was revoked or replaced, or has expired. */
  isValid(grant: TokenGrant): boolean;
  onEnd(project: string, id: string): void;
}

/** Sessions of one project, and of all. */
const PROJECT_MAX = 16;
const SESSIONS_MAX = 64;

/** The sessions that clients of revisions before 2026-07-28 hold over HTTP, where a server can ask its client. */
export class McpSessions {
  readonly #sessions = new Map<string, McpSession>();
  readonly #deps: McpSessionsDeps;

  constructor(deps: McpSessionsDeps) {
    this.#deps = deps;
  }

  /** The transport for the first request of a client. `follow` sends its server what it must know, until the session ends. */
  async open(
    owner: SessionOwner,
    create: (id: string) => Server,
    follow: (server: Server) => () => void,
  ): Promise<McpSessionTransport> {
    const id = randomUUID();
    const server = create(id);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#end(id),
    });
    await server.connect(transport);
    this.#endRevoked();
    const ofProject = [...this.#sessions].filter(([, { project }]) => project === owner.project);
    if (ofProject.length >= PROJECT_MAX) this.#end(oldestOfMost(ofProject, owner, ({ grant }) => grant));
    if (this.#sessions.size >= SESSIONS_MAX)
      this.#end(oldestOfMost([...this.#sessions], owner, ({ project }) => project));
    this.#sessions.set(id, { ...owner, transport, server, unfollow: follow(server) });
    return transport;
  }

  /** Undefined for a session that does not exist, or is another's. */
  find(id: string, { grant, project }: SessionOwner): McpSessionTransport | undefined {
    this.#endRevoked();
    const found = this.#sessions.get(id);
    if (found === undefined || found.grant !== grant || found.project !== project) return undefined;
    this.#sessions.delete(id);
    this.#sessions.set(id, found);
    return found.transport;
  }

  close(): void {
    for (const id of this.#sessions.keys()) this.#end(id);
  }

  #endRevoked(): void {
    for (const [id, { grant }] of this.#sessions) if (!this.#deps.isValid(grant)) this.#end(id);
  }

  #end(id: string): void {
    const ended = this.#sessions.get(id);
    if (ended === undefined) return;
    this.#sessions.delete(id);
    ended.unfollow();
    this.#deps.onEnd(ended.project, id);
    void ended.server.close().catch(() => {});
  }
}

/**
 * The session that makes room for another of `owner`: the least recently used one of the holder that then has most, so that no token and no
 * project takes the sessions of others.
 */
function oldestOfMost(
  sessions: readonly (readonly [id: string, owner: SessionOwner])[],
  owner: SessionOwner,
  holderOf: (owner: SessionOwner) => unknown,
): string {
  const held = (one: SessionOwner): number =>
    [...sessions, ['', owner] as const].filter(([, other]) => holderOf(other) === holderOf(one)).length;
  const most = Math.max(...sessions.map(([, one]) => held(one)));
  return sessions.find(([, one]) => held(one) === most)?.[0] ?? '';
}
