import type { Timer } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { PassedRequest } from '../../core/passing.ts';
import { uriKey } from '../../gateway/uri-key.ts';
import { parseUriTemplate } from '../../gateway/uri-template.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import { DEFINITION_BOUNDS, DEFINITION_KINDS } from '../../upstream/definitions.ts';
import type { UpstreamLinks } from './links.ts';
import type { OfferKind, Offers } from './offered.ts';

export interface Passage {
  readonly links: Pick<UpstreamLinks, 'capabilities' | 'pass'>;
  readonly offers: Offers;
  readonly timer: Timer;
  /** Milliseconds for a request that one server answers. */
  readonly timeoutMs: number;
}

/** A server that may have what is asked for. */
export interface Candidate {
  readonly server: StoredServer;
  /** It lists it. */
  readonly isOwner: boolean;
  /** It has something of the kind that the caller may not use. What it says of an unknown name would tell that from a hidden one. */
  readonly isHiding: boolean;
}

interface List {
  readonly method: string;
  /** The key under which the list has its entries. */
  readonly key: string;
}

export const LIST_OF: Readonly<Record<OfferKind, List>> = {
  resource: { method: 'resources/list', key: 'resources' },
  template: { method: 'resources/templates/list', key: 'resourceTemplates' },
  prompt: { method: 'prompts/list', key: 'prompts' },
};

export const ENTRIES_MAX = 4_096;
/** Milliseconds for a server to answer a list that others wait for. */
const LIST_MS = 10_000;

/**
 * The server that lists what is asked for, and no other. Of a resource that no server lists, all, whose templates may match; those
 * that did not answer come last. A server that lists it, but not for this client, is left out, and so is one that does not list a
 * prompt: what a person has not accepted is not asked for. `isResumed`: no list is asked for, because a server that waits for
 * an answer may not answer a list.
 */
export async function candidatesOf(
  servers: readonly StoredServer[],
  request: PassedRequest,
  passage: Passage,
  isResumed: boolean,
): Promise<Candidate[]> {
  const all = await Promise.all(
    servers.map(async (server) => ({ server, ...(await standingOf(server, request, passage, isResumed)) })),
  );
  const having = (wanted: Standing): Candidate[] =>
    all
      .filter(({ standing }) => standing === wanted)
      .map(({ server, isHiding }) => ({ server, isHiding, isOwner: wanted === 'owner' }));
  const [owner] = having('owner');
  return owner === undefined ? [...having('other'), ...having('silent')] : [owner];
}

/** `silent`: it did not answer its list. */
type Standing = 'owner' | 'other' | 'silent' | 'denied';

async function standingOf(
  server: StoredServer,
  request: PassedRequest,
  passage: Passage,
  isResumed: boolean,
): Promise<{ standing: Standing; isHiding: boolean }> {
  const { kind, name } = targetOf(request);
  const live = async (of: OfferKind): Promise<JsonObject[] | null> =>
    isResumed ? null : listed(server, of, request, passage).catch(() => null);
  const keyOf = (text: Json | undefined): string => (kind === 'resource' ? uriKey(String(text)) : String(text));
  const isNamed = (definition: JsonObject): boolean => keyOf(definition[DEFINITION_KINDS[kind].key]) === keyOf(name);
  const mayUse = (of: OfferKind) => (definition: JsonObject) => passage.offers.mayUse(server, of, definition);
  const now = await live(kind);
  const isHiding = [...(now ?? []), ...seenOf(server, kind)].some((definition) => !mayUse(kind)(definition));
  const as = (standing: Standing) => ({ standing, isHiding });
  const found = now?.filter(isNamed) ?? [];
  const known = found.length > 0 ? found : seenOf(server, kind).filter(isNamed);
  if (!known.every(mayUse(kind))) return as('denied');
  if (found.length > 0) return as('owner');
  if (kind === 'prompt' && known.length === 0 && !isResumed) return as('denied');
  const unlisted = now === null ? 'silent' : 'other';
  if (kind !== 'resource' || known.length > 0) return as(unlisted);
  const templates = [...((await live('template')) ?? []), ...seenOf(server, 'template')];
  const hasHidden = isHiding || !templates.every(mayUse('template'));
  // To subscribe to what does not exist succeeds at most servers, and to what is hidden does not.
  if (hasHidden && request.method.endsWith('subscribe')) return as('denied');
  const matching = templates.filter(({ uriTemplate }) => parseUriTemplate(String(uriTemplate))?.matches(name));
  if (matching.length > 0) return as(matching.some(mayUse('template')) ? unlisted : 'denied');
  return { standing: unlisted, isHiding: hasHidden };
}

/** What a request is for. */
function targetOf({ params }: PassedRequest): { kind: OfferKind; name: string } {
  const ref = isJsonObject(params.ref) ? params.ref : params;
  if (ref.uri === undefined) return { kind: 'prompt', name: String(ref.name) };
  return { kind: params.ref === undefined ? 'resource' : 'template', name: String(ref.uri) };
}

function seenOf({ seen }: StoredServer, kind: OfferKind): JsonObject[] {
  return seen.filter((one) => one.kind === kind).map(({ text }) => JSON.parse(text));
}

function listed(
  server: StoredServer,
  kind: OfferKind,
  request: PassedRequest,
  passage: Passage,
): Promise<JsonObject[]> {
  const { _meta } = request.params;
  const { method } = LIST_OF[kind];
  const asking = { ...request, method, params: _meta === undefined ? {} : { _meta } };
  return bounded(asking, passage.timer, LIST_MS, (given) => entriesOfServer(server, given, kind, passage));
}

/** All entries of a list of a server, as they are, within the bounds of every list of a server. */
export async function entriesOfServer(
  server: StoredServer,
  { params, ...request }: PassedRequest,
  kind: OfferKind,
  { links, timeoutMs }: Passage,
): Promise<JsonObject[]> {
  const { pages, pagesBytes, definitionBytes, allBytes } = DEFINITION_BOUNDS;
  const entries: JsonObject[] = [];
  const { cursor: _, ...others } = params;
  let cursor: Json | undefined;
  let [readBytes, keptBytes] = [0, 0];
  for (let page = 0; page < pages && readBytes <= pagesBytes && entries.length < ENTRIES_MAX; page++) {
    const asked = cursor === undefined ? others : { ...others, cursor };
    const answer = await links.pass(server, { ...request, params: asked }, { timeoutMs });
    const found = answer[LIST_OF[kind].key];
    for (const entry of Array.isArray(found) ? found.filter(isJsonObject) : []) {
      const bytes = Buffer.byteLength(JSON.stringify(entry));
      if (bytes > definitionBytes || keptBytes + bytes > allBytes || entries.length >= ENTRIES_MAX) continue;
      keptBytes += bytes;
      entries.push(entry);
    }
    readBytes += Buffer.byteLength(JSON.stringify(answer));
    if (typeof answer.nextCursor !== 'string' || answer.nextCursor === '' || answer.nextCursor === cursor) break;
    cursor = answer.nextCursor;
  }
  return entries;
}

/** Cancels a request that is not answered in time. The promise rejects even if the server ignores that. */
export async function bounded<T>(
  request: PassedRequest,
  timer: Timer,
  ms: number,
  work: (request: PassedRequest) => Promise<T>,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const ended = new AbortController();
  const cancel = timer.after(ms, () => {
    const why = new ContextdError(
      'UPSTREAM_TIMEOUT',
      `the MCP server did not answer ${request.method} within ${ms} ms`,
    );
    ended.abort(why);
    late.reject(why);
  });
  try {
    return await Promise.race([
      work({ ...request, signal: AbortSignal.any([request.signal, ended.signal]) }),
      late.promise,
    ]);
  } finally {
    cancel();
  }
}
