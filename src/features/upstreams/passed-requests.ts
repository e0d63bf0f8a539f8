import { createHash } from 'node:crypto';
import type { PassingCaller, PassingRequests } from '../../call/passing.ts';
import type { SessionRef } from '../../call/session.ts';
import type { ToolAccess } from '../../catalog/tool-access.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError, ERROR_TABLE } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { McpError, type McpMessage, type PassedCall, type PassedRequest } from '../../core/passing.ts';
import type { AuditLog } from '../../stores/audit.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import type { UpstreamTool } from '../../upstream/contract.ts';
import type { UpstreamLinks } from './links.ts';
import { type MaskDeps, maskMessage } from './mask-message.ts';
import { CAPABILITY_OF, passPrimitive } from './primitives.ts';
import { SealedState } from './sealed-state.ts';
import { runsNothing, type Upstreams } from './upstreams.ts';

export interface PassedRequestDeps extends MaskDeps {
  upstreams: Pick<Upstreams, 'list' | 'find'>;
  links: UpstreamLinks;
  /** What says that the list of tools may have changed. */
  changes: readonly { follow(listener: () => void): () => void }[];
  access: ToolAccess;
  auditLog: Pick<AuditLog, 'append'>;
  liveSessions: Pick<LiveSessions, 'idFor'>;
  clock: Clock;
}

const TOOLS_CHANGED = 'notifications/tools/list_changed';
/** Milliseconds for a request that calls no tool, questions to a person included. */
const REQUEST_MS = 600_000;

/** What passes between MCP clients and servers as they made it: scrubbed on its way to the client, and on record. */
export class PassedRequests implements PassingRequests {
  readonly #deps: PassedRequestDeps;
  readonly #states = new SealedState();

  constructor(deps: PassedRequestDeps) {
    this.#deps = deps;
  }

  follow(project: string, listener: (message: McpMessage) => void): () => void {
    const { links, changes } = this.#deps;
    const unfollows = [
      links.follow((of, { method }) => {
        // What else a server says is not for every client.
        if (of === project && method.endsWith('/list_changed')) listener({ method, params: {} });
      }),
      ...changes.map((source) => source.follow(() => listener({ method: TOOLS_CHANGED, params: {} }))),
    ];
    return () => {
      for (const unfollow of unfollows) unfollow();
    };
  }

  closeClient(project: string, key: string): Promise<void> {
    return this.#deps.links.closeClient(project, key);
  }

  /** Passes the call of a tool on and keeps the scrubbed answer in `passed`. Returns the answer as it came; throws what came. */
  async call(
    call: { session: SessionRef; input: JsonObject; signal: AbortSignal; timeoutMs: number },
    { server, upstreamName, definition }: UpstreamTool,
    passed: PassedCall,
  ): Promise<JsonObject> {
    const { session, input, signal, timeoutMs } = call;
    const { _meta, inputResponses, requestState } = passed.request.params;
    const params = {
      name: upstreamName,
      arguments: input,
      ...(_meta === undefined ? {} : { _meta }),
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(requestState === undefined ? {} : { requestState }),
    };
    const stored = this.#deps.upstreams.find(session.project, server);
    if (stored.spec.catalogue !== undefined) throw runsNothing(stored);
    try {
      const { request, sent } = this.#masked(session, { ...passed.request, method: 'tools/call', params, signal });
      const result = await this.#deps.links.pass(stored, request, { definition, timeoutMs });
      await sent();
      passed.answer = { result: await this.#shown(session, request, result) };
      return result;
    } catch (thrown) {
      if (thrown instanceof McpError) passed.answer = { error: await this.#shownError(session, thrown) };
      throw thrown;
    }
  }

  async request({ project, sessionHint, principal }: PassingCaller, given: PassedRequest): Promise<JsonObject> {
    const { auditLog, liveSessions, clock, scrubber } = this.#deps;
    const session = { project, session: liveSessions.idFor(project, sessionHint), branch: null };
    const [receivedAt, startedAt] = [clock.now(), clock.monotonic()];
    const record = (text: string, secrets: readonly { rule: string }[], errorCode: ContextdError['code'] | null) =>
      auditLog.append({
        time: new Date(receivedAt).toISOString(),
        request_id: newRequestId(receivedAt),
        session: scrubber.maskText(session.session),
        project,
        door: principal.door,
        ...('token' in principal ? { token: principal.token } : {}),
        tool: given.method,
        input: recordedInput(given.params, scrubber),
        output_sha256: createHash('sha256').update(text).digest('hex'),
        output_bytes: Buffer.byteLength(text),
        duration_ms: Math.round((clock.monotonic() - startedAt) * 10) / 10,
        secrets_found: secrets.length,
        secret_rules: [...new Set(secrets.map(({ rule }) => rule))],
        exit_code: errorCode === null ? 0 : ERROR_TABLE[errorCode].exitCode,
        error_code: errorCode,
      });
    try {
      const { request, sent } = this.#masked(session, given);
      const result = await passPrimitive(this.#servers(project, given.method), request, this.#deps.links, REQUEST_MS);
      await sent();
      const { value, secrets } = await maskMessage(session, this.#sealed(request, result), this.#deps);
      await record(JSON.stringify(value), secrets, null);
      return value;
    } catch (thrown) {
      const shown = thrown instanceof McpError ? await this.#shownError(session, thrown) : ContextdError.from(thrown);
      await record(shown.message, [], shown instanceof McpError ? 'UPSTREAM_ERROR' : shown.code);
      throw shown;
    }
  }

  /** Those whose resources or prompts the caller may use: `gateway.access` names them as it names tools. */
  #servers(project: string, method: string): StoredServer[] {
    const kind = CAPABILITY_OF[method] ?? 'server';
    return this.#deps.upstreams
      .list(project)
      .filter((server) => server.spec.catalogue === undefined)
      .filter((server) => this.#deps.access.mayUsePrimitive(project, `${server.name}:${kind}`));
  }

  /**
   * The request as it goes to a server: what comes back on its way is scrubbed, in its order. `sent` resolves when everything
   * that came until then has gone to the client.
   */
  #masked(session: SessionRef, request: PassedRequest): { request: PassedRequest; sent(): Promise<void> } {
    const { client, params } = request;
    const mask = async (message: McpMessage): Promise<McpMessage> => {
      const { value } = await maskMessage(session, message.params, this.#deps);
      return { method: message.method, params: value };
    };
    let last: Promise<void> = Promise.resolve();
    const pass = (message: McpMessage, send: (masked: McpMessage) => void): void => {
      const masked = mask(message);
      // A notification that cannot be scrubbed is not sent.
      last = Promise.all([masked, last]).then(
        ([one]) => send(one),
        () => {},
      );
    };
    const state = params.requestState;
    const asked = {
      ...request,
      params:
        typeof state === 'string' ? { ...params, requestState: this.#states.open(state, ownerOf(request)) } : params,
      notify: (message: McpMessage) => pass(message, request.notify),
      client: {
        ...client,
        ask: async (message: McpMessage, signal: AbortSignal) => client.ask(await mask(message), signal),
        notify: (message: McpMessage) => pass(message, client.notify),
      },
    };
    return { request: asked, sent: () => last };
  }

  async #shown(session: SessionRef, request: PassedRequest, result: JsonObject): Promise<JsonObject> {
    return (await maskMessage(session, this.#sealed(request, result), this.#deps)).value;
  }

  #sealed(request: PassedRequest, result: JsonObject): JsonObject {
    const { requestState } = result;
    if (typeof requestState !== 'string') return result;
    return { ...result, requestState: this.#states.seal(requestState, ownerOf(request)) };
  }

  async #shownError(session: SessionRef, { code, message, data }: McpError): Promise<McpError> {
    const given = { message, ...(data === undefined ? {} : { data: JSON.parse(JSON.stringify(data)) }) };
    const { value } = await maskMessage(session, given, this.#deps);
    return new McpError(code, String(value.message), value.data);
  }
}

function ownerOf({ method, params, client }: PassedRequest): string {
  return JSON.stringify([client.key, method, params.name ?? params.uri ?? null]);
}

const INPUT_MAX_CHARS = 65_536;

function recordedInput({ _meta, ...params }: JsonObject, scrubber: Pick<MaskDeps['scrubber'], 'maskText'>): Json {
  const text = scrubber.maskText(JSON.stringify(params));
  if (text.length > INPUT_MAX_CHARS) return `${text.slice(0, INPUT_MAX_CHARS)}… (${text.length} characters)`;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
