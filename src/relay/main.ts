import { request } from 'node:http';
import { createInterface } from 'node:readline';

/**
 * Runs in the sandbox of an MCP server that is reached over HTTP, from this folder alone, and makes the requests that the
 * daemon passes on stdin, one a line: `{id, url, method, headers, redirect, body?}` or `{abort: id}`. It answers with lines
 * `{id, status, headers}`, `{id, chunk}` in base64, and `{id}` or `{id, error, sent}` at the end. `sent`: false if it certainly did
 * not reach the server.
 */
interface Asked {
  readonly id: number;
  readonly url: string;
  readonly method: string;
  readonly headers: [string, string][];
  readonly redirect: 'follow' | 'error' | 'manual';
  readonly body?: string;
  readonly abort?: number;
}

/** A line of the daemon's reader is shorter than 512 KiB. */
const PART_BYTES = 192 * 1024;

const open = new Map<number, AbortController>();

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const asked: Asked = JSON.parse(line);
    if (asked.abort === undefined) void carry(asked);
    else open.get(asked.abort)?.abort();
  })
  .on('close', () => process.exit(0));

async function carry({ id, url, method, headers, redirect, body }: Asked): Promise<void> {
  const ending = new AbortController();
  open.set(id, ending);
  try {
    const { signal } = ending;
    const response = await fetch(url, { method, headers, redirect, signal, ...(body === undefined ? {} : { body }) });
    await say({ id, status: response.status, headers: [...response.headers] });
    for await (const chunk of response.body ?? [])
      for (let at = 0; at < chunk.length; at += PART_BYTES)
        await say({ id, chunk: Buffer.from(chunk.subarray(at, at + PART_BYTES)).toString('base64') });
    await say({ id });
  } catch (thrown) {
    await say({ id, ...(await reasonOf(thrown, url)) });
  } finally {
    open.delete(id);
  }
}

interface Reason {
  readonly error: string;
  readonly sent: boolean;
}

/** Codes of errors that come before there is a connection. */
const NO_CONNECTION: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** What fetch hides in its causes. What the proxy of the sandbox refuses a tunnel for is hidden there, too. */
async function reasonOf(thrown: unknown, url: string): Promise<Reason> {
  if (!(thrown instanceof Error)) return { error: String(thrown), sent: true };
  const { cause, message } = thrown;
  if (cause instanceof Error) return reasonOf(cause, url);
  const hasTunnel = !message.startsWith('Proxy response');
  const refusal = hasTunnel ? null : await refusalOf(new URL(url));
  const isConnected = !('code' in thrown) || !NO_CONNECTION.includes(thrown.code);
  return { error: refusal ?? message, sent: hasTunnel && isConnected };
}

/** The reason phrase with which the proxy refuses a tunnel; null if it does not. */
function refusalOf({ hostname, port, protocol }: URL): Promise<string | null> {
  const proxy = URL.parse(process.env.HTTPS_PROXY ?? '');
  if (proxy === null) return Promise.resolve(null);
  const path = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  return new Promise((resolve) => {
    request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path })
      .on('connect', ({ statusCode, statusMessage }, socket) => {
        socket.destroy();
        resolve(statusCode === 200 ? null : (statusMessage ?? null));
      })
      .on('error', () => resolve(null))
      .end();
  });
}

function say(message: object): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()));
}
