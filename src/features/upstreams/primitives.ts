import type { ContextdError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { capabilityFor, McpError, type PassedRequest } from '../../core/passing.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import { DEFINITION_KINDS } from '../../upstream/definitions.ts';
import {
  bounded,
  type Candidate,
  candidatesOf,
  ENTRIES_MAX,
  entriesOfServer,
  LIST_OF,
  type Passage,
} from './candidates.ts';
import type { OfferKind } from './offered.ts';
import { type AskedState, invalidState, isAsker } from './sealed-state.ts';

/** Milliseconds for each of several servers to start, and then to answer. What takes longer counts as failing. */
const START_MS = 30_000;
const ANSWER_MS = 10_000;
/** What a server answers that does not have what is asked for, by revision. */
const NOT_FOUND: readonly number[] = [-32_002, -32_602];

interface PassedResult {
  readonly result: JsonObject;
  /** Null: several answered. */
  readonly server: StoredServer | null;
}

/**
 * Passes a request on to the servers that can answer it: a list is that of all of them, anything else goes to the one that lists
 * what is asked for. `asked`: the question that the request answers, which goes to the server that asked and to no other. Throws
 * McpError, and what calls of tools throw.
 */
export async function passPrimitive(
  servers: readonly StoredServer[],
  request: PassedRequest,
  passage: Passage,
  asked: AskedState | null,
): Promise<PassedResult> {
  const meant = asked === null ? servers : servers.filter((server) => isAsker(asked, server));
  if (asked !== null && meant.length === 0) throw invalidState();
  const able = await ableServers(meant, request, passage);
  const kind = KINDS.find((one) => LIST_OF[one].method === request.method);
  if (kind !== undefined) {
    const entries = await entriesOf(able, request, kind, passage);
    return { result: { [LIST_OF[kind].key]: entries }, server: null };
  }
  if (request.method === 'logging/setLevel') {
    await answersOf(able, request, passage, (server, given) =>
      passage.links.pass(server, given, { timeoutMs: passage.timeoutMs }),
    );
    return { result: {}, server: null };
  }
  return passToOwner(await candidatesOf(able, request, passage, asked !== null), request, passage);
}

const KINDS: readonly OfferKind[] = ['resource', 'template', 'prompt'];

/** The servers with the capability. One that does not start is left out unless it is the only one. */
async function ableServers(
  servers: readonly StoredServer[],
  request: PassedRequest,
  passage: Passage,
): Promise<StoredServer[]> {
  const capability = capabilityFor(request.method) ?? '';
  const { links, timeoutMs } = passage;
  const isAble = async (server: StoredServer, given: PassedRequest): Promise<boolean> =>
    (await links.capabilities(server, given, timeoutMs))[capability] !== undefined;
  const found = await Promise.allSettled(
    servers.map((server) => inTime(servers, request, passage, START_MS, (given) => isAble(server, given))),
  );
  const [only] = found;
  if (found.length === 1 && only?.status === 'rejected') throw only.reason;
  return servers.filter((_, at) => {
    const one = found[at];
    return one?.status === 'fulfilled' && one.value;
  });
}

/** What was answered: a server that fails takes nothing away from the others. Throws why the first failed if all did. */
async function answersOf<T>(
  servers: readonly StoredServer[],
  request: PassedRequest,
  passage: Passage,
  ask: (server: StoredServer, request: PassedRequest) => Promise<T>,
): Promise<T[]> {
  const settled = await Promise.allSettled(
    servers.map((server) => inTime(servers, request, passage, ANSWER_MS, (given) => ask(server, given))),
  );
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = settled.find((one) => one.status === 'rejected');
  if (answers.length === 0 && failed !== undefined) throw failed.reason;
  return answers;
}

/** Of several servers none waits long for another. */
function inTime<T>(
  { length }: readonly StoredServer[],
  request: PassedRequest,
  { timer }: Passage,
  ms: number,
  work: (request: PassedRequest) => Promise<T>,
): Promise<T> {
  return length < 2 ? work(request) : bounded(request, timer, ms, work);
}

/** The entries of all servers. Of two with the same name or URI the first counts. */
async function entriesOf(
  servers: readonly StoredServer[],
  request: PassedRequest,
  kind: OfferKind,
  passage: Passage,
): Promise<Json[]> {
  const pages = await answersOf(servers, request, passage, async (server, given) => {
    const entries = await entriesOfServer(server, given, kind, passage);
    return entries.filter((entry) => passage.offers.mayUse(server, kind, entry));
  });
  const first = new Map<string, Json>();
  for (const entry of pages.flat()) {
    const id = String(entry[DEFINITION_KINDS[kind].key]);
    if (!first.has(id) && first.size < ENTRIES_MAX) first.set(id, entry);
  }
  return [...first.values()];
}

/** What the owner says counts, unless it does not have it after all. Of the others, any may fail in its own way. */
async function passToOwner(
  candidates: readonly Candidate[],
  request: PassedRequest,
  { links, timeoutMs }: Passage,
): Promise<PassedResult> {
  const faults: unknown[] = [];
  for (const { server, isOwner, isHiding } of candidates) {
    try {
      return { result: await links.pass(server, request, { timeoutMs }), server };
    } catch (thrown) {
      if (request.signal.aborted || isOwner) throw thrown;
      // Of what the caller may not use contextd itself says that it does not exist.
      if (!isHiding || !isNotFound(thrown)) faults.push(thrown);
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
