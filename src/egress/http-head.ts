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

/** The headers that reach the host, in the form of `rawHeaders`. */
export function requestHeaders(request: IncomingMessage, host: string): string[] {
  const { method = 'GET', headers } = request;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const isEmpty = !isChunked && headers['content-length'] === undefined && METHODS_WITH_BODY.includes(method);
  return [
    ...['Host', host],
    ...forwarded(request.rawHeaders, headers.connection),
    ...(isChunked ? ['Transfer-Encoding', 'chunked'] : []),
    ...(isEmpty ? ['Content-Length', '0'] : []),
    ...['Connection', 'close'],
  ];
}

export function responseHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  return forwarded(rawHeaders, headers.connection);
}

function forwarded(rawHeaders: readonly string[], connection: string | undefined): string[] {
  const named = (connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return pairs(rawHeaders)
    .filter(([name]) => !NOT_FORWARDED.has(name.toLowerCase()) && !named.includes(name.toLowerCase()))
    .flat();
}

function pairs(rawHeaders: readonly string[]): [name: string, value: string][] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) found.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return found;
}
