import { createHash } from 'node:crypto';
import type { AuditLog } from '../../audit/log.ts';
import type { PassingCaller, PassingRequests } from '../../call/passing.ts';
import type { SessionRef } from '../../call/session.ts';
import type { ToolAccess } from '../../catalog/tool-access.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { ContextdError, ERROR_TABLE } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import {
  capabilityFor,
  isAskedMethod,
  McpError,
  type McpMessage,
  type PassedCall,
  type PassedRequest,
} from '../../core/passing.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import type { UpstreamTool } from '../../upstream/contract.ts';
import type { Passage } from './candidates.ts';
import type { UpstreamLinks } from './links.ts';
import { type MaskDeps, maskMessage } from './mask-message.ts';
import { askingError, askingResult, isAskingError, questionOf } from './named-questions.ts';
import { NoticeQueue } from './notice-queue.ts';
import { offersOf } from './offered.ts';
import { capabilityOfNotice, NOTICES } from './passed-methods.ts';
import { passPrimitive } from './primitives.ts';
import { type AskedState, checkAsker, SealedState } from './sealed-state.ts';
import { runsNothing } from './server-faults.ts';
import type { Upstreams } from './upstreams.ts';

export interface PassedRequestDeps extends MaskDeps {
  upstreams: Pick<Upstreams, 'list' | 'find' | 'snapshot'>;
  links: Pick<UpstreamLinks, 'follow' | 'closeClient' | 'capabilities' | 'pass'>;
  /** What says that the list of tools may have changed. */
  changes: readonly { follow(listener: () => void): () => void }[];
  access: ToolAccess;
  auditLog: Pick<AuditLog, 'append'>;
  liveSessions: Pick<LiveSessions, 'idFor'>;
  clock: Clock;
  timer: Timer;
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

  /** What opens the questions that clients carry, for the next daemon. */
  leave(): Buffer {
    return this.#states.key;
  }

  /** Clients that carry questions of the daemon before can answer them. */
  adopt(key: Buffer): void {
    this.#states.adopt(key);
  }

  follow(project: string, listener: (message: McpMessage) => void): () => void {
    const { links, changes } = this.#deps;
    const unfollows = [
      links.follow((of, server, { method }) => {
        // What else a server says is not for every client.
        if (of !== project || !NOTICES.has(method) || !method.endsWith('/list_changed')) return;
        if (this.#mayHear(project, server, method)) listener({ method, params: {} });
      }),
      ...changes.map((source) => source.follow(() => listener({ method: TOOLS_CHANGED, params: {} }))),
    ];
    return () => {
      for (const unfollow of unfollows) unfollow();
    };
  }

  #mayHear(project: string, server: string, method: string): boolean {
    const capability = capabilityOfNotice(method);
    return capability === undefined || this.#deps.access.mayUsePrimitive(project, `${server}:${capability}`);
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
    const over = new AbortController();
    try {
      const given = { ...passed.request, method: 'tools/call', params, signal };
      const { request, asked, sent } = this.#masked(session, given, over.signal);
      if (asked !== null) checkAsker(asked, stored);
      const result = await this.#linksOf(session).pass(stored, request, { definition, timeoutMs });
      await sent();
      passed.answer = { result: (await this.#shown(session, request, result, stored)).value };
      return result;
    } catch (thrown) {
      if (thrown instanceof McpError) passed.answer = { error: await this.#shownError(session, thrown) };
      throw thrown;
    } finally {
      over.abort();
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
    const over = new AbortController();
    try {
      const { request, asked, sent } = this.#masked(session, given, over.signal);
      const { access, timer, upstreams } = this.#deps;
      const offers = offersOf(project, await upstreams.snapshot(project), access);
      const passage = { links: this.#linksOf(session), offers, timer, timeoutMs: REQUEST_MS };
      const { result, server } = await passPrimitive(this.#servers(project, given.method), request, passage, asked);
      await sent();
      const { value, secrets } = await this.#shown(session, request, result, server);
      await record(JSON.stringify(value), secrets, null);
      return value;
    } catch (thrown) {
      const shown = thrown instanceof McpError ? await this.#shownError(session, thrown) : ContextdError.from(thrown);
      await record(shown.message, [], shown instanceof McpError ? 'UPSTREAM_ERROR' : shown.code);
      throw shown;
    } finally {
      over.abort();
    }
  }

  /** Those whose resources or prompts the caller may use: `gateway.access` names them as it names tools. */
  #servers(project: string, method: string): StoredServer[] {
    const kind = capabilityFor(method) ?? 'server';
    return this.#deps.upstreams
      .list(project)
      .filter((server) => server.spec.catalogue === undefined)
      .filter((server) => this.#deps.access.mayUsePrimitive(project, `${server.name}:${kind}`));
  }

  /** The request as it goes to a server: what comes back on its way is scrubbed, in its order, until it is over. */
  #masked(session: SessionRef, request: PassedRequest, over: AbortSignal): MaskedRequest {
    const { client, signal } = request;
    const queue = new NoticeQueue((messages) => this.#maskAll(session, messages));
    const pass = (message: McpMessage, send: PassedRequest['notify'], end: AbortSignal | null): void => {
      if (NOTICES.has(message.method)) queue.push(message, send, end);
    };
    const until = AbortSignal.any([signal, over]);
    const { params, asked } = this.#opened(session.project, request);
    const masked = {
      ...request,
      params,
      notify: (message: McpMessage) => pass(message, request.notify, until),
      // Through it the client hears the server also after this request.
      client: { ...client, notify: (message: McpMessage) => pass(message, client.notify, null) },
    };
    const sent = async (): Promise<void> => {
      await queue.sent();
      if (signal.aborted)
        throw new ContextdError('CANCELLED', 'the request was cancelled before its answer was passed on');
    };
    return { request: masked, asked, sent };
  }

  async #mask(session: SessionRef, { method, params }: McpMessage): Promise<McpMessage> {
    return { method, params: (await maskMessage(session, params, method, this.#deps)).value };
  }

  async #maskAll(session: SessionRef, messages: readonly McpMessage[]): Promise<McpMessage[]> {
    const all = messages.map(({ params }) => params);
    const { value } = await maskMessage(session, { all }, '', this.#deps);
    const masked = Array.isArray(value.all) ? value.all.filter(isJsonObject) : [];
    return messages.map(({ method }, at) => ({ method, params: masked[at] ?? {} }));
  }

  /** The ways to servers whose questions reach the client scrubbed and under the name of the server. */
  #linksOf(session: SessionRef): Passage['links'] {
    const { links } = this.#deps;
    // The first request of a client opens the link, through which it hears the server from then on.
    const hearing = ({ project, name }: StoredServer, { client, notify, ...request }: PassedRequest): PassedRequest => {
      const allowed = (hear: PassedRequest['notify']) => (message: McpMessage) => {
        if (this.#mayHear(project, name, message.method)) hear(message);
      };
      return { ...request, notify: allowed(notify), client: { ...client, notify: allowed(client.notify) } };
    };
    return {
      capabilities: (server, request, timeoutMs) => links.capabilities(server, hearing(server, request), timeoutMs),
      pass: async (server, given, options) => {
        const request = hearing(server, given);
        const { client, method } = request;
        const ask = async (message: McpMessage, signal: AbortSignal): Promise<JsonObject> => {
          if (!isAskedMethod(message.method)) throw new McpError(-32_601, 'a client is not asked for this');
          return client.ask(questionOf(server.name, await this.#mask(session, message)), signal);
        };
        try {
          return await links.pass(server, { ...request, client: { ...client, ask } }, options);
        } catch (thrown) {
          if (!(thrown instanceof McpError) || !isAskingError(thrown)) throw thrown;
          const { code, message, data } = askingError(server.name, method, await this.#shownError(session, thrown));
          throw new ShownError(code, message, data);
        }
      },
    };
  }

  /** The parameters as a server gets them. Answers without a state belong to no question: each question goes out with one. */
  #opened(project: string, request: PassedRequest): { params: JsonObject; asked: AskedState | null } {
    const { requestState, inputResponses, ...params } = request.params;
    if (typeof requestState !== 'string') return { params, asked: null };
    const asked = this.#states.open(requestState, ownerOf(project, request));
    const { state } = asked;
    const answers = inputResponses === undefined ? {} : { inputResponses };
    return { params: { ...params, ...answers, ...(state === undefined ? {} : { requestState: state }) }, asked };
  }

  async #shown(session: SessionRef, request: PassedRequest, result: JsonObject, server: StoredServer | null) {
    const { requestState: state, ...others } = result;
    const { value: masked, secrets } = await maskMessage(session, others, request.method, this.#deps);
    if (server === null) return { value: masked, secrets };
    const { name, addedMs } = server;
    const value = askingResult(name, request.method, masked);
    if (result.resultType !== 'input_required' && typeof state !== 'string') return { value, secrets };
    const asked = { server: name, addedMs, ...(typeof state === 'string' ? { state } : {}) };
    const requestState = this.#states.seal(asked, ownerOf(session.project, request));
    return { value: { ...value, requestState }, secrets };
  }

  async #shownError(session: SessionRef, error: McpError): Promise<McpError> {
    if (error instanceof ShownError) return error;
    const { code, message, data } = error;
    const given = { message, ...(data === undefined ? {} : { data: JSON.parse(JSON.stringify(data)) }) };
    const { value } = await maskMessage(session, given, '', this.#deps);
    return new McpError(code, String(value.message), value.data);
  }
}

/** One that was scrubbed before. */
class ShownError extends McpError {}

interface MaskedRequest {
  readonly request: PassedRequest;
  /** The question that it answers; null if it answers none. */
  readonly asked: AskedState | null;
  /** Resolves when everything that came until then has gone to the client. Throws CANCELLED. */
  sent(): Promise<void>;
}

function ownerOf(project: string, { method, params, client }: PassedRequest): string {
  return JSON.stringify([project, client.key, method, params.name ?? params.uri ?? null]);
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
