import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Permission } from '#src/core/permissions.js';
import type { Question } from '#src/features/approvals/open-question.js';
import type { NewApprovalRule } from '#src/stores/approval-rules.js';
import { type ComposedDaemon, composeDaemon, HandTime } from '../helpers/composed-daemon.ts';
import { type Asked, askHttp } from '../helpers/http-door.ts';

// The whole daemon with its HTTP door, and a time that the tests turn by hand.

const WAIT_MS = 77_777;

let at: ComposedDaemon;
let time: HandTime;
let url: string;
const tokens = new Map<string, string>();

beforeAll(async () => {
  time = new HandTime();
  at = await composeDaemon({ approvals: { wait_ms: WAIT_MS }, http: { enabled: true } }, time);
  url = at.httpDoor.standing().at?.url ?? '';
  await makeToken('agent', ['read', 'execute'], '');
  await makeToken('decider', ['decide'], '');
  await makeToken('own', ['read', 'decide'], at.project);
  await makeToken('other', ['read', 'decide'], at.otherProject);
});
afterAll(() => at.remove());
afterEach(async () => {
  for (const { id } of at.approvalRules.list()) {
    await at.approvalRules.remove(id);
    at.approvals.ruleRemoved(id);
  }
});

async function makeToken(name: string, permissions: readonly Permission[], scope: string): Promise<void> {
  const token = `ctxd_${randomBytes(16).toString('hex')}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  await at.httpTokens.put({ name, scope, permissions, sha256, expiresMs: null });
  tokens.set(name, token);
}

const tokenOf = (name: string): string => tokens.get(name) ?? '';
const list = (name: string, query = ''): Promise<Asked> =>
  askHttp(url, `/v1/approvals${query}`, { token: tokenOf(name) });
const answer = (name: string, id: string, word: unknown, more: object = {}): Promise<Asked> =>
  askHttp(url, `/v1/approvals/${id}/answer`, { token: tokenOf(name), body: { answer: word, ...more } });
const call = (command: string, project = at.project, signal?: AbortSignal): Promise<Asked> =>
  askHttp(url, '/v1/tools/safe_bash/execute', {
    token: tokenOf('agent'),
    body: { project, input: { command } },
    ...(signal ? { signal } : {}),
  });
const codeOf = ({ status, json }: Asked): unknown[] => [status, json.data.error_code];

let rules = 0;
function addRule(own: Partial<NewApprovalRule> = {}) {
  rules += 1;
  const rule = { id: `rule_${rules}`, scope: '', tool: 'safe_bash', when: 'push', reason: 'to look at' };
  return at.approvalRules.add({ ...rule, givenBy: 'ann', ...own });
}

/** A call that waits for a person, and its question. */
async function waiting(command: string, project?: string, signal?: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<Question>();
  const stop = at.approvals.subscribe((event) => event.kind === 'asked' && resolve(event.question));
  const called = call(command, project, signal);
  const { id } = await promise;
  stop();
  return { called, id };
}

describe('issue 32.3 a token that may decide', () => {
  it('lists what waits and answers once; the record names the rule, the token and the wait', async () => {
    const rule = await addRule();
    const { called, id } = await waiting('git push || echo ran');
    const listed = await list('decider');
    expect(listed.status).toBe(200);
    expect(listed.json.approvals).toEqual([
      {
        id,
        rule: { id: rule.id, tool: 'safe_bash', when: 'push', reason: 'to look at' },
        project: at.project,
        session: expect.any(String),
        branch: '',
        tool: 'safe_bash',
        cwd: expect.any(String),
        calls: 1,
        asked_at: expect.stringMatching(/^20\d\d-.*Z$/),
        text: 'git push || echo ran',
        text_chars: 20,
        text_withheld: false,
        hidden: [],
      },
    ]);
    const answered = await answer('decider', id, 'once');
    expect(answered.json).toEqual({
      rule: { id: rule.id, tool: 'safe_bash', when: 'push', reason: 'to look at' },
      project: at.project,
      calls: 1,
      expires_at: null,
    });
    expect((await called).json).toMatchObject({ success: true, data: { stdout: 'ran\n' } });
    const records = await at.auditLog.tail(5);
    expect(records.find(({ kind }) => kind === 'person')).toMatchObject({
      tool: 'approve',
      project: at.project,
      input: { id, answer: 'once', by: 'token decider', rule: rule.id, calls: 1 },
    });
    expect(records.find(({ kind, tool }) => kind === undefined && tool === 'safe_bash')).toMatchObject({
      token: 'agent',
      approvals: [{ rule: rule.id, answer: 'once', by: 'token decider', waited_ms: expect.any(Number) }],
    });
    expect((await list('decider')).json.approvals).toEqual([]);
  });

  it('answers for a time, always and never, and a rule before a call asks', async () => {
    const { id: rule } = await addRule();
    const first = await waiting('echo push');
    const forHour = await answer('decider', first.id, '1h');
    const until = Date.parse(String(forHour.json.expires_at));
    expect(Math.abs(until - (time.clock.now() + 3_600_000))).toBeLessThan(60_000);
    expect((await first.called).status).toBe(200);
    expect((await call('echo push again')).status).toBe(200);
    const unplaced = await answer('decider', rule, 'never');
    expect(codeOf(unplaced)).toEqual([400, 'ARGS_INVALID']);
    expect(unplaced.text).toContain('is answered in a project, and the body names none');
    expect((await answer('decider', rule, 'never', { project: at.project })).json).toMatchObject({ calls: 0 });
    expect(codeOf(await call('echo push'))).toEqual([403, 'PERMISSION_DENIED']);
    expect(codeOf(await answer('decider', rule, 'once', { project: at.project }))).toEqual([400, 'ARGS_INVALID']);
    expect((await answer('own', rule, 'always')).json).toMatchObject({ project: at.project, expires_at: null });
    expect((await call('echo push')).status).toBe(200);
  });

  it('issue 32.4 an answer that comes twice, late, or for an ended call is the error of the table', async () => {
    const { id: rule } = await addRule();
    const twice = await waiting('echo push 1');
    const both = await Promise.all([answer('decider', twice.id, 'once'), answer('decider', twice.id, 'once')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(codeOf(await answer('decider', twice.id, 'never'))).toEqual([409, 'CONFLICT']);
    expect((await twice.called).status).toBe(200);
    const late = await waiting('echo push 2');
    time.wake(WAIT_MS, WAIT_MS - 5_000);
    expect(codeOf(await late.called)).toEqual([403, 'PERMISSION_DENIED']);
    expect(codeOf(await answer('decider', late.id, 'always'))).toEqual([410, 'EXPIRED']);
    const client = new AbortController();
    const ended = await waiting('echo push 3', at.project, client.signal);
    client.abort();
    await expect(ended.called).rejects.toThrow();
    await expect.poll(async () => codeOf(await answer('decider', ended.id, 'once'))).toEqual([410, 'EXPIRED']);
    expect(codeOf(await answer('decider', 'ask_00000000', 'once'))).toEqual([404, 'NOT_FOUND']);
    expect(at.consents.list(at.project).filter(({ subject }) => subject.endsWith(rule))).toEqual([]);
  });

  it.each(['yes', 'for', '', '1w', '0h', '9999d', 1, null])('issue 32.4 rejects %j as an answer', async (word) => {
    await addRule();
    const { called, id } = await waiting('echo push');
    expect(codeOf(await answer('decider', id, word))).toEqual([400, 'ARGS_INVALID']);
    expect(at.approvals.list('').map((question) => question.id)).toEqual([id]);
    await answer('decider', id, 'once');
    expect((await called).status).toBe(200);
  });

  it('issue 32.4 `once` covers as many calls as the token was shown, one by default', async () => {
    await addRule();
    const { called, id } = await waiting('echo push');
    const later = [call('echo push'), call('echo push')];
    await expect.poll(async () => (await list('decider')).json.approvals).toMatchObject([{ id, calls: 3 }]);
    for (const calls of [0, 1.5, '2', 1_001])
      expect(codeOf(await answer('decider', id, 'once', { calls }))).toEqual([400, 'ARGS_INVALID']);
    expect((await answer('decider', id, 'once')).json).toMatchObject({ calls: 1 });
    expect((await called).status).toBe(200);
    const [again] = at.approvals.list('');
    expect((await answer('decider', again?.id ?? '', 'once', { calls: 2 })).json).toMatchObject({ calls: 2 });
    for (const one of later) expect((await one).status).toBe(200);
  });

  it('shows all of a long text when it is asked for it, with its secrets masked', async () => {
    await addRule();
    const secret = `ghp_${'aB3dE5fG7hJ9'.repeat(3)}`;
    const { called, id } = await waiting(`: '${'x'.repeat(70_000)}'\necho push ${secret}`);
    expect((await list('decider')).json.approvals).toMatchObject([{ id, text: null, text_chars: expect.any(Number) }]);
    const { text, json } = await list('decider', `?id=${id}`);
    expect(text).not.toContain(secret);
    expect(json.approvals).toMatchObject([{ id, text: expect.stringMatching(/echo push \[SECRET_\d+\]$/) }]);
    await answer('decider', id, 'once');
    await called;
  });
});

describe('issue 32.3 a token that may not decide', () => {
  it('neither sees what waits nor answers it, and the call goes on waiting', async () => {
    await addRule();
    const { called, id } = await waiting('echo push');
    expect(codeOf(await list('agent'))).toEqual([403, 'PERMISSION_DENIED']);
    expect(codeOf(await answer('agent', id, 'once'))).toEqual([403, 'PERMISSION_DENIED']);
    expect(at.approvals.list('').map((question) => question.id)).toEqual([id]);
    await answer('decider', id, 'once');
    expect((await called).status).toBe(200);
  });

  it('of another project gets NOT_FOUND for a question, and cannot name the project', async () => {
    const { id: rule } = await addRule();
    const here = await waiting('echo push', at.project);
    expect((await list('other')).json.approvals).toEqual([]);
    expect((await list('other', `?id=${here.id}`)).json.approvals).toEqual([]);
    expect(codeOf(await answer('other', here.id, 'always'))).toEqual([404, 'NOT_FOUND']);
    const named = { project: at.project };
    expect(codeOf(await list('other', `?project=${at.project}`))).toEqual([403, 'PERMISSION_DENIED']);
    expect(codeOf(await answer('other', here.id, 'always', named))).toEqual([403, 'PERMISSION_DENIED']);
    expect(codeOf(await answer('other', rule, 'always', named))).toEqual([403, 'PERMISSION_DENIED']);
    expect((await list('own')).json.approvals).toMatchObject([{ id: here.id }]);
    expect((await list('decider', `?project=${at.otherProject}`)).json.approvals).toEqual([]);
    expect((await answer('own', here.id, 'never')).json).toMatchObject({ calls: 1, project: at.project });
    expect(codeOf(await here.called)).toEqual([403, 'PERMISSION_DENIED']);
  });

  it('cannot answer a rule that is only for another project', async () => {
    const { id } = await addRule({ scope: at.project });
    expect(codeOf(await answer('other', id, 'always'))).toEqual([404, 'NOT_FOUND']);
    expect(codeOf(await answer('decider', id, 'always', { project: at.otherProject }))).toEqual([404, 'NOT_FOUND']);
    expect(at.consents.list(at.otherProject).filter(({ subject }) => subject.includes(id))).toEqual([]);
  });
});

describe('issue 32.1 the events of approvals', () => {
  const eventsIn = (text: string) =>
    [...text.matchAll(/event: approval\ndata: (.*)\n/g)].map(([, data = '']) => JSON.parse(data));

  /** Everything that a watcher is sent until `isEnough`. */
  async function watch(name: string, isEnough: (text: string) => boolean, act: () => Promise<unknown>) {
    const response = await fetch(`${url}/events`, { headers: { authorization: `Bearer ${tokenOf(name)}` } });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    await act();
    let text = '';
    while (reader !== undefined && !isEnough(text)) text += (await reader.read()).value ?? '';
    await reader?.cancel();
    return text;
  }

  it('say what waits and how it ended, without the text, and only to tokens that cover the project', async () => {
    const rule = await addRule();
    const ids: string[] = [];
    const act = async () => {
      const [there, here] = [await waiting('echo push there', at.otherProject), await waiting('echo push here')];
      ids.push(here.id);
      await answer('decider', there.id, 'once');
      await answer('decider', here.id, 'once');
      await Promise.all([there.called, here.called]);
    };
    const text = await watch('own', (seen) => seen.includes('"how":"answered"'), act);
    const common = { id: ids[0], rule: rule.id, tool: 'safe_bash', project: at.project };
    expect(eventsIn(text)).toEqual([
      { change: 'asked', ...common, session: expect.any(String), asked_at: expect.any(String) },
      { change: 'ended', how: 'answered', ...common, session: expect.any(String), asked_at: expect.any(String) },
    ]);
    expect(text).not.toContain(at.otherProject);
    expect(JSON.stringify(eventsIn(text))).not.toContain('echo push');
  });
});
