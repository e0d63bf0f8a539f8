import { SdkErrorCode, SdkHttpError, SSEClientTransport, SseError } from '@modelcontextprotocol/client';
import { type ConnectOptions, UpstreamConnection } from './connection.ts';
import { HttpTransport } from './http-transport.ts';
import type { RelayFetch } from './relay-fetch.ts';
import { statusOf } from './session-faults.ts';

/** Statuses with which a server of 2024 refuses the first POST (MCP 2025-11-25, Transports, Backwards Compatibility). */
const REFUSES_POST: readonly (number | null)[] = [400, 404, 405];

type Fetch = RelayFetch['fetch'];

/** Speaks streamable HTTP, and HTTP with server-sent events to a server that does not. Throws what the SDK throws. */
export async function connectOverHttp(url: string, fetch: Fetch, options: ConnectOptions): Promise<UpstreamConnection> {
  try {
    return await UpstreamConnection.open(new HttpTransport(url, { ...options, fetch }), options);
  } catch (thrown) {
    if (!REFUSES_POST.includes(statusOf(thrown))) throw thrown;
    return await connectOverEvents(url, fetch, options).catch((failure: unknown) => {
      throw hasNoEvents(failure) ? thrown : failure;
    });
  }
}

/** True if the GET was answered, but not with events: then the answer to the POST says what is wrong. */
function hasNoEvents(thrown: unknown): boolean {
  const status = SseError.isInstance(thrown) ? statusOf(thrown) : null;
  return status !== null && (status < 300 || REFUSES_POST.includes(status));
}

/** The SDK accepts an endpoint of the server's own origin only. */
function connectOverEvents(url: string, fetch: Fetch, options: ConnectOptions): Promise<UpstreamConnection> {
  const transport = new SSEClientTransport(new URL(url), { eventSourceInit: { fetch }, fetch: checkedPosts(fetch) });
  // All answers come through one stream. The SDK would open another one, which the server takes for another client.
  transport.onerror = (error) => {
    if (SseError.isInstance(error)) void transport.close();
  };
  // No server of a newer revision has this transport, and old ones take no request before the handshake.
  return UpstreamConnection.open(transport, { ...options, isLegacy: true });
}

/** The SDK says the status of a refused POST in a sentence only. */
function checkedPosts(fetch: Fetch): Fetch {
  return async (target, init) => {
    const response = await fetch(target, init);
    const { status, statusText } = response;
    if (status < 400) return response;
    await response.body?.cancel();
    throw new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `HTTP ${status}`, { status, statusText });
  };
}
