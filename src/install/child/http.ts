import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { ContextdError, type ErrorCode } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { shown } from './names.ts';
import { findLogin, type Login } from './netrc.ts';

/** Characters of an answer in JSON. */
const JSON_MAX_CHARS = 4 * 1024 * 1024;
const REDIRECTS_MAX = 10;
const REDIRECTS = [301, 302, 303, 307, 308];

type Headers = Readonly<Record<string, string>>;

/** An answer whose status is 200. Its bytes must be read or destroyed. */
export interface HttpAnswer {
  body: AsyncIterable<Buffer>;
  /** As the server announces it; null if it does not. */
  length: number | null;
  /** Ends the connection. */
  close(): void;
}

export interface HttpOptions {
  home: string;
  /** HTTPS_PROXY and NO_PROXY of the person. */
  variables: Readonly<Record<string, string>>;
  /** Milliseconds without a byte. */
  stallMs: number;
}

/**
 * Requests `url` and follows redirects, only to https. The login of ~/.netrc goes to `named` only, the origin that the person
 * named: a server must not make this machine log in to another one. `headers` go to the origin of `url` only. Null: 404 or 410. Throws AUTH_FAILED, RATE_LIMITED, UPSTREAM_ERROR, UPSTREAM_TIMEOUT or
 * UPSTREAM_UNAVAILABLE.
 */
export async function get(
  url: string,
  options: HttpOptions,
  headers: Headers = {},
  named: string = new URL(url).origin,
): Promise<HttpAnswer | null> {
  const agent = new Agent({ proxyEnv: { ...options.variables } });
  const first = new URL(url);
  let at = first;
  for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
    const login = at.origin === named ? await findLogin(options.home, at.hostname) : null;
    const answer = await ask(at, agent, options, { headers: at.origin === first.origin ? headers : {}, login });
    const { statusCode: status = 0 } = answer;
    if (!REDIRECTS.includes(status)) return toAnswer(answer, at, status);
    answer.destroy();
    at = redirectTarget(at, answer.headers.location);
  }
  throw fault(
    'UPSTREAM_ERROR',
    at,
    `redirects more than ${REDIRECTS_MAX} times`,
    'Give the address where the archive is.',
  );
}

/** Sends JSON and reads JSON, with the login of ~/.netrc. Follows no redirect. Null: 404 or 410. Throws as `get` does. */
export async function postJson(
  url: string,
  body: JsonObject,
  options: HttpOptions,
  headers: Headers,
): Promise<unknown> {
  const at = new URL(url);
  const agent = new Agent({ proxyEnv: { ...options.variables } });
  const login = await findLogin(options.home, at.hostname);
  const answer = await ask(at, agent, options, { headers, login, body: JSON.stringify(body) });
  const found = toAnswer(answer, at, answer.statusCode ?? 0);
  if (found === null) return null;
  let text = '';
  for await (const chunk of found.body) {
    text += chunk.toString('utf8');
    if (text.length > JSON_MAX_CHARS) break;
  }
  found.close();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw fault('UPSTREAM_ERROR', at, 'answered with something that is not JSON', 'Check the address.', cause);
  }
}

async function ask(
  url: URL,
  agent: Agent,
  { stallMs }: HttpOptions,
  { headers, login, body }: { headers: Headers; login: Login | null; body?: string },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(url, {
    agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: { Accept: '*/*', 'Accept-Encoding': 'identity', 'User-Agent': 'contextd', ...headers },
    ...(login === null || headers.Authorization !== undefined ? {} : { auth: `${login.user}:${login.password}` }),
    timeout: stallMs,
  });
  let answer: IncomingMessage | null = null;
  sent.once('timeout', () => (answer ?? sent).destroy(stalled(url, stallMs)));
  sent.on('error', (error) => reject(unreachable(url, error)));
  sent.once('response', (response) => {
    answer = response;
    resolve(response);
  });
  sent.end(body);
  return promise;
}

function redirectTarget(from: URL, location: string | undefined): URL {
  const to = location === undefined ? null : URL.parse(location, from.href);
  if (to === null)
    throw fault('UPSTREAM_ERROR', from, 'redirects to nowhere', 'Give the address where the archive is.');
  if (to.protocol === 'https:' && to.username === '' && to.password === '') return to;
  throw fault(
    'UPSTREAM_ERROR',
    from,
    `redirects to ${to.protocol}//${to.host}, and only https is followed`,
    'Give an https address.',
  );
}

function toAnswer(answer: IncomingMessage, url: URL, status: number): HttpAnswer | null {
  if (status !== 200) answer.destroy();
  if (status === 404 || status === 410) return null;
  if (status === 401 || status === 403 || status === 407) {
    const remedy = `Put a login for ${url.hostname} into ~/.netrc, and check that it may read this file.`;
    throw fault('AUTH_FAILED', url, `answered ${status}: it wants other credentials`, remedy);
  }
  if (status === 429) throw fault('RATE_LIMITED', url, 'answered 429: too many requests', 'Try again later.');
  if (status !== 200)
    throw fault('UPSTREAM_ERROR', url, `answered ${status}`, 'Check the address, or try again later.');
  if (!['', 'identity'].includes(answer.headers['content-encoding'] ?? ''))
    throw fault('UPSTREAM_ERROR', url, 'sent the archive in an encoding that was not asked for', 'Use another server.');
  const length = Number(answer.headers['content-length'] ?? Number.NaN);
  return {
    body: bodyOf(answer, url),
    length: Number.isSafeInteger(length) ? length : null,
    close: () => answer.destroy(),
  };
}

async function* bodyOf(answer: IncomingMessage, url: URL): AsyncIterable<Buffer> {
  try {
    for await (const chunk of answer) yield chunk;
  } catch (thrown) {
    if (thrown instanceof ContextdError) throw thrown;
    throw fault('UPSTREAM_UNAVAILABLE', url, `broke the connection off (${reasonOf(thrown)})`, 'Try again.', thrown);
  }
}

function stalled(url: URL, stallMs: number): ContextdError {
  return fault('UPSTREAM_TIMEOUT', url, `sent nothing for ${stallMs / 1_000} s`, 'Try again later.');
}

function unreachable(url: URL, thrown: Error): ContextdError {
  if (thrown instanceof ContextdError) return thrown;
  const isTrust = /CERT|SIGN|ISSUER|ALTNAME|VERIFY/.test('code' in thrown ? String(thrown.code) : '');
  const remedy = isTrust
    ? 'If an authority of your own signs for this server, name its file in NODE_EXTRA_CA_CERTS.'
    : 'Check the host name, the network and HTTPS_PROXY.';
  return fault('UPSTREAM_UNAVAILABLE', url, `cannot be reached (${reasonOf(thrown)})`, remedy, thrown);
}

function reasonOf(thrown: unknown): string {
  const { code, message } = Object(thrown);
  return typeof code === 'string' ? code : shown(String(message));
}

/** The path of an address may hold a token after a redirect, so messages name only the host. */
function fault(code: ErrorCode, url: URL, what: string, remedy: string, cause?: unknown): ContextdError {
  return new ContextdError(code, `https://${url.host} ${what}`, { remedy, details: { host: url.host }, cause });
}
