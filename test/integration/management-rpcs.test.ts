import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { connect as connectAsCli, type DaemonClient } from '#src/cli/client.js';
import { loadProtocol } from '#src/protocol/load.js';
import type { Management, RpcMethods } from '#src/protocol/management-contract.js';
import { answerMsOf, RPC_NAMES, rpcMethods, wireName } from '#src/protocol/management-rpcs.js';
import { echo, management as fake } from '../helpers/behind.ts';
import { openDoor, refused, type TestDoor } from '../helpers/door.ts';

// Everything here is a loop over the service as the .proto file defines it, so a new rpc is tested without a line.

const SERVICE: ServiceDefinition = loadProtocol().ManagementService.service;
const RPCS = Object.keys(SERVICE);
const UNARY = RPCS.filter((rpc) => !descriptorOf(rpc).responseStream);

/** Values of the fields that checks look at. */
const VALID: Record<string, unknown> = {
  root: '/p',
  project_root: '/p',
  path: '/q',
  cwd: '/p',
  file: '/r/backup',
  which: 'undo_01234567',
  id: '0123abcd',
  token: '[SECRET_1]',
  sha256: 'ab'.repeat(32),
  port: 1,
  tool: 'safe_bash',
  answer: 'once',
};
const MESSAGES: Record<string, object> = {
  secret: { root: '/p', session: '', token: '[SECRET_1]' },
  credential: { host: 'example.com', methods: ['GET'] },
};
const INVALID_LISTS: Record<string, string[]> = { path: ['relative'], ca_variables: Array(201).fill('X') };

/** Rpcs whose texts and numbers may be anything: they have none, or the handler takes any. */
const UNCHECKED = [
  'ServerStatus',
  'StopServer',
  'RestartServer',
  'ListTools',
  'RecordSettings',
  'ListToolchains',
  'ReadHostNetwork',
  'ListNetworkGroups',
  'ListHttpTokens',
];

function validRequest(rpc: string) {
  return requestWith(rpc, (field, empty) => {
    const value = empty === null ? MESSAGES[field] : VALID[field];
    return typeof value === typeof empty ? value : empty;
  });
}

function invalidRequest(rpc: string) {
  return requestWith(rpc, (field, empty) => {
    if (Array.isArray(empty)) return INVALID_LISTS[field] ?? empty;
    if (typeof empty === 'string') return `\0${'x'.repeat(70_000)}`;
    return typeof empty === 'number' ? 2 ** 31 : empty;
  });
}

/** A request of the type that only the descriptor knows. */
function requestWith(rpc: string, fieldOf: (field: string, empty: unknown) => unknown) {
  const request = descriptorOf(rpc).requestDeserialize(Buffer.alloc(0));
  for (const [field, empty] of Object.entries(request)) request[field] = fieldOf(field, empty);
  return request;
}

function descriptorOf(rpc: string) {
  return SERVICE[rpc] ?? never(rpc);
}

let at: TestDoor;
afterEach(() => at.remove());

/** A door that records which rpc reached the service behind it. */
async function openRecording(): Promise<string[]> {
  const reached: string[] = [];
  const answers: RpcMethods = fake();
  const methods = rpcMethods((name) => async (request) => {
    reached.push(wireName(name));
    return answers[name](request);
  });
  const installTool: Management['installTool'] = async (_request, _signal, send) => {
    reached.push('InstallTool');
    send({ plan: { state: 'new' } }, 'vital');
    return {};
  };
  at = await openDoor({ dispatch: async (request) => echo(request), management: { ...methods, installTool } });
  return reached;
}

/** Resolves with the error with which the door refuses the rpc. */
function refusal(identity: string, rpc: string, request: object) {
  const { management } = at.clients(identity);
  const { path, requestSerialize, responseDeserialize, responseStream } = descriptorOf(rpc);
  if (!responseStream)
    return refused((done) =>
      management.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, answer) =>
        done(error, answer),
      ),
    );
  const call = management.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
  return refused((done) => call.on('error', done).on('data', (event) => done(null, event)));
}

/** Asks an rpc as `ctxd` does. */
async function asked(client: DaemonClient, rpc: string, patienceMs: number): Promise<unknown> {
  const { execute: _execute, installTool: _installTool, close: _close, ...methods } = client;
  const method = Object.entries(methods).find(([name]) => wireName(name) === rpc)?.[1] ?? never(rpc);
  return method(validRequest(rpc), patienceMs);
}

function never(rpc: string): never {
  throw new Error(`there is no rpc ${rpc}`);
}

describe('API-2 every rpc of ManagementService', () => {
  it('has a row in the table if it has one answer; InstallTool alone sends events', async () => {
    await openRecording();
    expect(RPC_NAMES.map(wireName).toSorted()).toEqual(UNARY.toSorted());
    expect(RPCS.filter((rpc) => !UNARY.includes(rpc))).toEqual(['InstallTool']);
    expect(RPCS.length).toBeGreaterThan(70);
  });

  it('is asked by the client of ctxd, reaches its own handler and returns its answer', async () => {
    const reached = await openRecording();
    const client = await connectAsCli(at.paths);
    const answers: RpcMethods = fake();
    for (const rpc of UNARY) {
      const answer = await asked(client, rpc, 10_000);
      const name = RPC_NAMES.find((one) => wireName(one) === rpc) ?? never(rpc);
      expect({ rpc, answer }).toMatchObject({ rpc, answer: await answers[name](validRequest(rpc)) });
    }
    const installed = client.installTool(validRequest('InstallTool'), {
      onProgress: () => {},
      decide: async (plan) => plan.state,
      signal: new AbortController().signal,
    });
    expect(await installed).toBe('new');
    expect(reached).toEqual([...UNARY, 'InstallTool']);
    client.close();
  });

  it('is not reached by a request that no check accepts', async () => {
    const reached = await openRecording();
    const checked = RPCS.filter((rpc) => !UNCHECKED.includes(rpc));
    const codes: Record<string, status> = {};
    for (const rpc of checked) codes[rpc] = (await refusal('cli', rpc, invalidRequest(rpc))).code;
    expect(codes).toEqual(Object.fromEntries(checked.map((rpc) => [rpc, status.INVALID_ARGUMENT])));
    expect(reached).toEqual([]);
  });

  it('SEC-3.2 is closed to the certificate of the proxy', async () => {
    const reached = await openRecording();
    const codes: Record<string, status> = {};
    for (const rpc of RPCS) codes[rpc] = (await refusal('proxy', rpc, validRequest(rpc))).code;
    expect(codes).toEqual(Object.fromEntries(RPCS.map((rpc) => [rpc, status.PERMISSION_DENIED])));
    expect(reached).toEqual([]);
  });

  it('is asked with the deadline of its row', async () => {
    await openRecording();
    const deadlines: number[] = [];
    const record = (call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<object>): void => {
      deadlines.push(Number(call.getDeadline()));
      done(null, {});
    };
    const server = new Server();
    server.addService(SERVICE, Object.fromEntries(UNARY.map((rpc) => [rpc, record])));
    const socket = join(at.dir, 'deadlines.sock');
    await listen(server, socket);
    const client = await connectAsCli({ ...at.paths, socket });
    const patienceMs = 7_654_000;
    const allowed = new Set<number>();
    for (const rpc of UNARY) {
      const name = RPC_NAMES.find((one) => wireName(one) === rpc) ?? never(rpc);
      const answerMs = rpc === 'StopServer' || rpc === 'RestartServer' ? patienceMs : answerMsOf(name);
      allowed.add(answerMs);
      const before = Date.now();
      await asked(client, rpc, patienceMs);
      const deadline = deadlines.pop() ?? 0;
      expect([rpc, deadline >= before + answerMs - 50, deadline <= Date.now() + answerMs + 50]).toEqual([
        rpc,
        true,
        true,
      ]);
    }
    expect([...allowed].toSorted((a, b) => a - b)).toEqual([2_000, 5_000, 60_000, 150_000, 600_000, patienceMs]);
    expect([answerMsOf('takeHook'), answerMsOf('serverStatus'), answerMsOf('checkHealth')]).toEqual([
      2_000, 5_000, 60_000,
    ]);
    // It deletes what the MCP servers of the project kept, which may be large.
    expect(answerMsOf('unregisterProject')).toBe(600_000);
    client.close();
    server.forceShutdown();
  });
});

async function listen(server: Server, socket: string): Promise<void> {
  const [ca, cert, key] = ['ca.pem', 'server.pem', 'server.key'].map((name) =>
    readFileSync(join(at.paths.certsDir, name)),
  );
  if (ca === undefined || cert === undefined || key === undefined) throw new Error('three files give three texts');
  const secured = ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, secured, (error) => (error === null ? resolve() : reject(error)));
  });
}
