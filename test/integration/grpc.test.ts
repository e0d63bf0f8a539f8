import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http2';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { credentials, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { CallRequest } from '#src/call/request.js';
import { ContextdError } from '#src/core/errors.js';
import { REQUEST_ID_PATTERN } from '#src/core/ids.js';
import { INPUT_MAX_BYTES, MESSAGE_MAX_BYTES } from '#src/core/limits.js';
import { issueCertificates, writeSet } from '#src/doors/grpc/certificates.js';
import { probeSocket } from '#src/doors/grpc/probe.js';
import { bindSocket } from '#src/doors/grpc/socket.js';
import type { StatusResponse__Output } from '#src/protocol/generated/management.js';
import type { ExecuteResponse__Output, SchemaResponse__Output } from '#src/protocol/generated/tool.js';
import { echo } from '../helpers/behind.ts';
import {
  answered,
  type Behind,
  certificateOf,
  close,
  connect,
  openDoor,
  refused,
  type TestDoor,
} from '../helpers/door.ts';

const DAY_MS = 86_400_000;
const REQUEST_ID = 'req_01JD0000000000000000000000';
let at: TestDoor;

afterEach(() => at.remove());

async function open(behind: Partial<Behind> = {}): Promise<TestDoor> {
  at = await openDoor({ dispatch: async (request) => echo(request), ...behind });
  return at;
}

function call(context: object = {}, input = '{}') {
  const full = { request_id: REQUEST_ID, project_root: '/p', session_id: '', protocol_version: 2, ...context };
  return { tool: 'safe_bash', input_json: Buffer.from(input), context: full };
}

const executed = (identity: string, request = call()) =>
  answered<ExecuteResponse__Output>((done) => at.clients(identity).tools.Execute(request, done));

const envelopeOf = (answer: ExecuteResponse__Output) => JSON.parse(answer.envelope_json.toString());

describe('API-1 ToolService', () => {
  it('Execute returns the line, the exit code and the line for stderr', async () => {
    await open({ dispatch: async () => ({ line: '{"é":1}', exitCode: 124, errorLine: 'late' }) });
    expect(await executed('proxy')).toEqual({
      envelope_json: Buffer.from('{"é":1}'),
      exit_code: 124,
      error_line: 'late',
      text_stdout: Buffer.alloc(0),
      text_stderr: Buffer.alloc(0),
      directory: '',
    });
  });

  it('Execute hands the call on as it was sent', async () => {
    const seen: CallRequest[] = [];
    await open({
      dispatch: async (request) => {
        seen.push(request);
        return echo(request);
      },
    });
    await executed('proxy', call({ session_id: 'mine' }, '{"command":"ls"}'));
    expect(seen).toMatchObject([
      {
        requestId: REQUEST_ID,
        principal: { door: 'grpc', client: 'proxy' },
        tool: 'safe_bash',
        projectRoot: '/p',
        sessionHint: 'mine',
        branchHint: '',
      },
    ]);
    expect(seen[0]?.inputJson.toString()).toBe('{"command":"ls"}');
  });

  it('Execute makes a request id if the given one is malformed', async () => {
    await open();
    const answer = envelopeOf(await executed('proxy', call({ request_id: 'req_x"}\n' })));
    expect(answer.requestId).toMatch(REQUEST_ID_PATTERN);
  });

  it('answers a caller of another protocol version with an envelope that names both versions', async () => {
    await open();
    const answer = await executed('proxy', call({ protocol_version: 7 }));
    expect(envelopeOf(answer)).toMatchObject({
      success: false,
      data: { error_code: 'VERSION_MISMATCH', details: { caller: 7, daemon: 2 } },
    });
    expect(answer.exit_code).toBe(1);
  });

  it('GetSchema gives what the daemon accepted, to the proxy too', async () => {
    const schema = { schema_json: '{"a":1}', tool_md: 'md', tool_extended_md: 'more', bundle_sha256: 'ff' };
    await open({ management: { getSchema: async () => schema } });
    const sent = { tool: 'safe_bash', context: { protocol_version: 2 } };
    expect(await answered<SchemaResponse__Output>((done) => at.clients('proxy').tools.GetSchema(sent, done))).toEqual(
      schema,
    );
  });

  it('what nobody foresaw becomes INTERNAL_ERROR and says nothing of the inside', async () => {
    await open({
      dispatch: async () => {
        throw new TypeError('swordfish');
      },
    });
    const answer = await executed('proxy');
    expect(envelopeOf(answer).data.error_code).toBe('INTERNAL_ERROR');
    expect(answer.exit_code).toBe(70);
    expect(answer.envelope_json.toString() + answer.error_line).not.toMatch(/swordfish|TypeError|\.ts:|\.js:/);
  });

  it('arguments over the limit get an answer, a message over the limit gets RESOURCE_EXHAUSTED, both with numbers', async () => {
    await open();
    const answer = envelopeOf(await executed('proxy', call({}, 'x'.repeat(INPUT_MAX_BYTES + 1))));
    expect(answer.data).toMatchObject({ error_code: 'PAYLOAD_TOO_LARGE', details: { limit: INPUT_MAX_BYTES } });
    const error = await refused((done) =>
      at.clients('proxy').tools.Execute(call({}, 'x'.repeat(MESSAGE_MAX_BYTES)), done),
    );
    expect(error.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(error.details).toContain(String(MESSAGE_MAX_BYTES));
    expect(envelopeOf(await executed('proxy')).tool).toBe('safe_bash');
  });

  it('NFR-1.4 gives each of many simultaneous calls its own answer', async () => {
    await open();
    const inputs = Array.from({ length: 50 }, (_, i) => `{"n":${i}}`);
    const answers = await Promise.all(inputs.map((input) => executed('proxy', call({}, input))));
    expect(answers.map((answer) => envelopeOf(answer).input)).toEqual(inputs);
  });
});

describe('a cancellation', () => {
  /** A dispatch that ends only when its signal is aborted. */
  function hanging() {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    const dispatch = async (request: CallRequest) => {
      begun.resolve();
      await new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }));
      ended.resolve(request.signal.reason);
      return echo(request);
    };
    return { dispatch, begun: begun.promise, ended: ended.promise };
  }

  it('by the caller reaches the work', async () => {
    const { dispatch, begun, ended } = hanging();
    await open({ dispatch });
    const { tools } = at.clients('proxy');
    const error = refused((done) => {
      const running = tools.Execute(call(), done);
      begun.then(() => running.cancel());
    });
    expect(await ended).toMatchObject({ code: 'CANCELLED' });
    expect((await error).code).toBe(status.CANCELLED);
  });

  it('by the loss of the connection reaches the work', async () => {
    const { dispatch, begun, ended } = hanging();
    await open({ dispatch });
    // A relay between client and door, so that the connection can be cut in the middle.
    const { createServer: listenPlain } = await import('node:net');
    const halves: ReturnType<typeof connectPlain>[] = [];
    const relay = listenPlain((near) => {
      const far = connectPlain(at.paths.socket);
      halves.push(near, far);
      for (const half of [near, far]) half.on('error', () => {});
      near.pipe(far).pipe(near);
    }).listen(join(at.dir, 'relay.sock'));
    await once(relay, 'listening');
    const clients = connect(join(at.dir, 'relay.sock'), certificateOf(at.paths.certsDir, 'proxy'));
    const error = refused((done) => clients.tools.Execute(call(), done));
    await begun;
    for (const half of halves) half.destroy();
    expect(await ended).toMatchObject({ code: 'CANCELLED' });
    expect((await error).code).toBe(status.UNAVAILABLE);
    close(clients);
    relay.close();
  });

  it('by the deadline of the call reaches the work', async () => {
    const { dispatch, ended } = hanging();
    await open({ dispatch });
    const error = refused((done) => at.clients('proxy').tools.Execute(call(), { deadline: Date.now() + 300 }, done));
    expect(await ended).toMatchObject({ code: 'CANCELLED' });
    expect((await error).code).toBe(status.DEADLINE_EXCEEDED);
  });

  it('by a stopping door interrupts the work, and the answer still arrives', async () => {
    const { dispatch, begun, ended } = hanging();
    await open({ dispatch });
    const answer = executed('proxy');
    await begun;
    await at.door.stop();
    expect(await ended).toMatchObject({ code: 'INTERRUPTED' });
    expect(envelopeOf(await answer).tool).toBe('safe_bash');
    expect(await probeSocket(at.paths)).toEqual({ kind: 'none' });
  });

  it('does not reach a call that has ended', async () => {
    const signals: AbortSignal[] = [];
    await open({
      dispatch: async (request) => {
        signals.push(request.signal);
        return echo(request);
      },
    });
    await executed('proxy');
    await at.door.stop();
    expect(signals.map((signal) => signal.aborted)).toEqual([false]);
  });
});

describe('ManagementService', () => {
  it('answers the CLI in the words of the protocol', async () => {
    await open();
    const answer = await answered<StatusResponse__Output>((done) =>
      at.clients('cli').management.ServerStatus({}, done),
    );
    expect(answer).toEqual({
      pid: process.pid,
      version: '1.2.3',
      uptime_ms: 1,
      socket: '/s',
      calls: 2,
      active_calls: 1,
      projects: 3,
      bad_links: [],
      resident_bytes: 2 ** 33,
      protocol_version: 2,
      isolation: 'full',
      sandbox: {
        spawner_pid: 7,
        spawner_resident_bytes: 2 ** 26,
        running: 1,
        processes: 2,
        ready: [{ project: '/p', count: 2 }],
        ready_max: 32,
        ready_used: 3,
        totals: { memory_bytes: 2 ** 20, memory_max_bytes: 2 ** 34, pids: 5, pids_max: 8192 },
      },
      steps: [],
    });
  });

  it('hands arguments on and lists as they are', async () => {
    const tool = {
      name: 'safe_read',
      purpose: 'reads',
      bundle_sha256: 'aa',
      origin: 'core',
      schema_json: '{}',
      tool_md: 'm',
      tool_extended_md: 'x',
      grants: ['exec'],
      version: '1.0.0',
      installed_from: null,
      accepted_ms: 0,
      last_used: '',
      schema_tokens: 5,
      state: 'ready',
    };
    const check = { name: 'n', status: 'warn', detail: 'd', remedy: 'r' };
    await open({
      management: {
        registerProject: async ({ root }) => ({ root, changed: true, tools: [tool] }),
        listTools: async () => ({ tools: [tool] }),
        tailAudit: async ({ limit, project_root }) => ({ records_json: [`${limit} ${project_root}`], unreadable: 0 }),
        checkHealth: async () => ({ checks: [check] }),
        stopServer: async ({ grace_ms, restart }) => ({
          pid: grace_ms,
          active_calls: 4,
          ended_calls: restart ? 2 : 0,
        }),
      },
    });
    const { management } = at.clients('cli');
    const wire = { name: 'safe_read', purpose: 'reads', bundle_sha256: 'aa', origin: 'core', grants: ['exec'] };
    expect(await answered((done) => management.RegisterProject({ root: '/p' }, done))).toMatchObject({
      root: '/p',
      changed: true,
      tools: [wire],
    });
    expect(await answered((done) => management.UnregisterProject({ root: '/p' }, done))).toMatchObject({
      changed: false,
    });
    expect(await answered((done) => management.ListTools({ root: '' }, done))).toMatchObject({ tools: [wire] });
    const audit = { limit: 7, project_root: '/p' };
    expect(await answered((done) => management.TailAudit(audit, done))).toMatchObject({ records_json: ['7 /p'] });
    const secrets = await answered((done) => management.SessionSecrets({ root: '/p', session: 's' }, done));
    expect(secrets).toEqual({ root: '/p', session: 's', secrets: [] });
    expect(await answered((done) => management.Stats({ project_root: '', days: 0 }, done))).toEqual({ rows: [] });
    expect(await answered((done) => management.ReviewRules({ root: '/p' }, done))).toMatchObject({ sha256: '' });
    const approval = { root: '/p', sha256: 'ab' };
    expect(await answered((done) => management.ApproveRules(approval, done))).toMatchObject({ approved: true });
    expect(await answered((done) => management.RevokeRules({ root: '/p' }, done))).toMatchObject({ approved: false });
    const which = { root: '/p', which: '0123abcd' };
    const item = { id: '0123abcd', path: 'a/.envrc', kind: 'file', sha256: '', no_hash_because: 'n', size_bytes: 0 };
    const everything = { root: '/p', which: '' };
    expect(await answered((done) => management.ListQuarantine(everything, done))).toEqual({ items: [], accepted: [] });
    expect(await answered((done) => management.ListQuarantine(which, done))).toMatchObject({ items: [item] });
    expect(await answered((done) => management.RestoreQuarantined(which, done))).toMatchObject({ items: [item] });
    expect(await answered((done) => management.RemoveQuarantined(which, done))).toMatchObject({ items: [item] });
    const sha256 = 'ab'.repeat(32);
    expect(await answered((done) => management.AcceptQuarantined({ ...which, sha256 }, done))).toMatchObject({
      items: [item],
      accepted: [{ path: 'a/.envrc', sha256, accepted_ms: 5 }],
    });
    expect(await answered((done) => management.RevokeAccepted(which, done))).toMatchObject({ items: [] });
    for (const wrong of ['AB'.repeat(32), 'ab', '']) {
      const request = { ...which, sha256: wrong };
      expect((await refused((done) => management.AcceptQuarantined(request, done))).code).toBe(status.INVALID_ARGUMENT);
    }
    expect((await refused((done) => management.RestoreQuarantined(everything, done))).code).toBe(
      status.INVALID_ARGUMENT,
    );
    expect(await answered((done) => management.CheckHealth({}, done))).toEqual({ checks: [check] });
    const stop = { grace_ms: 9, restart: true };
    expect(await answered((done) => management.StopServer(stop, done))).toEqual({
      pid: 9,
      active_calls: 4,
      ended_calls: 2,
    });
  });

  it('refuses what is no root and too many records', async () => {
    await open();
    const { management } = at.clients('cli');
    for (const root of ['', 'relative', '/a\0b']) {
      expect((await refused((done) => management.RegisterProject({ root }, done))).code).toBe(status.INVALID_ARGUMENT);
    }
    const tooMany = await refused((done) => management.TailAudit({ limit: 1001 }, done));
    expect(tooMany).toMatchObject({ code: status.INVALID_ARGUMENT, details: 'limit is 1001, the most is 1000' });
  });

  it('an error carries code and remedy, masked; an unknown one nothing of the inside', async () => {
    await open({
      mask: (text) => text.replaceAll('swordfish', '[SECRET]'),
      management: {
        registerProject: async () => {
          throw new ContextdError('CONFLICT', 'swordfish is taken', { remedy: 'Take another.' });
        },
        checkHealth: async () => {
          throw new Error('swordfish');
        },
      },
    });
    const { management } = at.clients('cli');
    const known = await refused((done) => management.RegisterProject({ root: '/p' }, done));
    expect(known).toMatchObject({ code: status.ALREADY_EXISTS, details: '[SECRET] is taken' });
    expect(known.metadata.get('contextd-code')).toEqual(['CONFLICT']);
    expect(known.metadata.get('contextd-remedy-bin').map(String)).toEqual(['Take another.']);
    const unknown = await refused((done) => management.CheckHealth({}, done));
    expect(unknown).toMatchObject({ code: status.INTERNAL, details: 'contextd failed to carry out the call' });
    expect(JSON.stringify(unknown.metadata.getMap())).not.toMatch(/swordfish|SECRET|stack/);
  });

  it('lets the CLI call tools too', async () => {
    await open();
    expect(envelopeOf(await executed('cli')).tool).toBe('safe_bash');
  });
});

describe('SEC-3.1 SEC-3.2 mutual TLS', () => {
  const refusal = async (secured: ReturnType<typeof certificateOf>): Promise<number> => {
    const clients = connect(at.paths.socket, secured);
    try {
      return (await refused((done) => clients.tools.Execute(call(), done))).code;
    } finally {
      close(clients);
    }
  };
  const authority = () => readFileSync(join(at.paths.certsDir, 'ca.pem'));

  it('refuses a client without a certificate and a client without TLS', async () => {
    const reached: unknown[] = [];
    await open({
      dispatch: async (request) => {
        reached.push(request);
        return echo(request);
      },
    });
    expect(await refusal(credentials.createSsl(authority()))).toBe(status.UNAVAILABLE);
    expect(await refusal(credentials.createInsecure())).toBe(status.UNAVAILABLE);
    expect(reached).toEqual([]);
  });

  it('refuses a certificate of another authority, even with the same names', async () => {
    await open();
    const other = join(at.dir, 'other');
    await writeSet(other, await issueCertificates(Date.now(), 365 * DAY_MS));
    expect(await refusal(certificateOf(other, 'proxy', at.paths.certsDir))).toBe(status.UNAVAILABLE);
    expect(await refusal(certificateOf(at.paths.certsDir, 'proxy', other))).toBe(status.UNAVAILABLE);
    expect(envelopeOf(await executed('proxy')).tool).toBe('safe_bash');
  });

  it("refuses the server's own certificate from a client", async () => {
    await open();
    expect(await refusal(certificateOf(at.paths.certsDir, 'server'))).toBe(status.UNAVAILABLE);
  });

  it('refuses an expired certificate of its own authority', async () => {
    await open();
    const expired = join(at.dir, 'expired');
    await writeSet(expired, await issueCertificates(Date.now() - 2 * DAY_MS, DAY_MS));
    expect(await refusal(certificateOf(expired, 'proxy', at.paths.certsDir))).toBe(status.UNAVAILABLE);
  });

  it('is a client that checks too: the server is called contextd and nothing else', async () => {
    await open();
    const clients = connect(at.paths.socket, certificateOf(at.paths.certsDir, 'proxy'), {
      'grpc.ssl_target_name_override': 'localhost',
    });
    expect((await refused((done) => clients.tools.Execute(call(), done))).code).toBe(status.UNAVAILABLE);
    close(clients);
  });

  /** Tries a handshake. Returns the negotiated protocol or the code of the error. */
  async function handshake(options: object): Promise<string> {
    const [key, cert] = ['proxy.key', 'proxy.pem'].map((name) => readFileSync(join(at.paths.certsDir, name)));
    const client = connectTls({
      path: at.paths.socket,
      ca: authority(),
      key,
      cert,
      servername: 'contextd',
      ...options,
    });
    try {
      return await new Promise<string>((resolve) => {
        client.once('secureConnect', () => resolve(`${client.getProtocol()} ${client.alpnProtocol}`));
        client.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
      });
    } finally {
      client.destroy();
    }
  }

  it('allows only TLS 1.3 and HTTP/2', async () => {
    await open();
    expect(await handshake({ ALPNProtocols: ['h2'] })).toBe('TLSv1.3 h2');
    expect(await handshake({ ALPNProtocols: ['h2'], maxVersion: 'TLSv1.2' })).toMatch(/^ERR_SSL_/);
    expect(await handshake({ ALPNProtocols: ['http/1.1'] })).toMatch(/^ERR_SSL_/);
  });

  it('garbage and half a handshake disturb nobody else', async () => {
    await open();
    const garbage = connectPlain(at.paths.socket);
    garbage.on('error', () => {});
    garbage.resume().write(Buffer.alloc(70_000, 0x41));
    const silent = connectPlain(at.paths.socket);
    await once(silent, 'connect');
    await new Promise((resolve) => garbage.once('close', resolve));
    expect(envelopeOf(await executed('proxy')).tool).toBe('safe_bash');
    await at.door.stop();
    silent.destroy();
  });
});

describe('SEC-3.3 the socket of the door', () => {
  it('has mode 0600 in a directory with mode 0700', async () => {
    await open();
    expect(statSync(at.paths.socket).mode & 0o777).toBe(0o600);
    expect(statSync(join(at.dir, 'run')).mode & 0o777).toBe(0o700);
  });

  it('is not taken from a living contextd, which is named with its pid', async () => {
    await open();
    const before = statSync(at.paths.socket).ino;
    expect(await probeSocket(at.paths)).toEqual({ kind: 'contextd', pid: process.pid, version: '1.2.3' });
    await expect(bindSocket(createServer(), at.paths)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `contextd 1.2.3 is already running with pid ${process.pid} on ${at.paths.socket}`,
      remedy: expect.stringContaining('ctxd server stop'),
    });
    expect(statSync(at.paths.socket).ino).toBe(before);
    expect(envelopeOf(await executed('proxy')).tool).toBe('safe_bash');
  });

  it('a stranger that speaks HTTP/2 there is no contextd', async () => {
    await open();
    const socket = join(at.dir, 'stranger.sock');
    const stranger = createServer().listen(socket);
    await once(stranger, 'listening');
    const occupant = await probeSocket({ ...at.paths, socket });
    expect(occupant).toEqual({ kind: 'foreign', what: 'it does not answer as contextd' });
    stranger.close();
  });

  it('a door that stopped can be opened again', async () => {
    await open();
    await at.door.stop();
    await at.door.stop();
    await at.door.start();
    expect(envelopeOf(await executed('proxy')).tool).toBe('safe_bash');
  });
});
