import type { Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Context, Hono } from 'hono';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { Permission, TokenGrant } from '../../core/permissions.ts';
import { refusal, toResponse } from './answers.ts';
import { bearerOf, type HttpLimits, parseBody, readBody } from './hardening.ts';
import { keptOpenMs } from './kept-open.ts';
import type { HttpRoute, RouteDeps, RouteRequest } from './route.ts';

type App = Hono<{ Bindings: HttpBindings }>;
type Asked = Context<{ Bindings: HttpBindings }>;

/** Routes requests: whose token it is and what it may, then the shape of the request, then the handler. */
export function createApp(routes: readonly HttpRoute[], deps: RouteDeps, limits: HttpLimits): App {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateSchema: false });
  const app: App = new Hono();
  const connections = new Connections();
  for (const route of routes) {
    const checkQuery = ajv.compile(querySchema(route));
    const checkBody = ajv.compile(route.body ?? {});
    app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
      const grant = route.permission === null ? NOBODY : permitted(c, route, deps);
      if (grant !== NOBODY) c.env.outgoing.once('close', deps.tokenRequests.enter(grant.name));
      const query = c.req.query();
      checked(checkQuery, query, 'the query');
      const body = route.body === undefined ? {} : parseBody(await readBody(c.env.incoming, limits), limits);
      checked(checkBody, body, 'the body');
      const { socket } = c.env.incoming;
      const connection = connections.signalOf(socket);
      const response = await answer(c, route, { grant, query, body: isJsonObject(body) ? body : {}, connection }, deps);
      const openMs = keptOpenMs(response.headers);
      // Node gives every connection the same time after an answer, and has done so by then.
      if (openMs > 0) c.env.outgoing.once('finish', () => socket.setTimeout(openMs));
      return response;
    });
  }
  app.notFound((c) => {
    granted(c, deps);
    throw new ContextdError('NOT_FOUND', `there is no route ${c.req.method} ${c.req.path.slice(0, 200)}`, {
      remedy: '/openapi.json lists the routes.',
    });
  });
  app.onError((thrown, c) => {
    const why = ContextdError.from(thrown);
    const asked = { method: c.req.method, path: c.req.path.slice(0, 200), code: why.code };
    if (why.code === 'INTERNAL_ERROR') deps.logger.error('http.failed', asked, thrown);
    else deps.logger.debug('http.refused', asked);
    return toResponse(refusal(why, deps.refusalLine(why)));
  });
  return app;
}

/** For open routes, whose handlers ask for nothing of it. */
const NOBODY: TokenGrant = { name: '', scope: '', permissions: [] };

/** The ends of connections. A connection carries many requests, and each may ask for it. */
class Connections {
  readonly #signals = new WeakMap<Socket, AbortSignal>();

  signalOf(socket: Socket): AbortSignal {
    const known = this.#signals.get(socket);
    if (known !== undefined) return known;
    const closed = new AbortController();
    if (socket.destroyed) closed.abort();
    else socket.once('close', () => closed.abort());
    this.#signals.set(socket, closed.signal);
    return closed.signal;
  }
}

async function answer(
  c: Asked,
  route: HttpRoute,
  given: Pick<RouteRequest, 'grant' | 'body' | 'connection'> & { query: Record<string, string> },
  deps: RouteDeps,
): Promise<Response> {
  const { outgoing, incoming } = c.env;
  const answered = await deps.inFlight.run(
    (cancel) => outgoing.once('close', cancel),
    async (signal) =>
      route.handle(
        {
          ...given,
          method: incoming.method ?? '',
          params: c.req.param(),
          headers: incoming.headers,
          lastEventId: c.req.header('last-event-id') ?? '',
          signal,
        },
        deps,
      ),
  );
  const response = answered instanceof Response ? answered : toResponse(answered);
  // Only its headers are sent, so nobody would read the rest.
  if (incoming.method === 'HEAD') await response.body?.cancel();
  return response;
}

/** What the token of a request grants. Throws AUTH_FAILED. */
function granted(c: Asked, { tokens }: RouteDeps): TokenGrant {
  const token = bearerOf(c.env.incoming);
  const grant = token === undefined ? null : tokens.find(token);
  if (grant !== null) return grant;
  const what = token === undefined ? 'the request has no token' : 'the token is unknown or has expired';
  throw new ContextdError('AUTH_FAILED', what, {
    remedy: 'Send `Authorization: Bearer TOKEN`; `ctxd http token` prints one.',
  });
}

/** Throws AUTH_FAILED, and PERMISSION_DENIED for a token that does not cover the route. */
function permitted(c: Asked, { permission, wholeMachine, path }: HttpRoute, deps: RouteDeps): TokenGrant {
  const grant = granted(c, deps);
  if (permission !== null && !grant.permissions.includes(permission)) {
    throw new ContextdError('PERMISSION_DENIED', `the token ${grant.name} has no permission to ${permission}`, {
      remedy: howToPermit(permission),
    });
  }
  if (wholeMachine === true && grant.scope !== '') {
    throw new ContextdError('PERMISSION_DENIED', `${path} covers all projects, the token ${grant.name} only one`, {
      remedy: 'Make one without --project.',
    });
  }
  return grant;
}

/** A client without `decide` may be an agent, which must not ask for it. */
function howToPermit(permission: Permission): string {
  if (permission === 'decide') return 'A person answers with `ctxd approve`.';
  return `Make one: \`ctxd http token --name NAME --allow ${permission}\`.`;
}

function querySchema({ query = {}, required = [] }: HttpRoute): JsonObject {
  return { type: 'object', additionalProperties: false, properties: query, required };
}

function checked(check: ValidateFunction, value: unknown, what: string): void {
  if (check(value)) return;
  const [fault] = check.errors ?? [];
  const name = fault?.keyword === 'additionalProperties' ? ` (${JSON.stringify(fault.params.additionalProperty)})` : '';
  const where = fault?.instancePath === '' ? what : `${what} at ${fault?.instancePath}`;
  throw new ContextdError('ARGS_INVALID', `${where} ${fault?.message ?? 'is invalid'}${name}`.slice(0, 500), {
    remedy: '/openapi.json describes what the route takes.',
    details: { pointer: fault?.instancePath ?? '' },
  });
}
