import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { createRunner, type Runner, type ToolCall } from '#src/runner/runner.js';
import type { RunnerConfig } from '#src/runner/runner-config.js';
import { PlainSandbox } from './plain-sandbox.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures');
const LIMITS = { memoryBytes: 0, pids: 0, fileBytes: 0, openFiles: 0 };
/** Short graces: what is tested are outcomes, not durations. */
const SHORT = { cancelGraceMs: 50, pingDeadlineMs: 200 };

const opened: { runner: Runner; sandbox: PlainSandbox }[] = [];

afterEach(async () => {
  for (const { runner, sandbox } of opened.splice(0)) {
    await runner.stop();
    await sandbox.stop();
  }
});

function openRunner(config: Partial<RunnerConfig> = SHORT, monotonic: () => number = () => performance.now()) {
  const sandbox = new PlainSandbox();
  const runner = createRunner({
    sandbox,
    policyFor: (workspace) => ({ workspace, roPaths: [], limits: LIMITS }),
    logger: silentLogger,
    clock: { now: () => 0, monotonic },
    config,
  });
  opened.push({ runner, sandbox });
  const call = (fixture: string, tool: string, change: Partial<ToolCall> = {}) =>
    runner.run({
      requestId: 'req_1',
      projectRoot: import.meta.dirname,
      sessionKey: 'session',
      tool,
      bundleSha256: fixture,
      bundleDir: join(FIXTURES, `tool-${fixture}`),
      input: {},
      etagKey: '00',
      timeoutMs: 30_000,
      outputMaxBytes: 1024,
      grants: [],
      signal: new AbortController().signal,
      ...change,
    });
  return { runner, sandbox, call };
}

describe('a tool process', () => {
  it('SEC-2.1 is another process, shared by the calls of a project', async () => {
    const { sandbox, call } = openRunner();
    const first = await call('ignore-cancel', 'pid', { sessionKey: 'a' });
    const second = await call('ignore-cancel', 'pid', { sessionKey: 'b' });
    expect(first.output.data.pid).not.toBe(process.pid);
    expect(second.output.data).toEqual(first.output.data);
    expect(sandbox.processes).toHaveLength(1);
  });

  it('is not shared by two projects', async () => {
    const { call } = openRunner();
    const here = await call('ignore-cancel', 'pid');
    const there = await call('ignore-cancel', 'pid', { projectRoot: FIXTURES });
    expect(there.output.data).not.toEqual(here.output.data);
  });

  it('that crashes fails every call under way at once, and is started again for the next', async () => {
    const { sandbox, call } = openRunner();
    const waiting = [call('crash', 'wait'), call('crash', 'wait')].map((result) =>
      expect(result).rejects.toMatchObject({ code: 'TOOL_CRASHED' }),
    );
    await expect(call('crash', 'crash')).rejects.toMatchObject({ code: 'TOOL_CRASHED' });
    await Promise.all(waiting);
    await expect(call('crash', 'crash')).rejects.toMatchObject({ code: 'TOOL_CRASHED' });
    expect(sandbox.processes).toHaveLength(2);
  });

  it('that crashes again and again is not started before a wait, which the error names', async () => {
    let now = 0;
    const { sandbox, call } = openRunner(SHORT, () => now);
    await expect(call('crash', 'crash')).rejects.toMatchObject({ code: 'TOOL_CRASHED', retryAfterMs: undefined });
    await expect(call('crash', 'crash')).rejects.toMatchObject({ code: 'TOOL_CRASHED', retryAfterMs: undefined });
    await expect(call('crash', 'crash')).rejects.toMatchObject({ code: 'TOOL_CRASHED', retryAfterMs: 250 });
    expect(sandbox.processes).toHaveLength(2);
    now = 250;
    await expect(call('crash', 'crash')).rejects.toMatchObject({ code: 'TOOL_CRASHED', retryAfterMs: undefined });
    expect(sandbox.processes).toHaveLength(3);
  });

  it.each([
    ['garbage-frames', 'garbage', 'is not JSON in UTF-8'],
    ['huge-frame', 'huge', 'a frame of 4294967295 bytes is over the limit'],
  ])('that sends %s is killed', async (fixture, tool, reason) => {
    const { sandbox, call } = openRunner();
    await expect(call(fixture, tool)).rejects.toMatchObject({
      code: 'TOOL_CRASHED',
      message: expect.stringContaining(reason),
    });
    await sandbox.processes[0]?.exited;
  });

  it('of another protocol version is refused, naming both', async () => {
    const { call } = openRunner();
    await expect(call('lie-about-version', 'any')).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
      message: 'the tool speaks version 99 of the tool protocol, the daemon version 1',
    });
  });

  it('that never says hello is killed at the start deadline', async () => {
    const { sandbox, call } = openRunner({ startDeadlineMs: 300 });
    await expect(call('silent', 'any')).rejects.toMatchObject({
      code: 'TOOL_CRASHED',
      message: expect.stringContaining('it did not start within 300 ms'),
    });
    await sandbox.processes[0]?.exited;
  });

  it('that has not the tool is asked for nothing', async () => {
    const { call } = openRunner();
    await expect(call('ignore-cancel', 'other')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('is stopped when idle, and started again for the next call', async () => {
    const { sandbox, call } = openRunner({ idleMs: 20 });
    await call('ignore-cancel', 'pid');
    await sandbox.processes[0]?.exited;
    await call('ignore-cancel', 'pid');
    expect(sandbox.processes).toHaveLength(2);
  });
});

describe('the end of a call', () => {
  it('NFR-2.2 comes at its deadline even when the process hangs, and the process is killed', async () => {
    const { sandbox, call } = openRunner();
    const beside = expect(call('hang', 'wait')).rejects.toMatchObject({ code: 'TOOL_CRASHED' });
    await expect(call('hang', 'hang', { timeoutMs: 30 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'hang was not done after 30 ms',
    });
    await beside;
    await expect(sandbox.processes[0]?.exited).resolves.toMatchObject({ signal: 'SIGKILL' });
  });

  it('that the tool ignores takes no new calls there, lets the others finish and then kills the process', async () => {
    const { sandbox, call } = openRunner();
    const slow = call('ignore-cancel', 'slow');
    await expect(call('ignore-cancel', 'ignore', { timeoutMs: 30 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    const next = await call('ignore-cancel', 'pid');
    const { output } = await slow;
    expect(output.data).not.toEqual(next.output.data);
    await sandbox.processes[0]?.exited;
    expect(sandbox.processes).toHaveLength(2);
  });

  it('by its caller is CANCELLED, once the grace is over', async () => {
    const { call } = openRunner();
    await call('ignore-cancel', 'echo');
    const caller = new AbortController();
    const result = call('ignore-cancel', 'ignore', { signal: caller.signal });
    caller.abort();
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('by its caller while the process starts does not wait for the start', async () => {
    const { call } = openRunner({ startDeadlineMs: 5_000 });
    const caller = new AbortController();
    const result = call('silent', 'any', { signal: caller.signal });
    caller.abort();
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('by the daemon stopping is INTERRUPTED, and nothing is left alive', async () => {
    const { runner, sandbox, call } = openRunner();
    await call('ignore-cancel', 'echo');
    const result = expect(call('ignore-cancel', 'ignore')).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await Promise.resolve();
    await runner.stop();
    await result;
    await sandbox.processes[0]?.exited;
    await expect(call('ignore-cancel', 'echo')).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('NFR-1.4 does not hold up the calls beside it', async () => {
    const { call } = openRunner();
    const slow = call('ignore-cancel', 'slow');
    const others = await Promise.all([1, 2, 3].map((n) => call('ignore-cancel', 'echo', { input: { n } })));
    expect(others.map(({ output }) => output.data)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await call('ignore-cancel', 'release');
    await expect(slow).resolves.toMatchObject({ output: { data: { pid: expect.any(Number) } } });
  });
});
