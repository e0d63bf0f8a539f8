import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { Server } from '@grpc/grpc-js';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { ContextdError } from '#src/core/errors.js';
import type { ExecRequest__Output, LogRequest__Output } from '#src/protocol/generated/host.js';
import { createCertificate } from '#src/protocol/plugin/certificate.js';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';
import { dialPinned } from '#src/protocol/plugin/pinned-tls.js';
import type { PluginConnection } from '#src/runner/plugin/plugin-connection.js';
import { buildGoPrograms } from '../helpers/build-go-programs.ts';
import { fixtureMain, PluginProcesses, type StartedPlugin } from '../helpers/plugin-process.ts';

const protocol = loadPluginProtocol();
const processes = new PluginProcesses();
const go = buildGoPrograms('go-plugin', 'go-host');

afterEach(() => processes.clean());
afterAll(() => go.remove());

/** The tool `probe` of a connected process, with a ToolHost that answers and records. */
async function openProbe(connection: PluginConnection) {
  const asked: { exec: ExecRequest__Output[]; log: LogRequest__Output[] } = { exec: [], log: [] };
  const host = new Server();
  const unused = Object.fromEntries(
    Object.keys(protocol.ToolHost.service).map((name) => [name, () => expect.unreachable(name)]),
  );
  host.addService(protocol.ToolHost.service, {
    ...unused,
    Exec: (
      { request }: { request: ExecRequest__Output },
      respond: (error: null, result: { exit_code: number; stdout: string }) => void,
    ) => {
      asked.exec.push(request);
      respond(null, { exit_code: 0, stdout: `ran ${request.command}` });
    },
    Log: ({ request }: { request: LogRequest__Output }, respond: (error: null, result: object) => void) => {
      asked.log.push(request);
      respond(null, {});
    },
  });
  const id = connection.broker.nextId();
  await connection.broker.serve(id, host);
  const client = connection.client(protocol.ToolPlugin);
  const tools = await new Promise((resolve, reject) => {
    client.Describe({ host_service_id: id, protected_paths: [] }, (error, response) =>
      error ? reject(error) : resolve(response?.tools),
    );
  });
  const call = (input: object) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const stream = client.Call({ call_id: 'call-1', tool: 'probe', input_json: Buffer.from(JSON.stringify(input)) });
      stream.on('data', (event) => resolve(JSON.parse(event.output?.data_json.toString() ?? 'null')));
      stream.on('error', reject);
    });
  return { tools, call, asked, id };
}

function checkInner(connection: PluginConnection, id: number): Promise<unknown> {
  return connection.broker.dial(id).then(({ address, credentials, options }) => {
    const health = new protocol.Health(address, credentials, options);
    return new Promise((resolve, reject) => {
      health.Check({ service: 'plugin' }, (error, response) => {
        health.close();
        if (error) reject(error);
        else resolve(response?.status);
      });
    });
  });
}

async function failureOf(started: StartedPlugin): Promise<ContextdError> {
  return started.connect().then(
    () => expect.unreachable('it connected'),
    (thrown) => thrown,
  );
}

const KINDS = [
  { kind: 'the SDK', skip: null, start: () => processes.fixture('plugin-probe') },
  { kind: "go-plugin's own library", skip: go.missing, start: () => processes.start([join(go.dir, 'go-plugin')]) },
];

for (const { kind, skip, start } of KINDS) {
  describe.skipIf(skip !== null)(`a tool made with ${kind}`, () => {
    it('FR-1.4 answers Describe and Call', async () => {
      const connection = await start().connect();
      const { tools, call } = await openProbe(connection);
      expect(connection.appVersion).toBe(1);
      expect(tools).toEqual(['probe']);
      await expect(call({ do: 'echo', text: 'hällo\n' })).resolves.toEqual({ text: 'hällo\n' });
      await expect(call({ do: 'sing' })).rejects.toThrow('cannot');
    });

    it('FR-8.1 reaches ToolHost through the broker', async () => {
      const connection = await start().connect();
      const { call, asked } = await openProbe(connection);
      await expect(call({ do: 'exec', text: 'true' })).resolves.toEqual({ exit_code: 0, stdout: 'ran true' });
      await call({ do: 'log', text: 'a line' });
      expect(asked.exec).toMatchObject([{ call_id: 'call-1', command: 'true' }]);
      expect(asked.log).toMatchObject([{ call_id: 'call-1', level: 'info', message: 'a line' }]);
    });

    it('serves other services to the host through the broker, more than once', async () => {
      const connection = await start().connect();
      const { call } = await openProbe(connection);
      for (const expected of [1, 2]) {
        const { id } = await call({ do: 'serve' });
        expect(id).toBe(expected);
        await expect(checkInner(connection, expected)).resolves.toBe(1);
      }
    });

    it('its output is passed on', async () => {
      const started = start();
      const { call } = await openProbe(await started.connect());
      await call({ do: 'print', text: 'hello' });
      await expect.poll(() => started.output.stdout).toBe('out: hello\n');
      await expect.poll(() => started.output.stderr).toContain('err: hello\n');
    });

    it('answers pings, shuts down when asked and leaves no socket', async () => {
      const started = start();
      const connection = await started.connect();
      const { call } = await openProbe(connection);
      const { id } = await call({ do: 'serve' });
      await checkInner(connection, Number(id));
      await connection.ping();
      await Promise.all([connection.stop(), connection.stop()]);
      await connection.stop();
      await expect(started.process.exited).resolves.toEqual({ code: 0, signal: null });
      await expect(connection.closed).resolves.toBeNull();
      expect(readdirSync(started.options.privateDir)).toEqual([]);
      expect(readdirSync(started.process.socketDir)).toEqual([]);
    });

    it('that dies is reported with its exit code, and calls under way get no answer', async () => {
      const started = start();
      const connection = await started.connect();
      const { call } = await openProbe(connection);
      const answered = call({ do: 'exit' }).then(
        () => true,
        () => false,
      );
      const reason = await connection.closed;
      expect(reason).toMatchObject({ code: 'TOOL_CRASHED', message: expect.stringContaining('exited with code 7') });
      // If a connection breaks just as a call is sent, grpc-js never ends the call.
      expect(await Promise.race([answered, connection.closed.then(() => false)])).toBe(false);
      await connection.stop();
    });

    it('SEC-2.1 answers only the holder of the host certificate', async () => {
      const started = start();
      const connection = await started.connect();
      const [socket = ''] = readdirSync(started.options.privateDir);
      const path = join(started.options.privateDir, socket);
      expect(lstatSync(path).isSocket()).toBe(true);
      await expect(spokenTo(path, undefined)).resolves.toBe(false);
      await expect(spokenTo(path, createCertificate(Date.now()))).resolves.toBe(false);
      await expect(spokenTo(path, started.options.certificate)).resolves.toBe(true);
      await connection.ping();
    });
  });
}

/** Reports whether a TLS client with this certificate gets a byte of HTTP/2 from the socket at `path`. */
function spokenTo(path: string, own: ReturnType<typeof createCertificate> | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const identity = own === undefined ? {} : { cert: own.certificate, key: own.privateKey };
    const socket: TLSSocket = connect({ path, rejectUnauthorized: false, ALPNProtocols: ['h2'], ...identity });
    const finish = (spoken: boolean) => {
      socket.destroy();
      resolve(spoken);
    };
    socket.on('data', () => finish(true));
    socket.on('error', () => finish(false));
    socket.on('close', () => finish(false));
    // A server of the Go library waits for the client's preface before it sends anything.
    socket.on('secureConnect', () => socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1'));
  });
}

describe.skipIf(go.missing !== null)("a host made with go-plugin's own library", () => {
  it('FR-1.4 starts, uses and stops a tool made with the SDK', () => {
    const dir = mkdtempSync(join(tmpdir(), 'ctxd-plugin-'));
    try {
      const { PATH, NODE_V8_COVERAGE } = process.env;
      const env = { PATH, NODE_V8_COVERAGE, TMPDIR: dir };
      const plugin = [process.execPath, fixtureMain('plugin-probe')];
      const report = execFileSync(join(go.dir, 'go-host'), plugin, { env, encoding: 'utf8' });
      expect(JSON.parse(report)).toEqual({
        tools: ['probe'],
        echo: 'hello',
        exec: 'ran true',
        logged: 'hello',
        inner: 'SERVING',
        stdout: 'out: hello\n',
        stderr: 'err: hello\n',
        exit_code: 0,
      });
      expect(readdirSync(dir)).toEqual([]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('the plugin side of the SDK', () => {
  it('without the cookie explains itself on stderr and exits with 1', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [fixtureMain('plugin-probe')], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('not meant to be started by hand');
  });

  it('ignores SIGINT', async () => {
    const started = processes.fixture('plugin-probe');
    const connection = await started.connect();
    const { call } = await openProbe(connection);
    started.child.kill('SIGINT');
    await expect(call({ do: 'echo', text: 'still here' })).resolves.toEqual({ text: 'still here' });
  });

  it('ends when the host is killed', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'ctxd-plugin-'));
    const host = spawn(process.execPath, [fixtureMain('plugin-orphaned'), dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    let isOver = false;
    try {
      host.stdout.on('data', (data: Buffer) => {
        printed += data.toString();
      });
      // Ends when the plugin, which also holds it, is dead.
      await once(host.stdout, 'end');
      isOver = true;
      expect(host.signalCode ?? (await once(host, 'exit'))[1]).toBe('SIGKILL');
      expect(printed).toMatch(/^\d+\n$/);
    } finally {
      host.kill('SIGKILL');
      if (!isOver && printed !== '') process.kill(Number.parseInt(printed, 10), 'SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe('a process that breaks the protocol is killed, and the reason says what it did', () => {
  const cases = [
    { fixture: 'plugin-no-handshake', code: 'TOOL_CRASHED', says: 'not ready within 300 ms', startTimeoutMs: 300 },
    { fixture: 'plugin-late', code: 'TOOL_CRASHED', says: 'not ready within 300 ms', startTimeoutMs: 300 },
    { fixture: 'plugin-no-health', code: 'TOOL_CRASHED', says: 'within 2000 ms', startTimeoutMs: 2_000 },
    { fixture: 'plugin-garbage-line', code: 'TOOL_CRASHED', says: 'Listening on port 8080' },
    { fixture: 'plugin-endless-line', code: 'TOOL_CRASHED', says: 'more than 8192 bytes' },
    { fixture: 'plugin-wrong-core', code: 'VERSION_MISMATCH', says: "version 2 of go-plugin's core protocol" },
    { fixture: 'plugin-exits', code: 'TOOL_CRASHED', says: 'exited with code 3' },
    { fixture: 'plugin-exits', code: 'TOOL_CRASHED', says: 'cannot find my settings' },
  ];
  for (const { fixture, code, says, startTimeoutMs = 10_000 } of cases) {
    it(`${fixture}: ${code}, ${says}`, async () => {
      const started = processes.fixture(fixture, [], { startTimeoutMs });
      const failure = await failureOf(started);
      expect(failure.code).toBe(code);
      expect(failure.message).toContain(says);
      expect(failure.message.length).toBeLessThan(1_000);
      await started.process.exited;
    });
  }

  it('a program that cannot be started is reported', async () => {
    const failure = await failureOf(processes.start(['/nonexistent/program']));
    expect(failure).toMatchObject({ code: 'TOOL_CRASHED', message: expect.stringContaining('before it was ready') });
  });

  it('SEC-2.1 its socket is a link to a socket of the host', async () => {
    const { path, dialled, close } = await hostSocket();
    const failure = await failureOf(processes.fixture('plugin-liar', ['link', path]));
    expect(failure.message).toContain('link, which is not a socket');
    expect(dialled()).toBe(0);
    await close();
  });

  it('SEC-2.1 a certificate other than the announced one is refused', async () => {
    const failure = await failureOf(processes.fixture('plugin-liar', ['wrong-certificate']));
    expect(failure.message).toContain('health check');
  });

  it('SEC-2.1 what it announces to the broker is dialled only if it is its own socket', async () => {
    const { path, dialled, close } = await hostSocket();
    const connection = await processes.fixture('plugin-liar', ['broker', path], { brokerTimeoutMs: 5_000 }).connect();
    const reasons = [];
    for (const id of [1, 2, 3, 4, 5]) {
      reasons.push(await connection.broker.dial(id).catch((thrown: ContextdError) => thrown.message));
    }
    expect(reasons).toEqual([
      expect.stringContaining('/run/docker.sock'),
      expect.stringContaining('"tcp"'),
      expect.stringContaining('link, which is not a socket'),
      expect.stringContaining('directory, which is not a socket'),
      expect.stringContaining('is not a socket in its directory'),
    ]);
    expect(dialled()).toBe(0);
    await close();
  });

  it('a broker number that it never announces is reported', async () => {
    const connection = await processes.fixture('plugin-probe', [], { brokerTimeoutMs: 50 }).connect();
    await expect(connection.broker.dial(9)).rejects.toMatchObject({
      code: 'TOOL_CRASHED',
      message: expect.stringContaining('not announced within 50 ms'),
    });
  });

  it('a process without a broker can be connected to, but nothing can be served to it', async () => {
    const connection = await processes.fixture('plugin-liar', ['no-broker']).connect();
    await connection.ping();
    await vi.waitFor(() => expect(connection.broker.serve(1, new Server())).rejects.toThrow("go-plugin's broker"), {
      timeout: 30_000,
    });
  });

  it('a process that hangs up is reported while it lives, and killed without grace', async () => {
    const started = processes.fixture('plugin-liar', ['hangs-up'], { graceMs: 600_000 });
    const connection = await started.connect();
    started.child.kill('SIGUSR2');
    await expect(connection.closed).resolves.toMatchObject({
      code: 'TOOL_CRASHED',
      message: expect.stringContaining('its connection broke'),
    });
    await connection.stop();
    await expect(started.process.exited).resolves.toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('a process that continues after Shutdown is killed when its grace is over', async () => {
    const started = processes.fixture('plugin-liar', ['stays'], { graceMs: 100 });
    const connection = await started.connect();
    await connection.stop();
    await expect(started.process.exited).resolves.toEqual({ code: null, signal: 'SIGKILL' });
  });
});

describe('a number that the host serves', () => {
  it('SEC-2.1 is served to the tool only', async () => {
    const started = processes.fixture('plugin-probe');
    const { id } = await openProbe(await started.connect());
    const path = join(started.process.socketDir, `h${id}`);
    const stranger = dialPinned(path, {
      own: createCertificate(Date.now()),
      peer: started.options.certificate.der,
    });
    const client = new protocol.ToolHost(stranger.address, stranger.credentials, stranger.options);
    await expect(
      new Promise((resolve, reject) => {
        client.Exec({ command: 'id' }, (error, result) => (error ? reject(error) : resolve(result)));
      }),
    ).rejects.toThrow('UNAVAILABLE');
    client.close();
  });

  it('can be dialled by a tool of another user, and replaces no link', async () => {
    const started = processes.fixture('plugin-probe');
    const connection = await started.connect();
    const victim = join(started.options.privateDir, 'victim');
    symlinkSync(victim, join(started.process.socketDir, 'h1'));
    await connection.broker.serve(1, new Server());
    const served = lstatSync(join(started.process.socketDir, 'h1'));
    expect(served.isSocket()).toBe(true);
    expect(served.mode & 0o777).toBe(0o666);
    expect(() => readlinkSync(victim)).toThrow('ENOENT');
    await expect(connection.broker.serve(1, new Server())).rejects.toThrow('already served');
  });
});

/** A socket that a tool must not make the daemon dial. */
async function hostSocket(): Promise<{ path: string; dialled(): number; close(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'ctxd-host-'));
  const path = join(dir, 'socket');
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const close = async (): Promise<void> => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(dir, { recursive: true, force: true });
  };
  return { path, dialled: () => connections, close };
}
