import type { ConnectionFact } from './messages.ts';

/** Why a program gets no connection, in the forms of each protocol. */
export interface Refusal {
  /** 400 malformed, 403 not allowed, 502 allowed but not reached, 503 over a limit. */
  readonly status: 400 | 403 | 502 | 503;
  /** One sentence or two, in printable ASCII. */
  readonly text: string;
}

/** TLS alerts (RFC 8446): a client reports them by name. */
export const ALERT_ACCESS_DENIED = 49;
export const ALERT_UNRECOGNIZED_NAME = 112;

/** What `ctxd network allow` takes to allow the host at the port; 0: a name look-up. */
export function allowTarget(host: string, port: number): string {
  return port === 0 || port === 443 || port === 80 ? host : `${host}:${port}`;
}

/** How a person lets commands send more to a host with credentials. */
export function howToBind(host: string, port: number): string {
  const target = port === 443 ? host : `${host}:${port}`;
  return `ctxd network credential add ${target} --from SOURCE --paths PATHS, with --push or --methods if it is needed`;
}

/** Why a host is refused that a rule denies, as a clause. */
export function deniedBy(pattern: string): string {
  return `the rule ${pattern} denies it`;
}

export function denial({
  host,
  port,
  why,
  isAllowable,
  isBindable = false,
}: Pick<ConnectionFact, 'host' | 'port' | 'why' | 'isAllowable' | 'isBindable'>): Refusal {
  const how = isBindable ? howToBind(host, port) : `ctxd network allow ${allowTarget(host, port)}`;
  const remedy = isAllowable || isBindable ? `. A person can allow it: ${how}` : '';
  return { status: 403, text: plain(`contextd refused ${host}:${port}: ${why}${remedy}`) };
}

export function failure(host: string, port: number, why: string): Refusal {
  return { status: 502, text: plain(`contextd: ${host}:${port} is allowed, but ${why}`) };
}

export function malformed(why: string): Refusal {
  return { status: 400, text: plain(`contextd: ${why}`) };
}

export function overLimit(why: string): Refusal {
  return { status: 503, text: plain(`contextd: ${why}`) };
}

/** The header of a refusal besides its reason phrase and body. Only what a rule refuses has it. */
export function refusalHeaders({ status, text }: Refusal): Record<string, string> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(text.length + 1),
    ...(status === 403 ? { 'X-Contextd-Denied': text } : {}),
    Connection: 'close',
  };
}

/** The whole answer. Most clients print the reason phrase, others the body; `curl -v` prints the header. */
export function refusalBytes(refusal: Refusal): string {
  const headers = Object.entries(refusalHeaders(refusal)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${refusal.text}\r\n${headers.join('')}\r\n${refusal.text}\n`;
}

/** A line before the SSH banner, which clients print. */
export function sshLine({ text }: Refusal): string {
  return `${text}\r\n`;
}

export function tlsAlert(description: number): Buffer {
  return Buffer.from([0x15, 3, 3, 0, 2, 2, description]);
}

function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
