import { describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { HostApi } from '#src/runner/host-api.js';
import type { CommandResult, EndedBy } from '#src/sandbox/sandbox.js';
import { PlainSandbox } from './plain-sandbox.ts';

const POLICY = { workspace: '/w', roPaths: [], limits: { memoryBytes: 0, pids: 0, fileBytes: 0, openFiles: 0 } };
const SPEC = { command: 'true', cwd: '/w', env: {}, stdin: null };

function stream(text: string, droppedBytes = 0) {
  return { head: Buffer.from(text), tail: Buffer.alloc(0), droppedBytes, totalBytes: text.length + droppedBytes };
}

function commandResult(endedBy: EndedBy = 'exit'): CommandResult {
  const ended = { exitCode: 0, signal: null, endedBy, durationMs: 1.4, quarantined: ['.envrc'] };
  return { ...ended, stdout: stream('out'), stderr: stream('err', 2) };
}

function openHost(grants: readonly string[], answer = async () => commandResult()) {
  const sandbox = new PlainSandbox(answer);
  const lines: string[] = [];
  const note = (_event: string, fields?: { message?: unknown }) => void lines.push(String(fields?.message));
  const call = {
    requestId: 'r',
    tool: 'a_tool',
    grants,
    outputMaxBytes: 100,
    endsAt: 5_000,
    signal: new AbortController().signal,
  };
  const logger = { ...silentLogger, info: note, error: note };
  const host = new HostApi(call, POLICY, { sandbox, logger, clock: { now: () => 0, monotonic: () => 4_000 } });
  return { host, sandbox, lines };
}

describe('the host', () => {
  it('FR-8.4 runs nothing for a tool whose tool.json does not grant exec', async () => {
    const { host, sandbox } = openHost(['log']);
    await expect(host.exec(SPEC)).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      message: 'a_tool may not use "exec": its tool.json does not grant it',
    });
    expect(sandbox.commands).toEqual([]);
  });

  it('FR-8.1 runs a command for a tool that has the grant, with the time the call has left', async () => {
    const { host, sandbox } = openHost(['exec']);
    const result = await host.exec({ ...SPEC, stdin: 'in' });
    expect(sandbox.commands).toMatchObject([
      { argv: ['bash', '-c', 'true'], cwd: '/w', stdin: Buffer.from('in'), timeoutMs: 1_000, outputMaxBytes: 100 },
    ]);
    expect(result).toEqual({
      exit_code: 0,
      signal: null,
      ended_by: 'exit',
      stdout: 'out',
      stderr: 'err\n[contextd: 2 bytes were not kept]\n',
      dropped_bytes: 2,
      duration_ms: 1,
      encoding_replaced: false,
    });
    expect(host.quarantined).toEqual(['.envrc']);
  });

  it.each([
    ['a relative directory', { cwd: 'w' }],
    ['a NUL in the directory', { cwd: '/w\0' }],
    ['a NUL in the command', { command: 'a\0b' }],
    ['a name that is none', { env: { 'A=B': 'x' } }],
    ['a NUL in a value', { env: { A: '\0' } }],
  ])('refuses %s as ARGS_INVALID', async (_, change) => {
    const { host, sandbox } = openHost(['exec']);
    await expect(host.exec({ ...SPEC, ...change })).rejects.toMatchObject({ code: 'ARGS_INVALID' });
    expect(sandbox.commands).toEqual([]);
  });

  it('runs at most eight commands of a call at once', async () => {
    const { host } = openHost(['exec'], () => new Promise(() => {}));
    for (let i = 0; i < 8; i++) void host.exec(SPEC);
    await expect(host.exec(SPEC)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('writes a log line for a tool with the grant, errors for any, and not without end', () => {
    const without = openHost([]);
    without.host.log('info', 'quiet');
    without.host.log('error', 'loud');
    expect(without.lines).toEqual(['loud']);
    const { host, lines } = openHost(['log']);
    for (let i = 0; i < 1000; i++) host.log('info', `line ${i}`);
    expect(lines).toHaveLength(100);
  });
});
