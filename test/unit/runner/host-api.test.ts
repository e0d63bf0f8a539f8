import { describe, expect, it } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';
import { HostApi, type HostCall } from '#src/runner/host-api.js';
import { HOST_METHODS } from '#src/runner/host-methods.js';
import type { CommandResult, CommandSpec, Connection, EndedBy } from '#src/sandbox/contract/command.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import { sessionNamed } from '../../helpers/sessions.ts';
import { ScriptedSandbox } from './scripted-sandbox.ts';

const POLICY: SandboxPolicy = {
  workspace: { path: '/w', layer: null },
  network: 'project',
  roPaths: [],
  deny: [],
  storage: null,
  minIsolation: 'reduced',
  seccomp: { inet: true, unix: true, debugger: false },
  limits: { memoryBytes: 0, pids: 0, fileBytes: 0, openFiles: 0, cpus: 0 },
};
const SPEC = { call_id: 'c', command: 'true', cwd: '/w', env: {}, own_loopback: false, tty: false };
const DENIAL = { kind: 'write', path: '/etc/x', rule: 'read-only', how_to_allow: 'not at all' };

function stream(text: string, droppedBytes = 0) {
  const totalBytes = text.length + droppedBytes;
  return { head: Buffer.from(text), tail: Buffer.alloc(0), droppedBytes, droppedNewlines: 0, totalBytes };
}

const CONNECTION: Connection = {
  host: 'api.example.com',
  port: 443,
  via: 'connect',
  allowed: false,
  rule: null,
  why: 'nobody allowed it',
  isAllowable: true,
  count: 1,
  up: 0,
  down: 0,
};
const SET_ASIDE = { path: '.envrc', id: '0123abcd', reason: 'r' };

function commandResult(endedBy: EndedBy = 'exit'): CommandResult {
  const found = { quarantined: [SET_ASIDE], searchComplete: false, denied: [DENIAL], connections: [CONNECTION] };
  const ended = {
    exitCode: 0,
    signal: null,
    endedBy,
    durationMs: 1.4,
    notices: [],
    activity: null,
    pipeStatus: [],
    ...found,
  };
  return { ...ended, stdout: stream('out'), stderr: stream('err', 2) };
}

interface Answers {
  run?(command: CommandSpec): Promise<CommandResult>;
  scrub?(session: SessionRef, texts: readonly string[]): Promise<readonly string[]>;
}

function openHost(grants: readonly string[], change: Partial<HostCall> = {}, answers: Answers = {}) {
  const sandbox = new ScriptedSandbox(answers.run ?? (async () => commandResult()));
  const lines: string[] = [];
  const note = (_event: string, fields?: { message?: unknown }) => void lines.push(String(fields?.message));
  const call: HostCall = {
    requestId: 'r',
    session: sessionNamed('s'),
    tool: 'a_tool',
    origin: 'installed',
    grants,
    outputMaxBytes: 100,
    outputKillBytes: 1_000,
    endsAt: 5_000,
    signal: new AbortController().signal,
    ending: () => null,
    ...change,
  };
  const scrub = answers.scrub ?? (async ({ session }, texts) => texts.map((text) => `${session}:${text}`));
  const logger = { ...silentLogger, info: note, error: note };
  const host = new HostApi(call, {
    sandbox,
    commandPolicyFor: (session) => ({ ...POLICY, deny: [session.session] }),
    scrub,
    services: {},
    logger,
    clock: { now: () => 0, monotonic: () => 4_000 },
  });
  const exec = (request: Partial<typeof SPEC & { stdin: Buffer }> = {}, cancelled = new AbortController().signal) =>
    host.exec({ ...SPEC, ...request }, cancelled);
  return { host, sandbox, lines, exec };
}

describe('the host', () => {
  it('FR-8.1 has exactly the methods of host.proto, each allowed by a grant or for core tools only', () => {
    expect(Object.keys(HOST_METHODS).sort()).toEqual(Object.keys(loadPluginProtocol().ToolHost.service).sort());
  });

  it.each(Object.keys(HOST_METHODS))('FR-8.4 refuses and records %s for a tool without its grant', async (method) => {
    const { host } = openHost([]);
    await expect(host.ask(method, {})).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(host.facts.hostCalls.calls).toEqual([{ method, error_code: 'PERMISSION_DENIED', duration_ms: 0 }]);
  });

  it.each(['ToolCall', 'toString', '__proto__'])(
    'FR-8.4 refuses and records %s, which is not in the table of methods, for any tool',
    async (method) => {
      const { host } = openHost(['exec', 'scrub', 'log'], { origin: 'core' });
      await expect(host.ask(method, {})).rejects.toMatchObject({
        code: 'PERMISSION_DENIED',
        message: `a_tool may not use ${method}: no grant opens it`,
      });
      expect(host.facts.hostCalls).toEqual({
        calls: [{ method, error_code: 'PERMISSION_DENIED', duration_ms: 0 }],
        total: 1,
      });
    },
  );

  it('FR-8.4 runs nothing for a tool whose tool.json does not grant exec', async () => {
    const { exec, sandbox } = openHost(['log'], { origin: 'core' });
    await expect(exec()).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      message: 'a_tool may not use "exec": its tool.json does not grant it',
    });
    expect(sandbox.commands).toEqual([]);
  });

  it('runs a command that asks for a loopback of its own without the one of the project', async () => {
    const { exec, sandbox } = openHost(['exec']);
    await exec();
    await exec({ own_loopback: true });
    expect(sandbox.policies.map(({ network }) => network)).toEqual(['project', 'none']);
  });

  it("FR-8.1 runs a command for a tool with the grant, under its session's policy, within the call's remaining time", async () => {
    const { exec, host, sandbox } = openHost(['exec']);
    const result = await exec({ stdin: Buffer.from('in') });
    expect(sandbox.policies).toEqual([{ ...POLICY, deny: ['s'] }]);
    expect(sandbox.commands).toMatchObject([
      {
        argv: ['bash', '-c', 'true'],
        cwd: '/w',
        stdin: Buffer.from('in'),
        timeoutMs: 1_000,
        outputMaxBytes: 100,
        outputKillBytes: 1_000,
      },
    ]);
    expect(result).toEqual({
      exit_code: 0,
      signal: null,
      ended_by: 'exit',
      stdout: 'out',
      stderr: 'er\n… 3 bytes were not kept by contextd, line 1 …\n',
      dropped_bytes: 3,
      duration_ms: 1,
      encoding_replaced: false,
      stdout_encoding: '',
      stderr_encoding: '',
      stdout_gap: null,
      stderr_gap: { start: 2, end: 49, bytes: 3, firstLine: 1, lastLine: 1, nextLine: 1 },
      doing: '',
      doing_text: '',
    });
    expect(host.facts).toMatchObject({ quarantined: [SET_ASIDE], searchComplete: false, denied: [DENIAL] });
    const { host: name, port, via, why, up, down } = CONNECTION;
    expect(host.facts.connections).toEqual([{ host: name, port, via, why, up, down, verdict: 'denied' }]);
  });

  it('runs a command without a directory in the workspace', async () => {
    const { exec, sandbox } = openHost(['exec']);
    await exec({ cwd: '' });
    expect(sandbox.commands).toMatchObject([{ cwd: '/home/me/project' }]);
  });

  it('reports each denial once, however many commands cause it', async () => {
    const { exec, host } = openHost(['exec']);
    await exec();
    await exec();
    expect(host.facts.denied).toEqual([DENIAL]);
  });

  it.each([
    ['timeout', 'timeout'],
    [null, 'cancelled'],
  ] as const)('for a call that ends by %s, reports the killed command as ended by %s', async (ending, told) => {
    const { exec, host } = openHost(
      ['exec'],
      { ending: () => ending },
      { run: async () => commandResult('cancelled') },
    );
    await expect(exec()).resolves.toMatchObject({ ended_by: told });
    expect(host.facts.hostCalls.calls).toMatchObject([{ ended_by: told, error_code: null }]);
  });

  it.each(['the call', 'the request'])('kills the command when %s ends', async (what) => {
    const [call, request] = [new AbortController(), new AbortController()];
    const run = ({ signal }: CommandSpec) =>
      new Promise<CommandResult>((resolve) =>
        signal.addEventListener('abort', () => resolve(commandResult('cancelled'))),
      );
    const { exec } = openHost(['exec'], { signal: call.signal }, { run });
    const running = exec({}, request.signal);
    (what === 'the call' ? call : request).abort();
    await expect(running).resolves.toMatchObject({ ended_by: 'cancelled' });
  });

  it.each([
    ['a relative directory', { cwd: 'w' }],
    ['a NUL in the directory', { cwd: '/w\0' }],
    ['a NUL in the command', { command: 'a\0b' }],
    ['an invalid name', { env: { 'A=B': 'x' } }],
    ['a NUL in a value', { env: { A: '\0' } }],
  ])('refuses %s as ARGS_INVALID', async (_, change) => {
    const { exec, sandbox } = openHost(['exec']);
    await expect(exec(change)).rejects.toMatchObject({ code: 'ARGS_INVALID' });
    expect(sandbox.commands).toEqual([]);
  });

  it("sends a command's output, and its end, to a listener of its own", async () => {
    const told: string[] = [];
    let commands = 0;
    const onCommand = () => {
      const name = `command ${++commands}`;
      return {
        output: (stream: string, bytes: Buffer) => void told.push(`${name} ${stream} ${bytes}`),
        ended: () => void told.push(`${name} ended`),
      };
    };
    const run = async ({ onOutput }: CommandSpec) => {
      onOutput?.('stdout', Buffer.from('out'));
      onOutput?.('stderr', Buffer.from('err'));
      return commandResult();
    };
    const { exec } = openHost(['exec'], { onCommand }, { run });
    await exec();
    expect(told).toEqual(['command 1 stdout out', 'command 1 stderr err', 'command 1 ended']);
    await openHost(['exec'], { onCommand }, { run: () => Promise.reject(new Error('no')) })
      .exec()
      .catch(() => {});
    expect(told.slice(3)).toEqual(['command 2 ended']);
  });

  it('runs at most eight commands of a call at once', async () => {
    const { exec } = openHost(['exec'], {}, { run: () => new Promise(() => {}) });
    for (let i = 0; i < 8; i++) void exec();
    await expect(exec()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('FR-8.1 scrubs in the session of the call', async () => {
    const { host } = openHost(['scrub']);
    await expect(host.scrub(['a', 'b'])).resolves.toEqual(['s:a', 's:b']);
  });

  it('does not reveal the cause if scrubbing fails', async () => {
    const scrub = () => Promise.reject(new Error('swordfish'));
    const { host } = openHost(['scrub'], {}, { scrub });
    await expect(host.scrub(['a'])).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.not.stringContaining('swordfish'),
    });
  });

  it('FR-8.1 writes log lines for a tool with the grant, up to a limit', async () => {
    const { host, lines } = openHost(['log']);
    for (let i = 0; i < 100; i++) await host.log('info', `line ${i}`);
    await expect(host.log('info', 'one more')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(lines).toHaveLength(100);
    await expect(openHost([]).host.log('error', 'x')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('SEC-1.1 scrubs a log line before the logger sees it, and logs nothing if that fails', async () => {
    const { host, lines } = openHost(['log']);
    await host.log('info', 'swordfish');
    expect(lines).toEqual(['s:swordfish']);
    const failing = openHost(['log'], {}, { scrub: () => Promise.reject(new Error('no scrub')) });
    await expect(failing.host.log('info', 'swordfish')).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(failing.lines).toEqual([]);
  });

  it.each([
    ['shout', 'x'],
    ['info', 'x'.repeat(16_385)],
  ])('refuses the unknown log level %s', async (level, message) => {
    const { host, lines } = openHost(['log']);
    await expect(host.log(level, message)).rejects.toMatchObject({ code: 'ARGS_INVALID' });
    expect(lines).toEqual([]);
  });

  it('FR-8.4 allows the core methods only for core tools', async () => {
    const asked = (origin: 'core' | 'installed') => openHost([], { origin }).host.ask('ArtifactView', {});
    await expect(asked('installed')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await expect(asked('core')).rejects.toMatchObject({ code: 'NOT_IMPLEMENTED' });
  });

  it('records a hundred requests and counts all, with their outcomes', async () => {
    const { host, exec } = openHost(['exec']);
    await exec();
    for (let i = 0; i < 149; i++) await host.scrub([]).catch(() => {});
    const { calls, total } = host.facts.hostCalls;
    expect(total).toBe(150);
    expect(calls).toHaveLength(100);
    expect(calls[0]).toEqual({ method: 'Exec', error_code: null, duration_ms: 0, exit_code: 0, ended_by: 'exit' });
    expect(calls[1]).toEqual({ method: 'Scrub', error_code: 'PERMISSION_DENIED', duration_ms: 0 });
  });

  it('reports running requests as interrupted, and waits for them only for a limited time', async () => {
    const { host, exec } = openHost(['exec'], {}, { run: () => new Promise(() => {}) });
    expect(host.finished(10)).toBeNull();
    void exec();
    await host.finished(10);
    expect(host.facts.hostCalls.calls).toEqual([{ method: 'Exec', error_code: 'INTERRUPTED', duration_ms: 0 }]);
  });

  it('waits for running requests', async () => {
    const { promise, reject } = Promise.withResolvers<CommandResult>();
    const { host, exec } = openHost(['exec'], {}, { run: () => promise });
    const running = exec().catch(() => {});
    const finished = host.finished(60_000);
    reject(new ContextdError('SANDBOX_UNAVAILABLE', 'no'));
    await Promise.all([running, finished]);
    expect(host.facts.hostCalls.calls).toMatchObject([{ error_code: 'SANDBOX_UNAVAILABLE' }]);
  });
});
