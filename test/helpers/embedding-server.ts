import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export const EMBEDDING_FAULTS = [
  'broken',
  'hung',
  '500',
  '429',
  'redirect',
  'truncated',
  'html',
  'wrong',
  'short',
  'nan',
  'zero',
  'text',
] as const;
/**
 * What goes wrong with a request. `broken`: the connection breaks. `hung`: it gets no answer. `wrong`: vectors have one number
 * more than before. `short`: one vector is missing. `nan`, `zero`, `text`: something that is not a vector.
 */
export type EmbeddingFault = (typeof EMBEDDING_FAULTS)[number] | '400';

export interface EmbeddingServer {
  /** The address before `/embeddings`. */
  url: string;
  /** Asked before each request: what is to go wrong with these texts. */
  fault: (texts: readonly string[]) => EmbeddingFault | null;
  /** The model of the test. Default: two topics, food and code, and a direction that all texts share. */
  vectorOf: (text: string, model: string) => number[];
  /** Texts that came, in their order. */
  texts: string[];
  /** Values of the header `authorization`. */
  keys: unknown[];
  /** Nothing listens any more. */
  kill(): Promise<void>;
  revive(): Promise<void>;
}

/** Meanings that share no word. */
function topicsOf(text: string): number[] {
  return [/apple|fruit|pear/i.test(text) ? 1 : 0.1, /compile|build|linker/i.test(text) ? 1 : 0.1, 0.05];
}

/** A server that speaks `POST /v1/embeddings` as OpenAI defines it. Its vectors are not of length 1, and in any order. */
export async function openEmbeddingServer(): Promise<EmbeddingServer> {
  let port = 0;
  let server = createServer();
  const self: EmbeddingServer = {
    get url() {
      return `http://127.0.0.1:${port}/v1`;
    },
    fault: () => null,
    vectorOf: topicsOf,
    texts: [],
    keys: [],
    async kill() {
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
    async revive() {
      server = createServer((request, response) => void serve(self, request, response));
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
    },
  };
  await self.revive();
  onTestFinished(() => self.kill());
  return self;
}

async function serve(self: EmbeddingServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  if (request.method !== 'POST' || request.url !== '/v1/embeddings') return void response.writeHead(404).end();
  const { model, input }: { model: string; input: string[] } = JSON.parse(body);
  self.texts.push(...input);
  self.keys.push(request.headers.authorization);
  const fault = self.fault(input);
  if (fault === 'hung') return;
  if (fault === 'broken') return void request.socket.destroy();
  if (fault === '500' || fault === '400' || fault === '429') return void response.writeHead(Number(fault)).end('{}');
  if (fault === 'redirect') return void response.writeHead(307, { location: `${self.url}/embeddings` }).end();
  if (fault === 'html') return void response.end('<html></html>');
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: self.vectorOf(text, model) }));
  if (fault === 'short') data.pop();
  const [first] = data;
  if (fault === 'wrong') for (const one of data) one.embedding.push(0.5);
  if (fault === 'zero') first?.embedding.fill(0);
  if (fault === 'text' && first !== undefined) Object.assign(first, { embedding: 'AAAA' });
  let text = JSON.stringify({ object: 'list', model, data: data.reverse() });
  // What some servers send for an overflow: no JSON, but what a lenient reader takes.
  if (fault === 'nan') text = text.replace(/\[[-\d.e]+/, '[NaN');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(fault === 'truncated' ? text.slice(0, text.length / 2) : text);
}
