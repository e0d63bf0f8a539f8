import type { QdrantClient } from '@qdrant/js-client-rest';
import type { Dispatcher } from 'undici';
import { isErrno } from '../../../core/errors.ts';
import { withoutInvisible } from '../../../core/invisible.ts';
import { isJsonObject, type Json } from '../../../core/json.ts';

export interface QdrantServer {
  /** With http or https; a path in it is put before each route. */
  readonly url: string;
  readonly collection: string;
  /** Milliseconds for one write or one page. */
  readonly timeoutMs: number;
  /** Milliseconds for one search. */
  readonly searchTimeoutMs: number;
  /** Read at the first call and again after a failure. Null: the server asks for none. */
  apiKey(): Promise<string | null>;
}

/** Bytes of one answer, as they come over the network: a page of the longest memories has fewer. */
export const ANSWER_MAX_BYTES = 32 * 1024 * 1024;
/** Characters of a sentence of the server in a fault. */
const REASON_MAX_CHARS = 200;

export type Endpoints = ReturnType<QdrantClient['api']>;

export interface Connection {
  readonly write: Endpoints;
  readonly search: Endpoints;
  /** Of every request. */
  readonly init: RequestInit;
}

/** The server answered what cannot be. */
export class Nonsense extends Error {}

/** The client is loaded here: a machine without a server never pays for it. */
export async function connect(
  { url, timeoutMs, searchTimeoutMs }: QdrantServer,
  key: string | null,
): Promise<Connection> {
  const [{ QdrantClient: Client }, dispatcher] = await Promise.all([
    import('@qdrant/js-client-rest'),
    boundedDispatcher(),
  ]);
  const { origin, protocol, port, pathname } = new URL(url);
  const headers = { 'accept-encoding': 'identity', ...(key === null ? {} : { 'api-key': key }) };
  const prefix = pathname === '/' ? '' : pathname.replace(/\/+$/, '');
  // Without a port the client would take 6333, which is not what the address says.
  const standard = protocol === 'https:' ? 443 : 80;
  const options = {
    url: origin,
    port: port === '' ? standard : Number(port),
    prefix,
    headers,
    checkCompatibility: false,
  };
  return {
    write: new Client({ ...options, timeout: timeoutMs }).api(),
    search: new Client({ ...options, timeout: searchTimeoutMs }).api(),
    // Followed, a redirect would take the key and the memories to an address that nobody configured.
    init: { redirect: 'error', dispatcher },
  };
}

/** The client reads an answer whole. This ends one that is too long, and decompresses none, because it could then grow. */
async function boundedDispatcher(): Promise<NonNullable<RequestInit['dispatcher']>> {
  // The bundle has only the default of a CommonJS package that is imported late.
  const { default: undici } = await import('undici');
  // The client ends each request by its own time-out.
  const agent = new undici.Agent({ bodyTimeout: 0, headersTimeout: 0, maxResponseSize: ANSWER_MAX_BYTES });
  const bounded = agent.compose((dispatch) => (options, handler) => dispatch(options, uncompressed(handler)));
  // Node's types of the same class are of its own version.
  return bounded as unknown as NonNullable<RequestInit['dispatcher']>;
}

function uncompressed(handler: Dispatcher.DispatchHandlers): Dispatcher.DispatchHandlers {
  const plain: Dispatcher.DispatchHandlers = {
    ...handler,
    onHeaders: (status, headers, resume, text) =>
      handler.onHeaders?.call(plain, status, headers.filter(isNotOfEncoding), resume, text) ?? true,
  };
  return plain;
}

/** Names and values alternate. */
function isNotOfEncoding(_: Buffer, index: number, headers: readonly Buffer[]): boolean {
  return headers[index - (index % 2)]?.toString('latin1').toLowerCase() !== 'content-encoding';
}

/** What failed, in words that follow "the Qdrant server"; without `key`, which a server may echo. */
export function faultOf(thrown: unknown, key: string | null): string {
  const shown = (text: string): string => {
    const masked = key === null || key === '' ? text : text.replaceAll(key, '[API key]');
    return withoutInvisible(masked.replaceAll(/\s+/g, ' ')).slice(0, REASON_MAX_CHARS);
  };
  if (!(thrown instanceof Error)) return 'failed';
  if (thrown instanceof Nonsense) return thrown.message;
  if (thrown.name === 'QdrantClientTimeoutError' || thrown.constructor.name === 'QdrantClientTimeoutError')
    return 'did not answer in time';
  const status = statusOf(thrown);
  if (status !== null) {
    const reason = reasonIn(thrown);
    return `answered ${status}${reason === '' ? '' : `: ${shown(reason)}`}`;
  }
  const { cause } = thrown;
  if (cause instanceof Error && cause.message === REDIRECTED)
    return 'answered with a redirect to another address, which is not followed';
  if (isErrno(cause) && cause.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return `answered more than ${ANSWER_MAX_BYTES / 1024 / 1024} MiB`;
  if (isErrno(cause)) return `cannot be reached (${cause.code})`;
  if (thrown instanceof SyntaxError) return 'answered something that is not JSON';
  return `failed: ${shown(thrown.message)}`;
}

/** What Node's fetch says if a redirect is an error. */
const REDIRECTED = 'unexpected redirect';

export function statusOf(thrown: unknown): number | null {
  return thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number' ? thrown.status : null;
}

/** The server's own sentence, which names what it refuses and holds no text of a memory, or ''. */
function reasonIn(thrown: Error): string {
  const data: unknown = 'data' in thrown ? thrown.data : undefined;
  const status: Json | undefined = isJsonObject(data) ? data.status : undefined;
  const error = isJsonObject(status) ? status.error : undefined;
  return typeof error === 'string' ? error : '';
}
