import type { IncomingMessage } from 'node:http';

/** A host and port as a program wrote them. */
export interface Authority {
  readonly host: string;
  readonly port: number;
}

const AUTHORITY = /^([^\s:@/?#[\]\\]+|\[[^\s@/?#[\]\\]*\])(?::([1-9][0-9]{0,4}))?$/;
/** Headers between two neighbours (RFC 9110 §7.6.1), those that the proxy answers itself, and Host, which it sets. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const METHODS_WITH_BODY = ['POST', 'PUT', 'PATCH'];

/** `host:port` of CONNECT; null if it is malformed. */
export function readAuthority(text: string, defaultPort: number | null): Authority | null {
  const [, host, digits] = AUTHORITY.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === undefined || port === null || port > 65_535 ? null : { host, port };
}

/** The parts of `http://authority/path`; null for anything else. */
export function readAbsolute(url: string): { authority: Authority; path: string } | null {
  const [, text = '', rest = ''] = /^http:\/\/([^/?#]+)([^#]*)$/i.exec(url) ?? [];
  const authority = readAuthority(text, 80);
  if (authority === null) return null;
  return { authority, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** The one Host header; null if there is no such header, or several. */
export function hostHeader({ rawHeaders }: IncomingMessage): string | null {
  const hosts = pairs(rawHeaders).filter(([name]) => name.toLowerCase() === 'host');
  return hosts.length === 1 ? (hosts[0]?.[1] ?? null) : null;
}

/**
 * The headers that reach the host, in the form of `rawHeaders`. `isDropped` gets a name in lower case with `-` for `_`, which
 * some servers take for the same.
 */
export function requestHeaders(
  request: IncomingMessage,
  host: string,
  { connection, isDropped = () => false }: { connection: 'close' | 'keep-alive'; isDropped?(name: string): boolean },
): string[] {
  const leftOut = (name: string): boolean => name === 'content-length' || isDropped(name);
  return [
    'Host',
    host,
    ...forwarded(request.rawHeaders, request.headers.connection, leftOut),
    ...framing(request),
    'Connection',
    connection,
  ];
}

/** Says how long the body is. A body whose length the host does not know would be read as the next request. */
function framing({ method = 'GET', headers }: IncomingMessage): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked'];
  const length = headers['content-length'] ?? (METHODS_WITH_BODY.includes(method) ? '0' : undefined);
  return length === undefined ? [] : ['Content-Length', length];
}

export function responseHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  return forwarded(rawHeaders, headers.connection, () => false);
}

function forwarded(
  rawHeaders: readonly string[],
  connection: string | undefined,
  isDropped: (name: string) => boolean,
): string[] {
  const named = (connection ?? '').split(',').map(plainName);
  const isLeftOut = (name: string): boolean => NOT_FORWARDED.has(name) || named.includes(name) || isDropped(name);
  return pairs(rawHeaders)
    .filter(([name]) => !isLeftOut(plainName(name)))
    .flat();
}

function plainName(name: string): string {
  return name.trim().toLowerCase().replaceAll('_', '-');
}

function pairs(rawHeaders: readonly string[]): [name: string, value: string][] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) found.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return found;
}
