import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client, type ClientCapabilities, type ClientOptions, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CTXD, type Installation } from './installation.ts';

/** How a client of each era introduces itself. */
export const ERAS = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof ERAS)[number];

/** The SDK's own client, connected to `ctxd mcp serve` in the project. */
export async function connectClient(at: Installation, era: Era, words: readonly string[] = []): Promise<Client> {
  const client = newClient(era);
  await client.connect(stdioTransport(at, words));
  return client;
}

export function stdioTransport(at: Installation, words: readonly string[]): StdioClientTransport {
  const args = ['mcp', 'serve', ...words];
  return new StdioClientTransport({ command: CTXD, args, cwd: at.project, env: at.environment, stderr: 'inherit' });
}

export function newClient(
  era: Era,
  capabilities: ClientCapabilities = {},
  listChanged: NonNullable<ClientOptions['listChanged']> = {},
): Client {
  const mode = era === '2026-07-28' ? ({ pin: era } as const) : 'legacy';
  return new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities, listChanged });
}

/** A client that servers can ask, and what it was asked. */
export interface AskedClient {
  client: Client;
  questions: string[];
}

/** A client that answers with `Ann`, `from the model` and one root. */
export async function connectAsked(era: Era, transport: Transport): Promise<AskedClient> {
  const questions: string[] = [];
  const client = newClient(era, { elicitation: { form: {} }, sampling: {}, roots: {} });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    questions.push(params.message);
    const [property = ''] = 'requestedSchema' in params ? Object.keys(params.requestedSchema.properties) : [];
    return { action: 'accept', content: { [property]: 'Ann' } };
  });
  client.setRequestHandler('sampling/createMessage', async ({ params }) => {
    questions.push(JSON.stringify(params.messages));
    return { role: 'assistant', model: 'test', content: { type: 'text', text: 'from the model' } };
  });
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///home/ann' }] }));
  await client.connect(transport);
  return { client, questions };
}

/** The text of a result. Every result of contextd is one text. */
export function textOf(result: { content: readonly { type: string; text?: string }[] }): string {
  const [block, ...others] = result.content;
  if (block?.type !== 'text' || block.text === undefined || others.length > 0) throw new Error(JSON.stringify(result));
  return block.text;
}

interface Message {
  id?: string | number;
  method?: string;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
  params?: Record<string, unknown>;
}

/** The wire of `ctxd mcp serve`: whatever a client may send, and every line that comes back. */
export class RawServer {
  readonly process: ChildProcess;
  readonly lines: Message[] = [];
  #stderr = '';
  readonly #waiting: { wants(message: Message): boolean; resolve(message: Message): void }[] = [];

  constructor(at: Installation, words: readonly string[] = [], env: Record<string, string> = {}) {
    this.process = spawn(CTXD, ['mcp', 'serve', ...words], {
      cwd: at.project,
      env: { ...at.environment, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk;
    });
    if (this.process.stdout === null) throw new Error('a piped output is there');
    createInterface(this.process.stdout).on('line', (line) => this.#take(JSON.parse(line)));
  }

  get stderr(): string {
    return this.#stderr;
  }

  write(line: string): void {
    this.process.stdin?.write(`${line}\n`);
  }

  send(message: Message): void {
    this.write(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  /** Introduces a client of the era of 2025. */
  async initialize(capabilities: ClientCapabilities = {}): Promise<Message> {
    const clientInfo = { name: 'raw', version: '1' };
    this.send({
      id: 'hello',
      method: 'initialize',
      params: { protocolVersion: ERAS[0], capabilities, clientInfo },
    });
    const answer = await this.answer('hello');
    this.send({ method: 'notifications/initialized' });
    return answer;
  }

  call(id: number, name: string, input: unknown, meta: object = {}): void {
    this.send({ id, method: 'tools/call', params: { name, arguments: input, ...meta } });
  }

  answer(id: string | number): Promise<Message> {
    return this.next((message) => message.id === id);
  }

  /** The first message that fits, of those that came and those to come. */
  next(wants: (message: Message) => boolean): Promise<Message> {
    const come = this.lines.find(wants);
    if (come !== undefined) return Promise.resolve(come);
    return new Promise((resolve) => this.#waiting.push({ wants, resolve }));
  }

  /** Hangs up, and returns the exit code. */
  async close(): Promise<number | null> {
    if (this.process.exitCode !== null) return this.process.exitCode;
    const exited = once(this.process, 'exit');
    this.process.stdin?.end();
    await exited;
    return this.process.exitCode;
  }

  #take(message: Message): void {
    this.lines.push(message);
    for (const { resolve } of this.#waiting.filter(({ wants }) => wants(message))) resolve(message);
  }
}
