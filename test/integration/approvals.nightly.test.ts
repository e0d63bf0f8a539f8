import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import type { Answer as Decision } from '#src/features/approvals/call-approvals.js';
import type { Question } from '#src/features/approvals/open-question.js';
import type { NewApprovalRule } from '#src/stores/approval-rules.js';
import { type CallOptions, type ComposedDaemon, composeDaemon, HandTime } from '../helpers/composed-daemon.ts';

// Real parts, the whole pipeline, and a time that the tests turn by hand.

const WAIT_MS = 77_777;
const ONE_SLOT = { approvals: { wait_ms: WAIT_MS }, server: { max_concurrent_calls: 1 } };
const PUSH = 'git push || echo ran';

const by = (answer: Decision['answer'], forMs = 0, calls = 1): Decision => ({ answer, forMs, calls, by: 'ann' });

let at: ComposedDaemon;
let time: HandTime;
beforeAll(async () => {
  time = new HandTime();
  at = await composeDaemon(ONE_SLOT, time);
});
afterAll(() => at.remove());
afterEach(async () => {
  for (const { id } of at.approvalRules.list()) await at.approvalRules.remove(id);
});

let rules = 0;
function addRule(own: Partial<NewApprovalRule> = {}) {
  rules += 1;
  const rule = { id: `rule_${rules}`, scope: at.project, tool: 'safe_bash', when: 'push', reason: 'to look at' };
  return at.approvalRules.add({ ...rule, givenBy: 'ann', ...own });
}

/** The next `count` questions. */
function asked(count: number): Promise<Question[]> {
  const questions: Question[] = [];
  return new Promise((resolve) => {
    const stop = at.approvals.subscribe((event) => {
      if (event.kind !== 'asked') return;
      questions.push(event.question);
      if (questions.length < count) return;
      stop();
      resolve(questions);
    });
  });
}

async function askedOnce(): Promise<Question> {
  const [question] = await asked(1);
  if (question === undefined) throw new Error('nothing was asked');
  return question;
}

/** A call that waits for a person, and its question. */
async function waiting(command: string, options: CallOptions = {}) {
  const question = askedOnce();
  const answer = at.call('safe_bash', { command }, options);
  return { answer, question: await question };
}

const denied = { success: false, data: { error_code: 'PERMISSION_DENIED' } };
const failsWith = (code: string) => expect.objectContaining({ code });

async function lastApprovals() {
  const [record] = await at.auditLog.tail(1);
  return record?.approvals;
}

describe('issue 32.3 a call about which a rule asks', () => {
  it('issue 32.3 waits without a slot, says how it is answered, and runs once after `once`', async () => {
    const { id } = await addRule();
    const progress: string[] = [];
    const { answer, question } = await waiting(PUSH, { onProgress: (text) => progress.push(text) });
    expect(progress).toEqual([`[contextd ${id} asks a person about this call: ctxd approve ${question.id}]\n`]);
    expect(await at.call('safe_bash', { command: 'echo other' })).toMatchObject({ data: { stdout: 'other\n' } });
    expect(await at.approvals.decide(question.id, '', by('once'))).toMatchObject({ calls: 1, expiresMs: null });
    expect((await answer).data.stdout).toBe('ran\n');
    expect(await lastApprovals()).toEqual([{ rule: id, answer: 'once', by: 'ann', waited_ms: expect.any(Number) }]);
    const again = await waiting(PUSH);
    await at.approvals.decide(again.question.id, '', by('once'));
    await again.answer;
  });

  it('issue 32.3 is allowed for a time in its project only, and asked about again afterwards', async () => {
    const { id } = await addRule({ scope: '' });
    const { answer, question } = await waiting(PUSH);
    await at.approvals.decide(question.id, '', by('for', 3_600_000));
    expect(await answer).toMatchObject({ success: true });
    expect(await at.call('safe_bash', { command: 'echo pushed' })).toMatchObject({ success: true });
    expect(await lastApprovals()).toEqual([{ rule: id, answer: 'kept', waited_ms: 0 }]);
    const elsewhere = await waiting(PUSH, { project: at.otherProject });
    time.move(3_600_001);
    const later = await waiting(PUSH);
    await at.approvals.decide(elsewhere.question.id, '', by('never'));
    expect(await elsewhere.answer).toMatchObject(denied);
    await at.approvals.decide(later.question.id, '', by('always'));
    expect(await later.answer).toMatchObject({ success: true });
    time.move(400 * 24 * 3_600_000);
    expect(await at.call('safe_bash', { command: PUSH })).toMatchObject({ success: true });
  });

  it('issue 32.3 is refused without a question after `never`, until a person answers otherwise', async () => {
    const rule = await addRule();
    const { answer, question } = await waiting(PUSH);
    await at.approvals.decide(question.id, '', by('never'));
    expect(await answer).toMatchObject(denied);
    expect((await answer).error).toContain(`a person never allows what ${rule.id} (to look at) asks about`);
    expect(await at.call('safe_bash', { command: PUSH })).toMatchObject(denied);
    await at.approvals.decideRule(rule, at.project, by('always'));
    expect(await at.call('safe_bash', { command: PUSH })).toMatchObject({ success: true });
  });

  it('issue 32.3 ends with PERMISSION_DENIED that names the rule and the command if nobody answers, and runs nothing', async () => {
    const { id } = await addRule();
    const { answer, question } = await waiting('touch pushed');
    time.wake(WAIT_MS, WAIT_MS - 5_000);
    expect(await answer).toMatchObject(denied);
    expect((await answer).error).toContain(`${id} (to look at) asks a person about this call, and nobody answered`);
    expect(JSON.stringify((await answer).data)).toContain(`ctxd approve ${id} 1h`);
    expect(existsSync(join(at.project, 'pushed'))).toBe(false);
    expect(await lastApprovals()).toEqual([{ rule: id, answer: 'none', waited_ms: expect.any(Number) }]);
    await expect(at.approvals.decide(question.id, '', by('always'))).rejects.toThrow(failsWith('EXPIRED'));
    expect(at.consents.list(at.project).filter(({ subject }) => subject.endsWith(id))).toEqual([]);
  });

  it('issue 32.3 is not asked about in a project that the rule is not for', async () => {
    await addRule();
    expect(await at.call('safe_bash', { command: PUSH }, { project: at.otherProject })).toMatchObject({
      success: true,
    });
    expect(await at.call('safe_read', { path: 'push' })).toMatchObject({ data: { error_code: 'PATH_NOT_FOUND' } });
  });

  it('issue 32.3 is only reported by a dry run, which does not wait', async () => {
    const { id } = await addRule();
    const { data } = await at.call('safe_bash', { command: PUSH, dry_run: true });
    expect(data).toMatchObject({ allowed: false, asks: true });
    expect(data.checks).toContainEqual({
      check: 'approval',
      allowed: false,
      asks: true,
      reason: `${id} asks a person about this call`,
    });
    expect(at.approvals.list('')).toEqual([]);
  });

  it('issue 32.3 waits for each rule that covers it, and is refused by the second though the first allowed it', async () => {
    const [first, second] = [await addRule(), await addRule({ when: '' })];
    const { answer, question } = await waiting(PUSH);
    expect(question.rule.id).toBe(first.id);
    const next = askedOnce();
    await at.approvals.decide(question.id, '', by('once'));
    expect((await next).rule.id).toBe(second.id);
    await at.approvals.decide((await next).id, '', by('never'));
    expect(await answer).toMatchObject(denied);
    expect((await lastApprovals())?.map((one) => JSON.parse(JSON.stringify(one)).answer)).toEqual(['once', 'never']);
  });
});

describe('issue 32.4 an answer that does not fit', () => {
  it('issue 32.4 is CONFLICT the second time, NOT_FOUND in another project, and harms no other call', async () => {
    await addRule({ scope: '' });
    const here = await waiting('echo push 1');
    const there = await waiting('echo push 2', { project: at.otherProject });
    const decide = (question: Question, project: string) => at.approvals.decide(question.id, project, by('once'));
    await expect(decide(there.question, at.project)).rejects.toThrow(failsWith('NOT_FOUND'));
    await expect(at.approvals.decide('ask_unknown1', '', by('once'))).rejects.toThrow(failsWith('NOT_FOUND'));
    const both = await Promise.allSettled([decide(here.question, at.project), decide(here.question, at.project)]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expect(decide(here.question, at.project)).rejects.toThrow(failsWith('CONFLICT'));
    await expect(decide(here.question, at.otherProject)).rejects.toThrow(failsWith('NOT_FOUND'));
    expect(at.approvals.list('').map(({ id }) => id)).toEqual([there.question.id]);
    await decide(there.question, at.otherProject);
    expect((await here.answer).data.stdout).toBe('push 1\n');
    expect((await there.answer).data.stdout).toBe('push 2\n');
  });

  it('issue 32.4 two different answers at the same time: one is kept, the other is CONFLICT', async () => {
    const { id } = await addRule();
    const { answer, question } = await waiting(PUSH);
    const [always, never] = await Promise.allSettled([
      at.approvals.decide(question.id, '', by('always')),
      at.approvals.decide(question.id, '', by('never')),
    ]);
    expect([always.status, never.status]).toEqual(['fulfilled', 'rejected']);
    expect(await answer).toMatchObject({ success: true });
    const kept = at.consents.list(at.project).filter(({ subject }) => subject.endsWith(id));
    expect(kept.map(({ subject }) => subject)).toEqual([`approval:allow:${id}`]);
  });

  it('issue 32.4 is EXPIRED for a cancelled call, which ends at once', async () => {
    await addRule();
    const ending = new AbortController();
    const { answer, question } = await waiting(PUSH, { signal: ending.signal });
    ending.abort(new ContextdError('CANCELLED', 'the caller went away'));
    expect((await answer).data.error_code).toBe('CANCELLED');
    await expect(at.approvals.decide(question.id, '', by('once'))).rejects.toThrow(failsWith('EXPIRED'));
    expect(at.approvals.list('')).toEqual([]);
  });

  it('issue 32.4 wins over a time-out that comes while the answer is written', async () => {
    await addRule();
    const { answer, question } = await waiting(PUSH);
    const deciding = at.approvals.decide(question.id, '', by('always'));
    time.wake(WAIT_MS, WAIT_MS - 5_000);
    expect(await deciding).toMatchObject({ calls: 1 });
    expect(await answer).toMatchObject({ success: true });
  });

  it('issue 32.4 that cannot be kept is an error, and a call whose time is over then is refused', async () => {
    const { id } = await addRule();
    const { answer, question } = await waiting(PUSH);
    await at.projects.unregister(at.project);
    const deciding = at.approvals.decide(question.id, '', by('always'));
    time.wake(WAIT_MS, WAIT_MS - 5_000);
    await expect(deciding).rejects.toThrow(failsWith('INTERNAL_ERROR'));
    expect(await answer).toMatchObject(denied);
    await at.projects.register(at.project, at.catalog.list().map(acceptedAgain));
    expect(at.consents.list(at.project).some(({ subject }) => subject.endsWith(id))).toBe(false);
  });
});

const acceptedAgain = ({ manifest, sha256, origin }: ReturnType<ComposedDaemon['catalog']['list']>[number]) => ({
  name: manifest.name,
  bundleSha256: sha256,
  origin,
  grants: manifest.grants,
});

describe('issue 32.4 many calls, and changes while they wait', () => {
  it('issue 32.4 a hundred waiting calls are settled by one answer for a time, and others run meanwhile', async () => {
    await addRule();
    const questions = asked(100);
    const calls = Array.from({ length: 100 }, (_, i) => at.call('safe_bash', { command: `echo push ${i}` }));
    const [first] = await questions;
    expect(await at.call('safe_bash', { command: 'echo other' })).toMatchObject({ success: true });
    expect(await at.approvals.decide(first?.id ?? '', '', by('for', 60_000))).toMatchObject({ calls: 100 });
    const answers = await Promise.all(calls);
    expect(answers.map(({ data }) => data.stdout)).toEqual(answers.map((_, i) => `push ${i}\n`));
  }, 120_000);

  it('issue 32.4 256 waiting calls of one project leave room for those of another', async () => {
    await addRule({ scope: '' });
    const { answer, question } = await waiting(PUSH);
    const more = Array.from({ length: 255 }, () => at.call('safe_bash', { command: PUSH }));
    await expect.poll(() => question.calls).toBe(256);
    expect(await at.call('safe_bash', { command: PUSH })).toMatchObject({
      success: false,
      data: { error_code: 'RATE_LIMITED', details: { limit: 256 } },
    });
    const elsewhere = await waiting(PUSH, { project: at.otherProject });
    await at.approvals.decide(elsewhere.question.id, '', by('once'));
    expect(await elsewhere.answer).toMatchObject({ success: true });
    expect(await at.approvals.decide(question.id, '', by('never'))).toMatchObject({ calls: 256 });
    for (const refused of await Promise.all([answer, ...more])) expect(refused).toMatchObject(denied);
    const unasked = await waiting(PUSH, { project: at.otherProject });
    await at.approvals.decide(unasked.question.id, '', by('once'));
    await unasked.answer;
  });

  it('issue 32.4 identical calls of a session are one question, and each waits for its own time', async () => {
    await addRule();
    const ending = new AbortController();
    const { answer, question } = await waiting(PUSH);
    const cancelled = at.call('safe_bash', { command: PUSH }, { signal: ending.signal });
    const other = await waiting(PUSH, { session: 'other' });
    expect(other.question.id).not.toBe(question.id);
    expect(question.calls).toBe(2);
    ending.abort(new ContextdError('CANCELLED', 'the caller went away'));
    expect((await cancelled).data.error_code).toBe('CANCELLED');
    expect(await at.approvals.decide(question.id, '', by('once'))).toMatchObject({ calls: 1 });
    expect(await answer).toMatchObject({ success: true });
    await at.approvals.decide(other.question.id, '', by('once'));
    await other.answer;
  });

  it('issue 32.4 `once` covers the calls that the person was shown, and later ones ask again', async () => {
    await addRule();
    const { answer, question } = await waiting('echo push >> runs; wc -l < runs');
    const runs = () => at.call('safe_bash', { command: 'wc -l < runs' });
    const later = Array.from({ length: 6 }, () => at.call('safe_bash', { command: 'echo push >> runs; wc -l < runs' }));
    await expect.poll(() => question.calls).toBe(7);
    const again = askedOnce();
    expect(await at.approvals.decide(question.id, '', by('once'))).toMatchObject({ calls: 1 });
    expect((await answer).data.stdout).toBe('1\n');
    const second = await again;
    expect(at.approvals.list('')).toMatchObject([{ id: second.id, calls: 6 }]);
    expect(second.id).not.toBe(question.id);
    await expect(at.approvals.decide(question.id, '', by('once'))).rejects.toThrow(failsWith('CONFLICT'));
    const third = askedOnce();
    expect(await at.approvals.decide(second.id, '', by('once', 0, 2))).toMatchObject({ calls: 2 });
    await Promise.all(later.slice(0, 2));
    expect((await runs()).data.stdout).toBe('3\n');
    time.wake(WAIT_MS, WAIT_MS - 5_000);
    for (const refused of later.slice(2)) expect(await refused).toMatchObject(denied);
    await expect(at.approvals.decide((await third).id, '', by('once'))).rejects.toThrow(failsWith('EXPIRED'));
    expect((await runs()).data.stdout).toBe('3\n');
  });

  it('issue 32.4 a rule that is removed refuses the calls that wait for it, and no others', async () => {
    const [gone] = [await addRule(), await addRule({ when: 'deploy' })];
    const pushing = await waiting('echo push');
    const deploying = await waiting('echo deploy');
    await at.approvalRules.remove(gone.id);
    at.approvals.ruleRemoved(gone.id);
    expect(await pushing.answer).toMatchObject(denied);
    expect((await pushing.answer).error).toContain('was removed while the call waited');
    expect(at.approvals.list('').map(({ id }) => id)).toEqual([deploying.question.id]);
    await at.approvals.decide(deploying.question.id, '', by('once'));
    expect((await deploying.answer).data.stdout).toBe('deploy\n');
    expect(await at.call('safe_bash', { command: 'echo push' })).toMatchObject({ success: true });
  });

  it('issue 32.4 every check judges the call again after the wait', async () => {
    await addRule();
    const { answer, question } = await waiting(PUSH);
    await at.projects.change(at.project, (held) => held.map((tool) => ({ ...tool, grants: [] })));
    await at.approvals.decide(question.id, '', by('once'));
    expect(await answer).toMatchObject({ ...denied, data: { details: { checks: [{ check: 'grants' }] } } });
    await at.projects.register(at.project, at.catalog.list().map(acceptedAgain));
  });

  it('issue 32.4 shows all of a text, with its secrets masked', async () => {
    await addRule();
    const secret = `ghp_${'aB3dE5fG7hJ9'.repeat(3)}`;
    const command = `: '${'x'.repeat(100 * 1024)}\u202e\u001b[2J'\necho push ${secret}`;
    const { answer, question } = await waiting(command);
    const text = await question.text;
    expect(text).not.toContain(secret);
    expect(text?.replace(/\[SECRET_\d+\]/, secret)).toBe(command);
    await at.approvals.decide(question.id, '', by('never'));
    await answer;
  });

  // The last one: a gate that has drained takes no more calls.
  it('issue 32.4 a daemon that stops ends the wait with INTERRUPTED, which says that nothing has run', async () => {
    await addRule();
    const { answer, question } = await waiting('touch pushed');
    await at.gate.drain(0, 'restart');
    expect(await answer).toMatchObject({ success: false, data: { error_code: 'INTERRUPTED' } });
    expect((await answer).error).toContain('Nothing has run');
    expect(existsSync(join(at.project, 'pushed'))).toBe(false);
    await expect(at.approvals.decide(question.id, '', by('once'))).rejects.toThrow(failsWith('EXPIRED'));
  });
});
