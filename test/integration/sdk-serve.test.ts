import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChannelCredentials, credentials, Server, ServerCredentials } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ExecRequest__Output as ExecRequest } from '#src/protocol/generated/host.js';
import type { ToolHostHandlers } from '#src/protocol/generated/host-service.js';
import type { CallEvent__Output as CallEvent } from '#src/protocol/generated/plugin.js';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';
import { packHostFault } from '#src/protocol/rpc-faults.js';
import { type ServeOptions, ToolServer } from '#src/sdk/serve.js';
import { ContextdError, type Tool, type ToolContext } from '#src/sdk/tool.js';

const { ToolPlugin, ToolHost } = loadPluginProtocol();
const HOST_ID = 7;

let dir = '';
let sockets = 0;
const closing: (() => void)[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'contextd-sdk-'));
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A gRPC server on a socket of its own; returns its address. */
async function listen(register: (server: Server) => void): Promise<string> {
  sockets += 1;
  const address = `unix:${join(dir, `s${sockets}`)}`;
  const server = new Server();
  register(server);
  closing.push(() => server.forceShutdown());
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
  return address;
}

/** The requests to the host, and its answers. */
class Host {
  readonly execs: ExecRequest[] = [];
  readonly lines: string[] = [];
  /** Makes a log request wait. */
  beforeLog: Promise<void> = Promise.resolve();
  fault: ContextdError | null = null;

  async dial(id: number): Promise<{ address: string; credentials: ChannelCredentials; options: object }> {
    expect(id).toBe(HOST_ID);
    const methods = Object.keys(ToolHost.service).map((name) => [
      name,
      (_call: unknown, respond: (answer: object) => void) => respond({ code: 12, details: `no ${name}` }),
    ]);
    const address = await listen((server) =>
      server.addService(ToolHost.service, { ...Object.fromEntries(methods), ...this.#handlers() }),
    );
    return { address, credentials: credentials.createInsecure(), options: {} };
  }

  #handlers(): Pick<ToolHostHandlers, 'Exec' | 'Log' | 'Scrub' | 'MemorySearch'> {
    return {
      Exec: ({ request }, respond) => {
        this.execs.push(request);
        if (this.fault !== null) respond(packHostFault(this.fault));
        else respond(null, { ended_by: 'signal', signal: 'SIGTERM', stdout: 'files', duration_ms: 3 });
      },
      Log: async ({ request }, respond) => {
        await this.beforeLog;
        this.lines.push(`${request.call_id} ${request.level} ${request.message.length}`);
        respond(null, {});
      },
      Scrub: ({ request }, respond) => respond(null, { texts: request.texts.map((text) => text.toUpperCase()) }),
      MemorySearch: ({ request }, respond) => respond(null, { json: request.json }),
    };
  }
}

const SPEC = { command: 'ls', cwd: '/w', env: { A: 'b' }, stdin: 'in' };

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
  { name: 'execs', execute: async ({ host }) => ({ data: { ran: { ...(await host.exec(SPEC)) } } }) },
  { name: 'scrubs', execute: async ({ host }) => ({ data: { texts: await host.scrub(['a', 'b']) } }) },
  { name: 'asks', execute: async ({ host }, input) => ({ data: await host.ask('MemorySearch', input) }) },
  {
    name: 'logs',
    async execute({ log }) {
      log('info', 'x'.repeat(20_000));
      return { data: {} };
    },
  },
  {
    name: 'waits',
    execute: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  },
];

async function start(options: ServeOptions = {}, served: readonly Tool[] = tools) {
  const host = new Host();
  const address = await listen((server) => new ToolServer(served, host, options).register(server));
  const client = new ToolPlugin(address, credentials.createInsecure());
  closing.push(() => client.close());
  const described = await new Promise<string[]>((resolve, reject) => {
    client.Describe({ host_service_id: HOST_ID, protected_paths: ['.claude'] }, (error, answer) =>
      error ? reject(error) : resolve(answer?.tools ?? []),
    );
  });
  const open = (tool: string, input: object = {}, call_id = 'c1') => {
    const limits = { timeout_ms: 30_000, output_max_bytes: 1000 };
    const input_json = Buffer.from(JSON.stringify(input));
    return client.Call({ call_id, request_id: 'req_1', tool, workspace: '/w', etag_key: '00', ...limits, input_json });
  };
  const call = async (tool: string, input: object = {}): Promise<CallEvent[]> => {
    const events: CallEvent[] = [];
    for await (const event of open(tool, input)) events.push(event);
    return events;
  };
  const cancel = (call_id: string, reason: 1 | 2) =>
    new Promise<void>((resolve, reject) => {
      client.Cancel({ call_id, reason }, (error) => (error ? reject(error) : resolve()));
    });
  return { host, client, described, open, call, cancel };
}

const dataOf = (event: CallEvent | undefined): unknown => JSON.parse(String(event?.output?.data_json));

describe('the server in a tool process', () => {
  it('FR-1.4 lists its tools', async () => {
    const { described } = await start();
    expect(described).toEqual(tools.map(({ name }) => name));
  });

  it('FR-3.1 FR-8.1 gives a tool its context and its input, and returns its output', async () => {
    const seen: ToolContext[] = [];
    const tool: Tool = {
      name: 'look',
      async execute(context, input) {
        seen.push(context);
        return { data: input };
      },
    };
    const { call } = await start({}, [tool]);
    const events = await call('look', { a: [1] });
    expect(events).toHaveLength(1);
    expect(dataOf(events[0])).toEqual({ a: [1] });
    expect(seen[0]).toMatchObject({
      requestId: 'req_1',
      workspace: '/w',
      protectedPaths: ['.claude'],
      outputMaxBytes: 1000,
    });
  });

  it('SEC-1.2 scans data and streams before they leave, and replaces nothing', async () => {
    const { call } = await start({
      scan: ({ data, streams }) => [[{ rule: `${JSON.stringify([data, streams])}`, start: 0, end: 2 }]],
    });
    const [output, ...rest] = await call('echo', { a: 'b' });
    expect(rest).toEqual([]);
    expect(dataOf(output)).toEqual({ a: 'b' });
    expect(output?.output).toMatchObject({
      streams: [{ field: 'text', text: 'long' }],
      first_pass: [{ spans: [{ rule: '[{"a":"b"},[{"field":"text","text":"long"}]]', start: 0, end: 2 }] }],
      findings_follow: false,
    });
  });

  it('issue 37: a scan that takes its time is sent after the output', async () => {
    const spans = [{ rule: 'late', start: 0, end: 2 }];
    const { call } = await start({ scan: async () => [spans] });
    const [output, findings, ...rest] = await call('echo', { a: 'b' });
    expect(rest).toEqual([]);
    expect(output?.output).toMatchObject({ first_pass: [], findings_follow: true });
    expect(findings?.findings).toEqual({ leaves: [{ spans }] });
  });

  it.each([
    [
      'at once',
      1,
      () => {
        throw new ContextdError('SCRUB_FAILED', 'no scan');
      },
    ],
    ['later', 2, () => Promise.reject(new ContextdError('SCRUB_FAILED', 'no scan'))],
  ])('ends a call with a failure if the scan fails %s', async (_, count, scan) => {
    const { call } = await start({ scan });
    const events = await call('echo', { a: 'b' });
    expect(events).toHaveLength(count);
    expect(events.at(-1)).toMatchObject({ event: 'failure', failure: { code: 'SCRUB_FAILED', message: 'no scan' } });
  });

  it("passes on a tool's own refusal, and of any other error only that it happened", async () => {
    const { call } = await start();
    const [refused] = await call('refuses');
    expect(refused?.failure).toMatchObject({
      code: 'PATH_NOT_FOUND',
      message: 'there is no x',
      remedy: 'Name another.',
    });
    expect(JSON.parse(String(refused?.failure?.details_json))).toEqual({ path: 'x' });
    const [failed] = await call('throws');
    expect(failed?.failure).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(JSON.stringify(failed)).not.toContain('secret');
  });

  it('FR-8.1 asks the host for commands under the id of the call, and gives the tool their results', async () => {
    const { call, host } = await start();
    const [output] = await call('execs');
    expect(host.execs).toMatchObject([
      { call_id: 'c1', command: 'ls', cwd: '/w', env: { A: 'b' }, stdin: Buffer.from('in') },
    ]);
    expect(dataOf(output)).toEqual({
      ran: {
        exit_code: null,
        signal: 'SIGTERM',
        ended_by: 'signal',
        stdout: 'files',
        stderr: '',
        dropped_bytes: 0,
        duration_ms: 3,
        encoding_replaced: false,
        stdout_encoding: '',
        stderr_encoding: '',
        stdout_gap: null,
        stderr_gap: null,
        doing: '',
        doing_text: '',
      },
    });
  });

  it("FR-8.4 passes the host's fault to a tool unchanged", async () => {
    const { call, host } = await start();
    host.fault = new ContextdError('PERMISSION_DENIED', 'not granted', { remedy: 'Ask.', details: { grant: 'exec' } });
    const [failed] = await call('execs');
    expect(failed?.failure).toMatchObject({ code: 'PERMISSION_DENIED', message: 'not granted', remedy: 'Ask.' });
    expect(JSON.parse(String(failed?.failure?.details_json))).toEqual({ grant: 'exec' });
  });

  it('FR-8.1 lets a tool scrub and search memories', async () => {
    const { call } = await start();
    expect(dataOf((await call('scrubs'))[0])).toEqual({ texts: ['A', 'B'] });
    expect(dataOf((await call('asks', { query: 'q' }))[0])).toEqual({ query: 'q' });
  });

  it('FR-8.1 answers a call only after its log lines have arrived, cut to the maximum of one call', async () => {
    const { call, host } = await start();
    const { promise, resolve } = Promise.withResolvers<void>();
    host.beforeLog = promise;
    const answered = call('logs').then((events) => [events.length, host.lines.length]);
    resolve();
    expect(await answered).toEqual([1, 1]);
    expect(host.lines).toEqual(['c1 info 16384']);
  });

  it.each([
    [1, 'TIMEOUT'],
    [2, 'CANCELLED'],
  ] as const)('aborts a call that is cancelled for reason %i with %s, and continues to serve', async (reason, code) => {
    const { open, cancel, call } = await start();
    const stream = open('waits', {}, 'c9');
    const events: CallEvent[] = [];
    stream.on('data', (event) => events.push(event));
    const ended = new Promise((resolve) => stream.once('end', resolve));
    await call('echo');
    await cancel('c9', reason);
    await ended;
    expect(events).toMatchObject([{ failure: { code } }]);
    expect(await call('echo')).toHaveLength(1);
  });

  it('aborts a call whose stream the daemon ends', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const tool: Tool = {
      name: 'waits',
      execute: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            resolve(signal.reason);
            reject(signal.reason);
          });
        }),
    };
    const { open, call } = await start({}, [tool, ...tools.slice(0, 1)]);
    const stream = open('waits');
    stream.on('error', () => {});
    stream.resume();
    await call('echo');
    stream.cancel();
    expect(await promise).toMatchObject({ code: 'CANCELLED' });
  });

  it('treats a cancel of an unknown call as one that came late', async () => {
    const { cancel } = await start();
    await expect(cancel('unknown', 2)).resolves.toBeUndefined();
  });

  it('has only the tools that it was given', async () => {
    const { call } = await start();
    expect(await call('toString')).toMatchObject([{ failure: { code: 'TOOL_NOT_FOUND' } }]);
  });
});
