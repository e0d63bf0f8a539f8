import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getEncoding } from 'js-tiktoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate } from '../helpers/sample-patterns.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

let at: Installation;
let daemon: DaemonCaller;
const cl100k = getEncoding('cl100k_base');
const SESSION = { env: { CONTEXTD_SESSION_ID: 'folding' } };

beforeAll(async () => {
  at = await install({ warm: true });
  daemon = await openCaller(at, 'folding');
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

const call = async (tool: string, input: object) => (await daemon.call(tool, input)).envelope;
const open = async (more: object = {}) => {
  const { data } = await call('branch', { description: 'find the leak', prompt: 'Find the leak.', ...more });
  return String(data.branch_id);
};
const audited = async () => {
  const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json', '-n', '200']);
  return JSON.parse(stdout) as { request_id: string; tool: string; branch?: string; kind?: string }[];
};

describe('a branch', () => {
  it('FR-6.1 FR-6.2 FR-6.3 CE-4.3 folds its calls away: the parent gets one message, refs and the cost by recount', async () => {
    const opened = await call('branch', { description: ' find  the leak', prompt: 'Look into test/net.' });
    const id = String(opened.data.branch_id);
    expect(id).toMatch(/^br_[0-9a-z]{10}$/);
    const { brief } = opened.data;
    expect(brief).toContain(`Branch ${id}: find the leak\n\nLook into test/net.\n`);
    expect(cl100k.encode(String(brief), 'all').length).toBeLessThanOrEqual(160);
    const lines: string[] = [];
    const requests: string[] = [];
    for (const command of ['seq 50', 'echo found >leak.txt', 'exit 3']) {
      const { line, envelope } = await daemon.call('safe_bash', { command, branch: id });
      lines.push(line);
      requests.push(envelope.meta.request_id);
    }
    await call('safe_bash', { command: 'true' });
    const returned = await call('return', { branch: id, message: '  leak.txt has it. ' });
    const tokens = lines.reduce((sum, line) => sum + cl100k.encode(line, 'all').length, 0);
    expect(returned).toMatchObject({
      success: true,
      data: { branch_id: id, message: 'leak.txt has it.', tokens, calls: 3, duration_ms: expect.any(Number) },
    });
    const [ref] = returned.data.refs as string[];
    expect((await call('tool_view', { ref })).data.stdout).toContain('50');
    const recorded = (await audited()).filter((one) => one.branch === id && one.kind === undefined);
    expect(recorded.map(({ request_id }) => request_id).sort()).toEqual([...requests, returned.meta.request_id].sort());
    const again = await call('return', { branch: id, message: 'once more' });
    expect(again).toMatchObject({
      data: { error_code: 'CONFLICT' },
      error: expect.stringContaining('it has returned'),
    });
    const late = await call('safe_bash', { command: 'true', branch: id });
    expect(late.data.error_code).toBe('CONFLICT');
  });

  it('FR-6.3 has jobs that its parent does not see, and that end with it', async () => {
    const id = await open();
    const started = await call('safe_bash', { command: 'sleep 300', background: true, branch: id });
    expect(started.data.state).toBe('running');
    expect((await call('jobs', { action: 'list' })).data.jobs).toEqual([]);
    const { data } = await call('jobs', { action: 'list', branch: id });
    expect(data.jobs).toMatchObject([{ job: started.data.job, state: 'running' }]);
    const inBase = await call('jobs', { action: 'show', job: started.data.job });
    expect(inBase.data.error_code).toBe('NOT_FOUND');
    await call('return', { branch: id, message: 'done' });
    const { stdout } = await at.run(CTXD, ['ps', '--json']);
    expect(stdout).not.toContain('sleep 300');
  });

  it('issue 19 part 3 warns from 80 % of its tokens on, and at 100 % does nothing but return', async () => {
    const id = await open({ budget_tokens: 1_000 });
    let spent = 0;
    for (let lines = 120; ; lines *= 20) {
      const { line, envelope } = await daemon.call('safe_bash', { command: `seq ${lines}`, branch: id });
      if (!envelope.success) {
        expect(spent).toBeGreaterThanOrEqual(1_000);
        expect(envelope).toMatchObject({ data: { error_code: 'RESOURCE_LIMIT', remediation: expect.any(String) } });
        expect(envelope.data.remediation).toContain(`safe_return '{"branch":"${id}"`);
        break;
      }
      spent += cl100k.encode(line, 'all').length;
      const warning = envelope.meta.warnings?.find((one) => one.includes(id));
      // The warning is part of the line that it counts without itself.
      if (warning === undefined) expect(spent).toBeLessThan(800);
      else expect(spent).toBeGreaterThanOrEqual(800);
    }
    // No answer gets more than what is left, or the smallest budget of an answer.
    expect(spent).toBeLessThan(1_000 + 256);
    const returned = await call('return', { branch: id, message: 'too much' });
    expect(returned.data.tokens).toBe(spent);
  });

  it('issue 19 part 3 gives its calls no more time than it has', async () => {
    const id = await open({ timeout_ms: 1_000 });
    const { data } = await call('safe_bash', { command: 'sleep 30', branch: id });
    expect(data.ended_by ?? data.error_code).toMatch(/timeout|RESOURCE_LIMIT/i);
    const late = await call('safe_bash', { command: 'true', branch: id });
    expect(late).toMatchObject({ data: { error_code: 'RESOURCE_LIMIT' }, error: expect.stringContaining('its 1 s') });
    expect((await call('return', { branch: id, message: 'no time' })).success).toBe(true);
  });

  it('issue 19 part 3 nests to depth 3; its return closes what is open in it, the innermost first', async () => {
    const outer = await open();
    const middle = await open({ branch: outer });
    const inner = await open({ branch: middle });
    const fourth = await call('branch', { description: 'x', prompt: 'y', branch: inner });
    expect(fourth).toMatchObject({ data: { error_code: 'RESOURCE_LIMIT' }, error: expect.stringContaining('3 deep') });
    const { data } = await call('return', { branch: outer, message: 'all of it' });
    expect(data.children).toEqual([inner, middle]);
    const late = await call('return', { branch: inner, message: 'too late' });
    expect(late).toMatchObject({ data: { error_code: 'CONFLICT' }, error: expect.stringContaining('with its parent') });
  });

  it('issue 19 part 9 refuses what cannot be meant, and says what is open', async () => {
    const id = await open();
    const refusals: [string, object, string, RegExp][] = [
      ['return', { message: 'x' }, 'CONFLICT', new RegExp(`in no branch.*${id}`)],
      ['return', { message: ' \n ', branch: id }, 'ARGS_INVALID', /\/message is empty/],
      ['return', { message: 'word '.repeat(1_001), branch: id }, 'ARGS_INVALID', /10\d\d tokens, the limit is 1000/],
      ['return', { message: 'x', branch: 'br_0000000000' }, 'NOT_FOUND', /no branch "br_0000000000".*Open are br_/],
      ['safe_bash', { command: 'touch no', branch: 'x' }, 'NOT_FOUND', /no branch "x"/],
      ['safe_bash', { command: 'touch no', branch: 7 }, 'ARGS_INVALID', /\/branch/],
      ['branch', { description: ' ', prompt: 'x' }, 'ARGS_INVALID', /\/description/],
      ['branch', { description: 'x', prompt: '' }, 'ARGS_INVALID', /\/prompt is empty/],
      ['branch', { description: 'x', prompt: 'word '.repeat(1_100) }, 'ARGS_INVALID', /limit is 1000/],
      ['branch', { description: 'x', prompt: 'y', budget_tokens: 1 }, 'ARGS_INVALID', /from 1000 to 200000/],
    ];
    for (const [tool, input, code, error] of refusals) {
      const { data, error: said } = await call(tool, input);
      expect([data.error_code, `${said} ${data.remediation ?? ''}`]).toEqual([code, expect.stringMatching(error)]);
    }
    const other = await openCaller(at, 'another');
    const foreign = await other.call('return', { branch: id, message: 'mine now' });
    expect(foreign.envelope.data.error_code).toBe('NOT_FOUND');
    other.close();
    expect((await call('return', { branch: id, message: 'done' })).success).toBe(true);
  });

  it('issue 19 part 3 is named by CONTEXTD_BRANCH too, and `safe_return` closes it from a shell', async () => {
    const id = await open();
    const env = { ...SESSION.env, CONTEXTD_BRANCH: id, PATH: `${at.project}/.claude/bin:${at.environment.PATH}` };
    expect(await at.run('bash', ['-c', 'safe_bash "echo in it"'], { env })).toMatchObject({ stdout: 'in it\n' });
    const returned = await at.run('bash', ['-c', 'safe_return "it works"'], { env });
    expect(returned.stdout).toMatch(new RegExp(`^${id} is closed. Tokens: \\d+, calls: 1\nit works$`));
    expect(await at.run('bash', ['-c', 'safe_bash true'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it has returned'),
    });
  });

  it('SEC-1.1 keeps secrets of its brief and its message out of what the other side reads', async () => {
    const secret = generate('ghp_[a-zA-Z0-9]{36}', seededRandom(519));
    const opened = await call('branch', { description: 'use it', prompt: `The token is ${secret}.` });
    expect(opened.data.brief).toMatch(/The token is \[SECRET:[\w-]+\]/);
    const id = opened.data.branch_id;
    const { data } = await call('return', { branch: id, message: `It was ${secret}.` });
    expect(data.message).toMatch(/^It was \[SECRET:[\w-]+\]/);
    expect(at.filesHolding(secret)).toEqual([]);
  });

  it('FR-6.4 gives its calls to the distiller if the message asks for it', async () => {
    const id = await open({ description: 'repair the table' });
    const command = 'test -f table.sql || { echo "error: no table" >&2; exit 3; }';
    await call('safe_bash', { command, branch: id });
    writeFileSync(join(at.project, 'unrelated'), '');
    await call('safe_write', { path: 'table.sql', content: 'CREATE TABLE users;', branch: id });
    await call('safe_bash', { command, branch: id });
    const { data } = await call('return', { branch: id, message: 'repaired', extract_memory: true });
    expect(data.memory).toBe('queued');
    const listed = async (...words: string[]) =>
      JSON.parse((await at.run(CTXD, ['memory', 'list', '--json', ...words])).stdout) as { title: string }[];
    await expect.poll(() => listed('--pending')).toEqual([]);
    expect((await listed()).map(({ title }) => title)).toContain('repair the table');
  });

  it('issue 19 part 3 goes on after the daemon was killed, and ends with its session', async () => {
    const id = await open();
    const { tokens_used } = await call('safe_bash', { command: 'seq 20', branch: id });
    const child = await open({ branch: id });
    daemon.close();
    process.kill((await at.status()).pid, 'SIGKILL');
    const after = await at.ask('safe_bash', { command: 'echo again', branch: id }, SESSION);
    expect(after).toMatchObject({ success: true, data: { stdout: 'again\n' } });
    const opening = (await audited()).find((one) => one.tool === 'branch' && one.branch === id);
    expect(opening).toMatchObject({ error_code: null, exit_code: 0, input: { branch: id } });
    daemon = await openCaller(at, 'folding');
    const { data } = await call('return', { branch: id, message: 'still here' });
    expect(data.children).toEqual([child]);
    expect(Number(data.tokens)).toBeGreaterThanOrEqual(tokens_used + after.tokens_used);
    const listed = async (...words: string[]) =>
      JSON.parse((await at.run(CTXD, ['branch', 'list', '--json', ...words])).stdout) as Record<string, unknown>[];
    const orphan = await open();
    expect(await listed()).toMatchObject([{ id: orphan, state: 'open', tokens: 0, calls: 0, parent: '' }]);
    const all = await listed('--all');
    expect(all.find((one) => one.id === child)).toMatchObject({
      state: 'parent',
      parent: id,
      closed_ms: expect.any(Number),
    });
    expect(all.find((one) => one.id === id)).toMatchObject({ state: 'return', tokens: data.tokens, calls: data.calls });
    expect((await at.run(CTXD, ['branch', 'list'])).stdout).toContain(orphan);
    await at.run(CTXD, ['session', 'end', '--session', 'folding']);
    const late = await call('safe_bash', { command: 'true', branch: orphan });
    expect(late).toMatchObject({ data: { error_code: 'CONFLICT' }, error: expect.stringContaining('its session') });
  });
});
