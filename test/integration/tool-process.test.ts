import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import { systemClock } from '#src/core/clock.js';
import { explainCrash } from '#src/features/lost-calls/crashed.js';
import type { RunnerDeps } from '#src/runner/runner.js';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';
import { openToolRunner, PROFILE, type RunResult, sessionOf, type ToolRunner } from '../helpers/tool-runner.ts';

/** Short graces: the tests are about outcomes, not durations. */
const SHORT = { cancelGraceMs: 50, pingDeadlineMs: 500, stopGraceMs: 500 };

const who = whoCanRun().at(-1) ?? 'ordinary user';
let bench: Bench;
const opened: ToolRunner[] = [];

beforeAll(async () => {
  bench = await openBench(who);
  await bench.sandbox.start();
});
afterEach(async () => {
  for (const tools of opened.splice(0)) await tools.close();
});
afterAll(() => bench.close());

function open(own: Partial<RunnerDeps> = { config: SHORT }): ToolRunner {
  const tools = openToolRunner(bench, own);
  opened.push(tools);
  return tools;
}

/** Creates the root of another project as the owner of the workspace. */
function otherProject(name: string): string {
  bench.host(`mkdir -p '${name}'`);
  return join(bench.workspace, name);
}

const bornAt = ({ output }: RunResult): unknown => output.data.bornAt;

describe('a tool process', () => {
  it('SEC-2.1 FR-1.4 runs outside the daemon and is shared by the sessions of a project for the core bundle', async () => {
    const tools = open();
    const a = await tools.fixture('ignore-cancel', 'birth', {
      origin: 'core',
      session: sessionOf(bench.workspace, 'a'),
    });
    const b = await tools.fixture('ignore-cancel', 'birth', {
      origin: 'core',
      session: sessionOf(bench.workspace, 'b'),
    });
    expect(bornAt(a)).not.toBe(performance.timeOrigin);
    expect(bornAt(b)).toBe(bornAt(a));
    expect(tools.processes).toHaveLength(1);
  });

  it('SEC-2.1 of another bundle serves one session', async () => {
    const tools = open();
    const a = await tools.fixture('ignore-cancel', 'birth', { session: sessionOf(bench.workspace, 'a') });
    const b = await tools.fixture('ignore-cancel', 'birth', { session: sessionOf(bench.workspace, 'b') });
    const again = await tools.fixture('ignore-cancel', 'birth', { session: sessionOf(bench.workspace, 'a') });
    expect(bornAt(b)).not.toBe(bornAt(a));
    expect(bornAt(again)).toBe(bornAt(a));
  });

  it('SEC-2.1 serves the branches that share the files of the base, and no call whose files are in a layer', async () => {
    const policyFor = (session: SessionRef) =>
      bench.policy({ workspace: { path: bench.workspace, layer: session.branch === 'own' ? ['own'] : null } });
    const tools = open({ config: SHORT, policyFor });
    const on = (session: string, branch: string | null) => ({ ...sessionOf(bench.workspace, session), branch });
    const born: unknown[] = [];
    for (const session of [on('a', null), on('b', null), on('a', 'x'), on('b', 'y')])
      born.push(bornAt(await tools.fixture('ignore-cancel', 'birth', { origin: 'core', session })));
    expect(new Set(born).size).toBe(1);
    const own = tools.fixture('ignore-cancel', 'birth', { origin: 'core', session: on('a', 'own') });
    await expect(own).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  });

  it('SEC-2.1 of another bundle serves one branch of one session', async () => {
    const tools = open();
    const on = (branch: string | null) => ({ ...sessionOf(bench.workspace, 'a'), branch });
    const born: unknown[] = [];
    for (const branch of [null, 'x', 'y', 'x'])
      born.push(bornAt(await tools.fixture('ignore-cancel', 'birth', { session: on(branch) })));
    expect(born[3]).toBe(born[1]);
    expect(new Set(born).size).toBe(3);
  });

  it('SEC-2.1 is not shared by two projects', async () => {
    const tools = open({
      config: SHORT,
      policyFor: ({ project }) => bench.policy({ workspace: { path: project, layer: null } }),
    });
    const here = await tools.fixture('ignore-cancel', 'birth', { origin: 'core' });
    const session = sessionOf(otherProject('other'));
    const there = await tools.fixture('ignore-cancel', 'birth', { origin: 'core', session });
    expect(bornAt(there)).not.toBe(bornAt(here));
  });

  it('SEC-2.1 has only the environment that the handshake and a shell need', async () => {
    const tools = open();
    const { output } = await tools.fixture('ask-host', 'environment');
    expect(output.data.names).toEqual(
      [
        'CONTEXTD_PLUGIN',
        'HOME',
        'LANG',
        'PATH',
        'PLUGIN_CLIENT_CERT',
        'PLUGIN_PROTOCOL_VERSIONS',
        'PLUGIN_UNIX_SOCKET_DIR',
        'TMPDIR',
        ...(output.data.names as string[]).filter((name) => name === 'PWD'),
      ].sort(),
    );
  });

  it('that crashes fails every call under way at once, and is started again for the next call', async () => {
    const tools = open();
    const waiting = [1, 2].map(() =>
      expect(tools.fixture('crash', 'wait')).rejects.toMatchObject({ code: 'TOOL_CRASHED' }),
    );
    await expect(tools.fixture('crash', 'crash')).rejects.toMatchObject({
      code: 'TOOL_CRASHED',
      message: expect.stringContaining('it exited with code 3'),
    });
    await Promise.all(waiting);
    await expect(tools.fixture('crash', 'crash')).rejects.toMatchObject({ code: 'TOOL_CRASHED' });
    expect(tools.processes).toHaveLength(2);
  });

  it.each([
    ['core', { files: 'read', session: 'look' }, 'Call again: a new process is started.'],
    ['core', { files: 'none', session: 'memory' }, 'Look at what it was to keep before you call again.'],
    ['core', { files: 'write', session: 'edit' }, 'Check what it was to do before you call again.'],
    ['installed', { files: 'none', session: 'look' }, 'Check what it was to do before you call again.'],
  ] as const)('NFR-2.3: that crashes in a call (%s, %o) says: %s', async (origin, effects, remedy) => {
    const tools = open();
    const crashed = await tools.ended('crash', 'crash');
    const call = { origin, effects, session: sessionOf(bench.workspace) };
    const { outcome } = explainCrash(call, crashed, { undo: { enabled: true } });
    expect(outcome).toMatchObject({ code: 'TOOL_CRASHED', remedy: expect.stringContaining(remedy) });
  });

  it('that crashes again and again is started only after a wait, which the error names', async () => {
    let now = 0;
    const tools = open({ config: SHORT, clock: { now: systemClock.now, monotonic: () => now } });
    const crash = () => tools.fixture('crash', 'crash');
    await expect(crash()).rejects.toMatchObject({ code: 'TOOL_CRASHED', retryAfterMs: undefined });
    await expect(crash()).rejects.toMatchObject({ code: 'TOOL_CRASHED', retryAfterMs: undefined });
    await expect(crash()).rejects.toMatchObject({ code: 'TOOL_CRASHED', retryAfterMs: 250 });
    expect(tools.processes).toHaveLength(2);
    now = 250;
    await expect(crash()).rejects.toMatchObject({ code: 'TOOL_CRASHED', retryAfterMs: undefined });
    expect(tools.processes).toHaveLength(3);
  });

  it.each([
    ['garbage', 'broke the tool protocol'],
    ['flood', 'a message has more than'],
    ['huge', 'Received message larger than max (4294967295 vs 268435456)'],
    ['no-answer', 'it ended a call without an answer'],
    ['no-event', 'an event of no known kind'],
    ['lone-findings', 'it announced no findings'],
    ['bad-code', 'failure.code is not a code of docs/errors.md'],
    ['deep-data', 'deeper than 32 levels'],
  ])('FR-1.4 that breaks the protocol is killed, with its calls: %s', async (tool, reason) => {
    const tools = open();
    const beside = expect(tools.fixture('break-protocol', 'wait')).rejects.toMatchObject({ code: 'TOOL_CRASHED' });
    await expect(tools.fixture('break-protocol', tool)).rejects.toMatchObject({
      code: 'TOOL_CRASHED',
      message: expect.stringContaining(reason),
    });
    await beside;
    await tools.processes[0]?.exited;
  });

  it('FR-1.4 that sends more after its answer is killed, and the answer counts', async () => {
    const tools = open();
    const beside = expect(tools.fixture('break-protocol', 'wait')).rejects.toMatchObject({
      code: 'TOOL_CRASHED',
      message: expect.stringContaining('an event follows the last one'),
    });
    await expect(tools.fixture('break-protocol', 'two-answers')).resolves.toMatchObject({ output: { data: {} } });
    await beside;
  });

  it.each([
    ['two-outputs', 'it answers twice'],
    ['no-findings', 'it ended a call without an answer'],
    ['bad-findings', 'a search has an invalid span'],
  ])('SEC-1.2 that breaks the protocol while it searches its output is killed: %s', async (tool, reason) => {
    const tools = open();
    const { firstPass } = await tools.fixture('break-protocol', tool);
    expect(await firstPass).toMatchObject({ code: 'TOOL_CRASHED', message: expect.stringContaining(reason) });
    await tools.processes[0]?.exited;
  });

  it('FR-1.4 that answers with a gRPC error has failed and stays alive', async () => {
    const tools = open();
    const refused = { code: 'INTERNAL_ERROR', message: 'the tool failed: no such planet' };
    await expect(tools.fixture('break-protocol', 'refuse')).rejects.toMatchObject(refused);
    await expect(tools.fixture('break-protocol', 'refuse')).rejects.toMatchObject(refused);
    expect(tools.processes).toHaveLength(1);
  });

  it('FR-1.4 of another protocol version is refused, naming both versions', async () => {
    const tools = open();
    await expect(tools.fixture('lie-about-version', 'any')).rejects.toMatchObject({
      code: 'VERSION_MISMATCH',
      message: 'the tool speaks version 99 of the tool protocol, contextd version 1',
    });
    await tools.processes[0]?.exited;
  });

  it('that prints nothing is killed at the start deadline', async () => {
    const tools = open({ config: { startDeadlineMs: 300 } });
    await expect(tools.fixture('silent', 'any')).rejects.toMatchObject({
      code: 'TOOL_CRASHED',
      message: expect.stringContaining('it was not ready within 300 ms'),
    });
    await tools.processes[0]?.exited;
  });

  it('that does not serve the tool gets no call', async () => {
    const tools = open();
    await expect(tools.fixture('ignore-cancel', 'other')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('is stopped when idle and started again for the next call', async () => {
    const tools = open({ config: { ...SHORT, idleMs: 20 } });
    await tools.fixture('ignore-cancel', 'birth');
    await tools.processes[0]?.exited;
    await tools.fixture('ignore-cancel', 'birth');
    expect(tools.processes).toHaveLength(2);
  });

  it('SEC-2.1 gets the configured limits as narrowed by its profile, and keeps unix sockets', async () => {
    const tools = open();
    const limits = { memoryMb: 256, pids: 1_000_000, cpus: 1.5 };
    const profile = { ...PROFILE, minIsolation: 'reduced', seccomp: ['no-inet', 'no-unix'], limits } as const;
    await tools.fixture('ignore-cancel', 'birth', { profile });
    expect(tools.policies).toMatchObject([
      {
        seccomp: { inet: false, unix: true, debugger: false },
        limits: { memoryBytes: 256 * 1024 * 1024, pids: bench.policy().limits.pids, cpus: 1.5 },
      },
    ]);
  });
});

describe('the end of a call', () => {
  it('NFR-2.2 comes at its deadline even if the process hangs, and the process is killed', async () => {
    const tools = open();
    const beside = expect(tools.fixture('hang', 'wait')).rejects.toMatchObject({ code: 'TOOL_CRASHED' });
    await expect(tools.fixture('hang', 'hang', { timeoutMs: 30 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'hang did not finish within 30 ms',
    });
    await beside;
    await tools.processes[0]?.exited;
  });

  it('NFR-2.2 comes at the deadline of its profile if that is shorter', async () => {
    const tools = open();
    const profile = { ...PROFILE, limits: { timeoutMs: 30 } };
    await expect(tools.fixture('ignore-cancel', 'ignore', { profile })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'ignore did not finish within 30 ms',
      remedy: 'Ask for less at once: its tool.json allows no more time.',
    });
  });

  it('that the tool ignores sends no new calls there, lets the others finish and then kills the process', async () => {
    const tools = open();
    const slow = tools.fixture('ignore-cancel', 'slow', { input: { until: 'go-on' } });
    const ignored = tools.fixture('ignore-cancel', 'ignore', { timeoutMs: 30 });
    await expect(ignored).rejects.toMatchObject({ code: 'TIMEOUT' });
    const next = await tools.fixture('ignore-cancel', 'birth');
    writeFileSync(join(bench.workspace, 'go-on'), '');
    expect(bornAt(await slow)).not.toBe(bornAt(next));
    await tools.processes[0]?.exited;
    expect(tools.processes).toHaveLength(2);
  });

  it('by its caller is CANCELLED when the grace is over', async () => {
    const tools = open();
    await tools.fixture('ignore-cancel', 'echo');
    const caller = new AbortController();
    const result = tools.fixture('ignore-cancel', 'ignore', { signal: caller.signal });
    await tools.fixture('ignore-cancel', 'echo');
    caller.abort();
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('FR-1.4 closes the stream of a tool that does not serve Cancel, without a grace period', async () => {
    const tools = open({ config: { ...SHORT, cancelGraceMs: 30_000 } });
    await expect(tools.fixture('break-protocol', 'wait', { timeoutMs: 30 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    await expect(tools.fixture('break-protocol', 'refuse')).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(tools.processes).toHaveLength(1);
  });

  it('by its caller during the start does not wait for the start', async () => {
    const tools = open({ config: { startDeadlineMs: 5_000 } });
    const caller = new AbortController();
    const result = tools.fixture('silent', 'any', { signal: caller.signal });
    caller.abort();
    await expect(result).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('by a stop of the daemon is INTERRUPTED, and no process stays alive', async () => {
    const tools = open();
    await tools.fixture('ignore-cancel', 'echo');
    const result = expect(tools.fixture('ignore-cancel', 'ignore')).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await tools.fixture('ignore-cancel', 'echo');
    await Promise.all([tools.runner.stop(), tools.runner.stop()]);
    await result;
    await tools.processes[0]?.exited;
    await expect(tools.fixture('ignore-cancel', 'echo')).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('by a stop of the daemon while the process starts is INTERRUPTED', async () => {
    const tools = open();
    const result = expect(tools.fixture('silent', 'any')).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await expect.poll(() => tools.processes.length).toBe(1);
    await tools.runner.stop();
    await result;
  });

  it('NFR-1.4 does not delay other calls', async () => {
    const tools = open();
    const slow = tools.fixture('ignore-cancel', 'slow', { input: { until: 'finish' } });
    const others = await Promise.all([1, 2, 3].map((n) => tools.fixture('ignore-cancel', 'echo', { input: { n } })));
    expect(others.map(({ output }) => output.data)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    writeFileSync(join(bench.workspace, 'finish'), '');
    await expect(slow).resolves.toMatchObject({ output: { data: { bornAt: expect.any(Number) } } });
  });
});

describe('what a tool asks of the host', () => {
  it('FR-8.4 is answered with the grant, refused without it, and recorded in both cases', async () => {
    const tools = open();
    const input = { text: 'the word is swordfish' };
    const granted = await tools.fixture('ask-host', 'scrub', { grants: ['scrub'], input });
    expect(granted.output.data).toEqual({ texts: ['the word is [SECRET_1]'] });
    expect(granted.hostCalls).toEqual({
      calls: [{ method: 'Scrub', error_code: null, duration_ms: expect.any(Number) }],
      total: 1,
    });
    const refused = await tools.ended('ask-host', 'scrub', { input });
    expect(refused.outcome).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: 'scrub may not use "scrub": its tool.json does not grant it',
      details: { grant: 'scrub', granted: [] },
    });
    expect(refused.facts.hostCalls).toMatchObject({
      calls: [{ method: 'Scrub', error_code: 'PERMISSION_DENIED' }],
      total: 1,
    });
  });

  it.each([
    ['MemorySearch', 'memory_search'],
    ['MemoryStore', 'memory_store'],
    ['CheckpointSave', 'checkpoint_save'],
    ['CheckpointRestore', 'checkpoint_restore'],
  ])('FR-8.4 for %s is NOT_IMPLEMENTED, and PERMISSION_DENIED without its grant', async (method, grant) => {
    const tools = open();
    const granted = await tools.fixture('ask-host', 'ask', { grants: [grant], input: { method } });
    expect(granted.output.data.answer).toBe(`NOT_IMPLEMENTED: this version of contextd has no ${method} for tools`);
    const refused = await tools.fixture('ask-host', 'ask', { input: { method } });
    expect(refused.output.data.answer).toMatch(/^PERMISSION_DENIED/);
  });

  it('FR-8.4 is for the core tools alone if host.proto says so, whatever is granted', async () => {
    const tools = open();
    const input = { method: 'BranchOpen' };
    const core = await tools.fixture('ask-host', 'ask', { origin: 'core', input });
    expect(core.output.data.answer).toMatch(/^NOT_IMPLEMENTED/);
    const installed = await tools.fixture('ask-host', 'ask', { input, grants: ['branch_open', 'BranchOpen'] });
    expect(installed.output.data.answer).toBe(
      'PERMISSION_DENIED: ask may not use BranchOpen: it is for the core tools alone',
    );
  });

  it('FR-8.4 is refused with the id of a call that is over, even while another call runs', async () => {
    const tools = open();
    await tools.fixture('ask-host', 'keep-context', { grants: ['scrub'] });
    const { output, hostCalls } = await tools.fixture('ask-host', 'use-kept', { grants: ['scrub'] });
    expect(output.data.answer).toBe('PERMISSION_DENIED: no call of this process that is under way has this call_id');
    expect(hostCalls.total).toBe(0);
  });

  it('FR-8.4 SEC-1.2 is refused once the call has its output, although the process still searches it', async () => {
    const tools = open();
    const { firstPass } = await tools.fixture('ask-host', 'search-and-ask', { grants: ['scrub'] });
    const refused = 'PERMISSION_DENIED: no call of this process that is under way has this call_id';
    expect(await firstPass).toEqual([[{ rule: refused, start: 0, end: 1 }]]);
  });

  it('FR-8.1 FR-8.4 runs a command in its own sandbox, narrowed by the profile of the tool', async () => {
    const tools = open();
    const profile = { ...PROFILE, limits: { pids: 40 } };
    const input = {
      command: 'ls /opt/contextd /run/contextd; ulimit -u; cat /sys/fs/cgroup/pids.max 2>/dev/null; exit 3',
    };
    const result = await tools.fixture('ask-host', 'exec', { grants: ['exec'], profile, input });
    expect(result.output.data).toMatchObject({ exit_code: 3, stderr: expect.stringContaining('No such file') });
    expect(result.hostCalls.calls).toMatchObject([
      { method: 'Exec', error_code: null, exit_code: 3, ended_by: 'exit' },
    ]);
  });

  it('FR-8.1 writes a line to the log with the grant, and drops the line without it', async () => {
    const lines: unknown[] = [];
    const note = (event: string, fields?: object) => void (event === 'tool.log' && lines.push(fields));
    const logger = { debug: note, info: note, warn: note, error: note };
    const tools = open({ config: SHORT, logger });
    await tools.fixture('ask-host', 'log', { grants: ['log'], input: { text: 'hello' } });
    await tools.fixture('ask-host', 'log', { input: { text: 'nobody hears this' } });
    expect(lines).toEqual([{ tool: 'log', request_id: 'req_1', message: 'hello' }]);
  });

  it('moves away and reports protected paths that the tool itself creates', async () => {
    const tools = open();
    const { quarantined } = await tools.fixture('ask-host', 'write', { input: { path: '.mcp.json' } });
    expect(quarantined).toMatchObject([{ path: '.mcp.json' }]);
    expect(existsSync(join(bench.workspace, '.mcp.json'))).toBe(false);
  });

  it('SEC-2.1 ends with its call: a command that the tool left running is killed and recorded', async () => {
    // A busy machine takes longer than a short grace to end the command and to look at what it wrote.
    const tools = open({ config: { ...SHORT, cancelGraceMs: 30_000 } });
    const command = 'echo x > .envrc; touch started; sleep 60';
    const { outcome, facts } = await tools.ended('ask-host', 'run-and-throw', { grants: ['exec'], input: { command } });
    expect(outcome).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(facts.hostCalls).toMatchObject({
      calls: [{ method: 'Exec', ended_by: 'cancelled' }, { method: 'Exec' }],
      total: 2,
    });
    expect(facts.quarantined.map(({ path }) => path)).toEqual(['.envrc']);
  });
});
