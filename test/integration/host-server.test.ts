import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:http2';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, type Server, ServerCredentials, type ServiceError } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';
import { readRpcFault } from '#src/protocol/rpc-faults.js';
import { HostApi } from '#src/runner/host-api.js';
import { createHostServer, type HostServerDeps } from '#src/runner/host-server.js';
import { sessionNamed } from '../helpers/sessions.ts';
import { ScriptedSandbox } from '../unit/runner/scripted-sandbox.ts';

const protocol = loadPluginProtocol();
const OUTPUT = Buffer.alloc(300_000, 'x');

let dir = '';
let sockets = 0;
const closing: (() => void)[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'contextd-host-'));
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A host with one running call, `c1`, whose commands print 300,000 characters. */
function hostOf(): HostApi {
  const stream = {
    head: OUTPUT,
    tail: Buffer.alloc(0),
    droppedBytes: 0,
    droppedNewlines: 0,
    totalBytes: OUTPUT.length,
  };
  const found = { quarantined: [], searchComplete: true, denied: [], connections: [] };
  const ended = {
    exitCode: 0,
    signal: null,
    endedBy: 'exit',
    durationMs: 1,
    notices: [],
    activity: null,
    pipeStatus: [],
    ...found,
  } as const;
  const empty = { ...stream, head: Buffer.alloc(0), totalBytes: 0 };
  const sandbox = new ScriptedSandbox(async () => ({ ...ended, stdout: stream, stderr: empty }));
  const call = {
    requestId: 'r',
    session: sessionNamed('s'),
    tool: 't',
    origin: 'installed',
    grants: ['exec', 'scrub'],
    outputMaxBytes: 1_000_000,
    outputKillBytes: 8_000_000,
    endsAt: 60_000,
    signal: new AbortController().signal,
    ending: () => null,
  } as const;
  const policy = {
    workspace: { path: '/w', layer: null },
    network: 'none',
    roPaths: [],
    deny: [],
    storage: null,
    minIsolation: 'reduced',
    seccomp: { inet: true, unix: true, debugger: false },
    limits: { memoryBytes: 0, pids: 0, fileBytes: 0, openFiles: 0, cpus: 0 },
  } as const;
  const clock = { now: () => 0, monotonic: () => 0 };
  return new HostApi(call, {
    sandbox,
    commandPolicyFor: () => policy,
    services: {},
    scrub: async (_s, texts) => texts,
    logger: silentLogger,
    clock,
  });
}

async function serve(own: Partial<HostServerDeps> = {}): Promise<{ address: string; host: HostApi }> {
  const host = hostOf();
  const server = createHostServer({
    protocol,
    origin: 'installed',
    find: (callId) => (callId === 'c1' ? host : undefined),
    backlogMaxChars: 1_000_000_000,
    onOverrun: () => {},
    logger: silentLogger,
    ...own,
  });
  closing.push(() => server.forceShutdown());
  return { address: await bind(server), host };
}

async function bind(server: Server): Promise<string> {
  sockets += 1;
  const address = `unix:${join(dir, `s${sockets}`)}`;
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
  });
  return address;
}

function scrub(address: string, request: { call_id: string; texts: string[] }): Promise<string[]> {
  const client = new protocol.ToolHost(address, credentials.createInsecure());
  closing.push(() => client.close());
  return new Promise((resolve, reject) => {
    client.Scrub(request, (error, answer) => (error ? reject(error) : resolve(answer?.texts ?? [])));
  });
}

async function faultOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => null,
    (error: ServiceError) => readRpcFault(error).code,
  );
}

describe('ToolHost as served to one process', () => {
  it('FR-8.1 answers for a running call', async () => {
    const { address } = await serve();
    await expect(scrub(address, { call_id: 'c1', texts: ['a'] })).resolves.toEqual(['a']);
  });

  it.each(['', 'c2', 'toString'])('FR-8.4 allows nothing for the call_id %j', async (call_id) => {
    const { address, host } = await serve();
    expect(await faultOf(scrub(address, { call_id, texts: [] }))).toBe('PERMISSION_DENIED');
    expect(host.facts.hostCalls.total).toBe(0);
  });

  it('FR-8.4 refuses and records a method of the service that is not in the table of methods', async () => {
    const { service } = protocol.ToolHost;
    const method = { ...service.ArtifactView, path: '/contextd.v1.ToolHost/ToolCall' };
    const wider = Object.assign(class extends protocol.ToolHost {}, { service: { ...service, ToolCall: method } });
    const { address, host } = await serve({ protocol: { ToolHost: wider } });
    const client = new wider(address, credentials.createInsecure());
    closing.push(() => client.close());
    const answer = new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = method;
      const request = { call_id: 'c1', json: Buffer.from('{}') };
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, told) =>
        error ? reject(error) : resolve(told),
      );
    });
    expect(await faultOf(answer)).toBe('PERMISSION_DENIED');
    expect(host.facts.hostCalls.calls).toMatchObject([{ method: 'ToolCall', error_code: 'PERMISSION_DENIED' }]);
  });

  it('refuses a request of more fields than any has, and of more bytes, before it makes anything of it', async () => {
    const { address, host } = await serve();
    const many = (count: number) => scrub(address, { call_id: 'c1', texts: Array.from({ length: count }, () => '') });
    await expect(many(9_999)).resolves.toHaveLength(9_999);
    await expect(many(10_000)).rejects.toMatchObject({ details: 'Error deserializing request' });
    const large = scrub(address, { call_id: 'c1', texts: ['x'.repeat(33 * 1024 * 1024)] });
    expect(await faultOf(large)).toBe('PAYLOAD_TOO_LARGE');
    expect(host.facts.hostCalls.total).toBe(1);
  });

  it('gives up a process that requests more than it reads', async () => {
    const { promise: overrun, resolve: onOverrun } = Promise.withResolvers<void>();
    const { address } = await serve({ backlogMaxChars: 500_000, onOverrun });
    const session = connect('http://localhost', {
      createConnection: () => createConnection(address.slice('unix:'.length)),
      settings: { initialWindowSize: 0 },
    });
    closing.push(() => session.destroy());
    const request = protocol.ToolHost.service.Exec.requestSerialize({ call_id: 'c1', command: 'true' });
    for (let i = 0; i < 2; i++) {
      const headers = { ':method': 'POST', ':path': '/contextd.v1.ToolHost/Exec', te: 'trailers' };
      const stream = session.request({ ...headers, 'content-type': 'application/grpc' });
      const size = Buffer.alloc(5);
      size.writeUInt32BE(request.length, 1);
      stream.on('error', () => {});
      stream.end(Buffer.concat([size, request]));
    }
    await overrun;
  });

  it('stops counting an answer once it was read', async () => {
    const { address } = await serve({
      backlogMaxChars: 500_000,
      onOverrun: () => {
        throw new Error('it overran');
      },
    });
    const client = new protocol.ToolHost(address, credentials.createInsecure());
    closing.push(() => client.close());
    for (let i = 0; i < 5; i++) {
      const length = await new Promise((resolve, reject) => {
        client.Exec({ call_id: 'c1', command: 'true' }, (error, answer) =>
          error ? reject(error) : resolve(answer?.stdout.length),
        );
      });
      expect(length).toBe(OUTPUT.length);
    }
  });
});
