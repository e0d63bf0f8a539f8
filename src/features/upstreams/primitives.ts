import type { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { McpError, type PassedRequest } from '../../core/passing.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import type { UpstreamLinks } from './links.ts';

type Links = Pick<UpstreamLinks, 'capabilities' | 'pass'>;

/** Requests that are passed on besides calls of tools, and the capability of a server that answers them. */
export const CAPABILITY_OF: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'completion/complete': 'completions',
  'logging/setLevel': 'logging',
};

/** The key under which each list has its entries. */
const LISTS: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
};

const PAGES_MAX = 64;
const ENTRIES_MAX = 4_096;
/** What a server answers that does not have what is asked for, by revision. */
const NOT_FOUND: readonly number[] = [-32_002, -32_602];

/**
 * Passes a request on to the servers that can answer it: a list is that of all of them, anything else goes to the one that lists
 * what is asked for. Throws McpError, and what calls of tools throw.
 */
export async function passPrimitive(
  servers: readonly StoredServer[],
  request: PassedRequest,
  links: Links,
  timeoutMs: number,
): Promise<JsonObject> {
  const list = LISTS[request.method];
  const able = await ableServers(servers, request, links, timeoutMs);
  const passTo = (server: StoredServer, given: PassedRequest) => links.pass(server, given, { timeoutMs });
  if (list !== undefined) return { [list]: await entriesOf(able, request, list, passTo) };
  if (request.method === 'logging/setLevel') {
    await answersOf(able.map((server) => passTo(server, request)));
    return {};
  }
  return passToOwner(await candidatesOf(able, request, passTo), request, passTo);
}

type PassTo = (server: StoredServer, request: PassedRequest) => Promise<JsonObject>;

/** The servers with the capability. One that does not start is left out unless it is the only one. */
async function ableServers(
  servers: readonly StoredServer[],
  request: PassedRequest,
  links: Links,
  timeoutMs: number,
): Promise<StoredServer[]> {
  const capability = CAPABILITY_OF[request.method] ?? '';
  const found = await Promise.allSettled(
    servers.map(async (server) => (await links.capabilities(server, request, timeoutMs))[capability] !== undefined),
  );
  const [only] = found;
  if (found.length === 1 && only?.status === 'rejected') throw only.reason;
  return servers.filter((_, at) => {
    const one = found[at];
    return one?.status === 'fulfilled' && one.value;
  });
}

/** What was answered: a server that fails takes nothing away from the others. Throws why the first failed if all did. */
async function answersOf<T>(asked: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(asked);
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = settled.find((one) => one.status === 'rejected');
  if (answers.length === 0 && failed !== undefined) throw failed.reason;
  return answers;
}

/** The entries of all servers. Of two with the same name or URI the first counts. */
async function entriesOf(
  servers: readonly StoredServer[],
  request: PassedRequest,
  list: string,
  passTo: PassTo,
): Promise<Json[]> {
  const pages = await answersOf(servers.map((server) => entriesOfServer(server, request, list, passTo)));
  const first = new Map<string, Json>();
  for (const entry of pages.flat()) {
    const id = JSON.stringify(isJsonObject(entry) ? (entry.uri ?? entry.uriTemplate ?? entry.name ?? entry) : entry);
    if (!first.has(id) && first.size < ENTRIES_MAX) first.set(id, entry);
  }
  return [...first.values()];
}

async function entriesOfServer(
  server: StoredServer,
  { params, ...request }: PassedRequest,
  list: string,
  passTo: PassTo,
): Promise<Json[]> {
  const entries: Json[] = [];
  const { cursor: _, ...others } = params;
  let cursor: Json | undefined;
  for (let page = 0; page < PAGES_MAX && entries.length < ENTRIES_MAX; page++) {
    const asked = cursor === undefined ? others : { ...others, cursor };
    const answer = await passTo(server, { ...request, params: asked });
    const found = answer[list];
    if (Array.isArray(found)) entries.push(...found);
    if (typeof answer.nextCursor !== 'string' || answer.nextCursor === '' || answer.nextCursor === cursor) break;
    cursor = answer.nextCursor;
  }
  return entries;
}

/** A server that may have what is asked for. */
interface Candidate {
  readonly server: StoredServer;
  /** It lists it. */
  readonly isOwner: boolean;
}

/** Where what is asked for may be: the servers that list it, then the others, whose templates may match. */
async function candidatesOf(
  servers: readonly StoredServer[],
  request: PassedRequest,
  passTo: PassTo,
): Promise<Candidate[]> {
  if (servers.length < 2) return servers.map((server) => ({ server, isOwner: true }));
  const ref = isJsonObject(request.params.ref) ? request.params.ref : request.params;
  const [method, list, key] =
    ref.uri === undefined
      ? ['prompts/list', 'prompts', 'name']
      : request.params.ref === undefined
        ? ['resources/list', 'resources', 'uri']
        : ['resources/templates/list', 'resourceTemplates', 'uriTemplate'];
  const asking = { ...request, method, params: metaOnly(request.params) };
  const owns = await Promise.all(
    servers.map((server) =>
      entriesOfServer(server, asking, list, passTo).then(
        (entries) => entries.some((entry) => isJsonObject(entry) && entry[key] === (ref.uri ?? ref.name)),
        () => false,
      ),
    ),
  );
  const candidates = servers.map((server, at) => ({ server, isOwner: owns[at] ?? false }));
  return [...candidates.filter(({ isOwner }) => isOwner), ...candidates.filter(({ isOwner }) => !isOwner)];
}

function metaOnly({ _meta }: JsonObject): JsonObject {
  return _meta === undefined ? {} : { _meta };
}

/** What the owner says counts, unless it does not have it after all. Of the others, any may fail in its own way. */
async function passToOwner(
  candidates: readonly Candidate[],
  request: PassedRequest,
  passTo: PassTo,
): Promise<JsonObject> {
  const faults: unknown[] = [];
  for (const { server, isOwner } of candidates) {
    try {
      return await passTo(server, request);
    } catch (thrown) {
      if (request.signal.aborted || (isOwner && !isNotFound(thrown))) throw thrown;
      faults.push(thrown);
    }
  }
  throw faults.find(isNotFound) ?? faults[0] ?? unknownTarget(request);
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof McpError && NOT_FOUND.includes(thrown.code);
}

function unknownTarget({ method, params, client }: PassedRequest): McpError | ContextdError {
  const { uri } = params;
  if (uri === undefined) return new McpError(-32_602, `no MCP server of this project answers ${method}`);
  return new McpError(client.isLegacy ? -32_002 : -32_602, `Resource not found: ${JSON.stringify(uri).slice(0, 300)}`, {
    uri,
  });
}
