import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Taken {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Metric {
  name: string;
  [kind: string]: unknown;
}

/** A small collector of OpenTelemetry, over HTTP with JSON. */
export class OtlpCollector {
  /** `hang`: takes a request and never answers it. A number refuses with this status. */
  mode: 'take' | 'hang' | number = 'take';
  readonly taken: Taken[] = [];
  /** Requests in the other modes. */
  untaken = 0;
  readonly #held = new Set<ServerResponse>();
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (this.mode === 'take') {
        this.taken.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() });
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
        return;
      }
      this.untaken += 1;
      if (this.mode === 'hang') this.#held.add(response);
      else response.writeHead(this.mode).end();
    });
  });

  /** Listens, at the port of before if it did so before. Returns its address. */
  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.#port}`;
  }

  #port = 0;

  /** Ends every connection. */
  async close(): Promise<void> {
    for (const response of this.#held) response.destroy();
    this.#held.clear();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Answers the requests that hang. */
  release(): void {
    for (const response of this.#held) response.writeHead(200).end('{}');
    this.#held.clear();
  }

  spans(): Span[] {
    return this.#bodies('/v1/traces').flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: Span[] }[] }) =>
        scopeSpans.flatMap(({ spans }) => spans),
      ),
    );
  }

  /** The metrics as they were sent last. */
  metrics(): Metric[] {
    const [{ scopeMetrics } = { scopeMetrics: [] }] = this.#bodies('/v1/metrics').at(-1)?.resourceMetrics ?? [];
    return scopeMetrics.flatMap(({ metrics }: { metrics: Metric[] }) => metrics);
  }

  #bodies(path: string) {
    return this.taken.filter((one) => one.path === path).map(({ body }) => JSON.parse(body));
  }
}
