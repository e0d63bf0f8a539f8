import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { QdrantCollections, type ServerAnswer } from './qdrant-collections.ts';

/**
 * What goes wrong with a request. `hung`: it never gets an answer. `lost`: it is carried out, and the connection breaks.
 * `late`: it is carried out only when the test calls `catchUp`, and its connection breaks at once. `truncated`: the answer
 * ends in the middle. `slow`: the answer begins and does not end.
 */
export type Fault = 'hung' | 'lost' | 'late' | 'broken' | '503' | 'truncated' | 'slow';

export interface ForgedAnswer {
  status: number;
  headers: Record<string, string>;
  text: string | Buffer;
}

export interface TestQdrant {
  url: string;
  /** A name that no other test uses. */
  collection: string;
  /** Asked before each request: what is to go wrong with it. */
  fault: (request: { method: string; path: string }) => Fault | null;
  /** Asked before each request: what is answered instead of what a server would. */
  answer: (request: { method: string; path: string }) => ForgedAnswer | null;
  /** Requests that came, as `METHOD path` without the name of the collection. */
  requests: string[];
  /** Bodies of the requests. */
  bodies: string[];
  /** Keys that came with requests. */
  keys: unknown[];
  /** Nothing listens any more, and all connections break. What is stored stays. */
  kill(): Promise<void>;
  /** Listens again at the same address. */
  revive(): Promise<void>;
  /** Carries out what is late. */
  catchUp(): Promise<void>;
  /** Removes the collection, as a server does that lost its disk. */
  lose(): Promise<void>;
  /** One request past all faults. */
  ask(method: string, path: string, body?: unknown): Promise<ServerAnswer>;
}

/** The address of a real server; undefined: tests use one that runs inside them. */
export const REAL_SERVER = process.env.QDRANT_URL;

/** A Qdrant server behind a door that makes things go wrong. The server is real if `QDRANT_URL` names one. */
export async function openQdrant(): Promise<TestQdrant> {
  const door = new Door();
  await door.listen();
  onTestFinished(() => door.close());
  return door;
}

class Door implements TestQdrant {
  readonly collection = `contextd_test_${randomBytes(6).toString('hex')}`;
  readonly requests: string[] = [];
  readonly bodies: string[] = [];
  readonly keys: unknown[] = [];
  readonly #inside = new QdrantCollections();
  readonly #late: (() => Promise<unknown>)[] = [];
  #server: Server | null = null;
  #port = 0;
  fault: TestQdrant['fault'] = () => null;
  answer: TestQdrant['answer'] = () => null;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  revive(): Promise<void> {
    return this.listen();
  }

  async close(): Promise<void> {
    await this.kill();
    if (REAL_SERVER !== undefined) await this.lose();
  }

  async catchUp(): Promise<void> {
    for (const work of this.#late.splice(0)) await work();
  }

  async lose(): Promise<void> {
    await this.ask('DELETE', `/collections/${this.collection}`);
  }

  async ask(method: string, path: string, body?: unknown): Promise<ServerAnswer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { status, body: answer } = await this.#carryOut(method, path, text);
    return { status, body: answer };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? '';
    const path = request.url ?? '';
    const body = await textOf(request);
    this.requests.push(`${method} ${path.replace(`/collections/${this.collection}`, '')}`);
    this.bodies.push(body);
    this.keys.push(request.headers['api-key']);
    const fault = this.fault({ method, path });
    if (fault === 'hung') return;
    if (fault === 'broken') return void request.socket.destroy();
    if (fault === 'late') {
      this.#late.push(() => this.#carryOut(method, path, body));
      return void request.socket.destroy();
    }
    if (fault === '503') return void response.writeHead(503).end('the server is overloaded');
    const forged = this.answer({ method, path });
    if (forged !== null) return void response.writeHead(forged.status, forged.headers).end(forged.text);
    const answer = await this.#carryOut(method, path, body);
    if (fault === 'lost') return void request.socket.destroy();
    const text = JSON.stringify(answer.body);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    if (fault === null) return void response.end(text);
    response.write(text.slice(0, text.length / 2));
    if (fault === 'truncated') response.end();
  }

  async #carryOut(method: string, path: string, body: string | undefined): Promise<ServerAnswer> {
    if (REAL_SERVER === undefined) {
      const [route = ''] = path.split('?');
      return this.#inside.answer(method, route, body === undefined || body === '' ? {} : JSON.parse(body));
    }
    const sent = body === undefined || body === '' ? {} : { body, headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${REAL_SERVER}${path}`, { method, ...sent });
    return { status: answer.status, body: await answer.json() };
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
