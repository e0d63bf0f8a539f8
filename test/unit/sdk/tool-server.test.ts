import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeFrame, FrameDecoder } from '#src/protocol/frame-codec.js';
import { ContextdError, type Tool, type ToolContext } from '#src/sdk/tool.js';
import { type ServeOptions, ToolServer } from '#src/sdk/tool-server.js';

let dir = '';
const open: Socket[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'contextd-sdk-'));
});
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Both ends of a real socket. */
async function socketPair(): Promise<[Socket, Socket]> {
  const path = join(dir, 'pair');
  const server = createServer().listen(path);
  await once(server, 'listening');
  const near = createConnection(path);
  const [far]: Socket[] = await once(server, 'connection');
  server.close();
  if (far === undefined) throw new Error('no connection');
  open.push(near, far);
  return [near, far];
}

/** The daemon's end, as raw frames. */
class Daemon {
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #frames: unknown[] = [];
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#frames.push(...this.#decoder.push(chunk));
      this.#wake();
    });
  }

  send(frame: object): void {
    this.#socket.write(encodeFrame(frame));
  }

  call(id: number, tool: string, input: object = {}): void {
    const limits = { timeout_ms: 30_000, output_max_bytes: 1000 };
    this.send({ type: 'call', id, request_id: 'req_1', tool, workspace: '/w', etag_key: '00', ...limits, input });
  }

  async next(): Promise<unknown> {
    while (this.#frames.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#frames.shift();
  }

  end(): void {
    this.#socket.end();
  }
}

const tools: Tool[] = [
  { name: 'echo', execute: async (_context, input) => ({ data: input, streams: [{ field: 'text', text: 'long' }] }) },
  {
    name: 'throws',
    async execute() {
      throw new TypeError('holds a secret');
    },
  },
  {
    name: 'refuses',
    async execute() {
      throw new ContextdError('PATH_NOT_FOUND', 'there is no x', { remedy: 'Name another.', details: { path: 'x' } });
    },
  },
  {
    name: 'execs',
    execute: async ({ host }) => ({
      data: { ran: (await host.exec({ command: 'ls', cwd: '/w', env: {}, stdin: null })).stdout },
    }),
  },
  {
    name: 'waits',
    execute: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  },
];

async function start(options: ServeOptions = {}, served: readonly Tool[] = tools) {
  const [near, far] = await socketPair();
  const daemon = new Daemon(near);
  const server = new ToolServer(served, far, options);
  const hello = await daemon.next();
  daemon.send({ type: 'hello', version: 1, protected_paths: ['.claude'] });
  return { daemon, server, hello };
}

describe('the server in a tool process', () => {
  it('says its version and its tools first', async () => {
    const { hello } = await start();
    expect(hello).toEqual({ type: 'hello', version: 1, tools: ['echo', 'throws', 'refuses', 'execs', 'waits'] });
  });

  it('FR-3.1 FR-8.1 hands a tool its context and its input, and sends back what it gives', async () => {
    const seen: ToolContext[] = [];
    const tool: Tool = {
      name: 'look',
      async execute(context, input) {
        seen.push(context);
        return { data: input };
      },
    };
    const { daemon } = await start({}, [tool]);
    daemon.call(1, 'look', { a: [1] });
    expect(await daemon.next()).toEqual({ type: 'scanning', id: 1, chars: 0 });
    expect(await daemon.next()).toEqual({ type: 'result', id: 1, output: { data: { a: [1] } }, first_pass: [] });
    expect(seen[0]).toMatchObject({
      requestId: 'req_1',
      workspace: '/w',
      protectedPaths: ['.claude'],
      outputMaxBytes: 1000,
    });
  });

  it('SEC-1.2 scans data and streams before they leave, and replaces nothing', async () => {
    const { daemon } = await start({
      scan: async ({ data, streams }) => [[{ rule: `${JSON.stringify([data, streams])}`, start: 0, end: 2 }]],
    });
    daemon.call(1, 'echo', { a: 'b' });
    expect(await daemon.next()).toEqual({ type: 'scanning', id: 1, chars: 4 });
    expect(await daemon.next()).toMatchObject({
      output: { data: { a: 'b' }, streams: [{ field: 'text', text: 'long' }] },
      first_pass: [[['[{"a":"b"},[{"field":"text","text":"long"}]]', 0, 2]]],
    });
  });

  it('gives nothing out when the scan fails', async () => {
    const { daemon } = await start({ scan: () => Promise.reject(new ContextdError('SCRUB_FAILED', 'no scan')) });
    daemon.call(1, 'echo', { a: 'b' });
    await daemon.next();
    expect(await daemon.next()).toEqual({ type: 'error', id: 1, error: { code: 'SCRUB_FAILED', message: 'no scan' } });
  });

  it("passes a tool's own refusal on, and of any other error only that it happened", async () => {
    const { daemon } = await start();
    daemon.call(1, 'refuses');
    expect(await daemon.next()).toMatchObject({
      type: 'error',
      error: { code: 'PATH_NOT_FOUND', message: 'there is no x', remedy: 'Name another.', details: { path: 'x' } },
    });
    daemon.call(2, 'throws');
    expect(await daemon.next()).toMatchObject({
      type: 'log',
      id: 2,
      level: 'error',
      message: expect.stringContaining('holds a secret'),
    });
    const fault = await daemon.next();
    expect(fault).toMatchObject({ type: 'error', id: 2, error: { code: 'INTERNAL_ERROR' } });
    expect(JSON.stringify(fault)).not.toContain('secret');
  });

  it('asks the host for commands and gives their results, or faults, to the call that asked', async () => {
    const { daemon } = await start();
    daemon.call(1, 'execs');
    const spec = { command: 'ls', cwd: '/w', env: {}, stdin: null };
    expect(await daemon.next()).toEqual({ type: 'exec', id: 1, exec: 1, spec });
    const facts = {
      exit_code: 0,
      signal: null,
      ended_by: 'exit',
      dropped_bytes: 0,
      duration_ms: 1,
      encoding_replaced: false,
    };
    daemon.send({ type: 'exec_result', id: 1, exec: 1, result: { ...facts, stdout: 'files', stderr: '' } });
    await daemon.next();
    expect(await daemon.next()).toMatchObject({ type: 'result', output: { data: { ran: 'files' } } });
    daemon.call(2, 'execs');
    await daemon.next();
    daemon.send({ type: 'exec_error', id: 2, exec: 1, error: { code: 'PERMISSION_DENIED', message: 'not granted' } });
    expect(await daemon.next()).toEqual({
      type: 'error',
      id: 2,
      error: { code: 'PERMISSION_DENIED', message: 'not granted' },
    });
  });

  it.each([
    ['timeout', 'TIMEOUT'],
    ['cancelled', 'CANCELLED'],
  ])('aborts a call that ends by %s with %s as the reason, and serves on', async (reason, code) => {
    const { daemon } = await start();
    daemon.call(1, 'waits');
    daemon.send({ type: 'cancel', id: 1, reason });
    expect(await daemon.next()).toMatchObject({ type: 'error', id: 1, error: { code } });
    daemon.send({ type: 'ping', nonce: 5 });
    expect(await daemon.next()).toEqual({ type: 'pong', nonce: 5 });
  });

  it('has no tool that it was not given', async () => {
    const { daemon } = await start();
    daemon.call(1, 'toString');
    expect(await daemon.next()).toMatchObject({ type: 'error', error: { code: 'TOOL_NOT_FOUND' } });
  });

  it('is finished when the daemon closes the channel', async () => {
    const { daemon, server } = await start();
    daemon.end();
    await expect(server.finished).resolves.toBeUndefined();
  });

  it('ends with VERSION_MISMATCH naming both versions', async () => {
    const { daemon, server } = await start();
    const ended = expect(server.finished).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
      message: 'the daemon speaks version 2 of the tool protocol, this tool version 1',
    });
    daemon.send({ type: 'hello', version: 2 });
    await ended;
  });
});
