import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LiveFeed } from '#src/call/live.js';
import type { PassingRequests } from '#src/call/passing.js';
import type { CallRequest, Dispatch } from '#src/call/request.js';
import { checkConfig } from '#src/config/load.js';
import type { Config } from '#src/config/schema.js';
import { systemClock } from '#src/core/clock.js';
import { failureEnvelope } from '#src/core/envelope.js';
import { silentLogger } from '#src/core/log.js';
import type { Permission, TokenGrant } from '#src/core/permissions.js';
import { createHttpDoor, type HttpDoor } from '#src/doors/http/door.js';
import type { HttpLimits } from '#src/doors/http/hardening.js';
import { LiveEvents } from '#src/features/shared/live-events.js';
import type { Management } from '#src/protocol/management-contract.js';
import { management, refuse } from './behind.ts';

/** The HTTP door at a free port, with the given services behind it. */
export interface TestHttpDoor {
  door: HttpDoor;
  url: string;
  host: string;
  port: number;
  events: LiveEvents;
  /** How many watch the events. */
  followers(): number;
  /** Grants by their tokens. Tests add and remove some. */
  grants: Map<string, TokenGrant>;
  /** Calls that were refused and recorded. */
  refused: CallRequest[];
  ask(path: string, options?: AskOptions): Promise<Asked>;
  /** A plain connection to the door. */
  dial(): Promise<Socket>;
  remove(): Promise<void>;
}

export interface AskOptions {
  method?: string;
  token?: string | null;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

export interface Asked {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: Record<string, unknown> & { data: Record<string, unknown> };
}

export const ALL: readonly Permission[] = ['read', 'execute', 'decide'];
export const TOKEN = 'ctxd_all';

export interface BehindHttp {
  dispatch?: Dispatch;
  management?: Partial<Management>;
  passing?: Partial<PassingRequests>;
  config?: Partial<Config['http']>;
  limits?: Partial<HttpLimits>;
  portFile?: string;
}

export async function openHttpDoor(behind: BehindHttp = {}): Promise<TestHttpDoor> {
  const dir = await mkdtemp(join(tmpdir(), 'http-door-'));
  const { config } = checkConfig({});
  if (config === undefined) throw new Error('the defaults are valid');
  const grants = new Map<string, TokenGrant>([[TOKEN, { name: 'all', scope: '', permissions: ALL }]]);
  const events = new LiveEvents();
  const refused: CallRequest[] = [];
  let followers = 0;
  const feed: LiveFeed = {
    epoch: events.epoch,
    since: (number) => events.since(number),
    follow(listener) {
      const leave = events.follow(listener);
      followers += 1;
      return () => {
        followers -= 1;
        leave();
      };
    },
  };
  const door = createHttpDoor({
    config: { ...config.http, enabled: true, ...behind.config },
    paths: { httpPortFile: behind.portFile ?? join(dir, 'http-port') },
    dispatch: behind.dispatch ?? (async (request) => answerOf(request)),
    refuse(request, why) {
      refused.push(request);
      return refuse(request, why);
    },
    management: management(behind.management),
    tokens: {
      find: (token) => grants.get(token) ?? null,
      isValid: (grant) => [...grants.values()].includes(grant),
    },
    proofKey: (id) => createHash('sha256').update(`key ${id}`).digest(),
    refusalLine: (error) =>
      JSON.stringify(failureEnvelope({ error, meta: { version: 'response-v2', request_id: 'req_0' } })),
    feed,
    figures: () => ({
      tools: [],
      steps: [],
      tokensRun: 0,
      tokensReturned: 0,
      secretsFound: 0,
      scrubMs: 0,
      fromCache: 0,
      callsRunning: 0,
      callsWaiting: 0,
      residentBytes: 1,
      startedMs: 0,
    }),
    otherConnections: () => ({ grpc: 0 }),
    passing: {
      request: () => Promise.reject(new Error('no request is passed on in these tests')),
      closeClient: async () => {},
      follow: () => () => {},
      ...behind.passing,
    },
    clock: systemClock,
    logger: silentLogger,
    ...(behind.limits === undefined ? {} : { limits: behind.limits }),
  });
  await door.start();
  const { at, why } = door.standing();
  const url = at?.url ?? '';
  const port = Number(url.split(':').at(-1) ?? 0);
  if (at === null && why === null) throw new Error('the door is closed without a reason');
  return {
    door,
    url,
    host: at?.host ?? '',
    port,
    events,
    followers: () => followers,
    grants,
    refused,
    ask: (path, options) => askHttp(url, path, options),
    dial: () =>
      new Promise((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket));
        socket.on('error', reject);
      }),
    async remove() {
      await door.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** An answer that shows what reached dispatch. */
export function answerOf({ tool, projectRoot, inputJson, inputText, principal, sessionHint, cwd }: CallRequest) {
  const data = {
    ...{ tool, projectRoot, principal, sessionHint, cwd },
    input: inputJson.toString(),
    words: inputText?.toString() ?? null,
  };
  return {
    line: JSON.stringify({
      success: true,
      data,
      error: null,
      refs: [],
      tokens_used: 1,
      has_more: false,
      truncated: false,
    }),
    exitCode: 0,
    errorLine: '',
  };
}

/** Any request, with headers that fetch would not let through. `token` null: without one. */
export function askHttp(url: string, path: string, options: AskOptions = {}): Promise<Asked> {
  const { token = TOKEN, body, headers = {}, signal } = options;
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const all = {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
    ...headers,
  };
  const method = options.method ?? (body === undefined ? 'GET' : 'POST');
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${path}`, { method, headers: all, agent: false, ...(signal ? { signal } : {}) });
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const answered = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: answered,
          json: parsed(answered),
        });
      });
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

function parsed(text: string): Asked['json'] {
  try {
    return JSON.parse(text);
  } catch {
    return { data: {} };
  }
}
