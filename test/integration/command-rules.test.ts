import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PERSONS_COMMANDS } from '#src/cli/init/client-settings.js';
import type { Question } from '#src/features/approvals/open-question.js';
import { type CallOptions, type ComposedDaemon, composeDaemon, HandTime } from '../helpers/composed-daemon.ts';

// Real parts, the whole pipeline, and a time that the tests turn by hand.

const WAIT_MS = 77_777;
const RULES = { deny: ['Bash(git push *)'], ask: ['Bash(git commit *)'] };

let at: ComposedDaemon;
let time: HandTime;
beforeAll(async () => {
  time = new HandTime();
  at = await composeDaemon({ approvals: { wait_ms: WAIT_MS } }, time);
});
afterAll(() => at.remove());
afterEach(() => {
  rmSync(join(at.project, '.claude'), { recursive: true, force: true });
  rmSync(join(at.personHome, '.claude'), { recursive: true, force: true });
  rmSync(join(at.personHome, '.config'), { recursive: true, force: true });
});

const settings = (): string => join(at.personHome, '.claude/settings.json');

function write(path: string, content: object | string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

/** The call, and the first question about it. */
async function waiting(input: object, options: CallOptions = {}) {
  const { promise, resolve } = Promise.withResolvers<Question>();
  const stop = at.approvals.subscribe((event) => {
    if (event.kind !== 'asked') return;
    stop();
    resolve(event.question);
  });
  const answer = at.call('safe_bash', input, options);
  return { answer, question: await promise };
}

async function lastRecord() {
  const [record] = await at.auditLog.tail(1);
  return record;
}

const once = { answer: 'once', forMs: 0, calls: 1, by: 'ann' } as const;

describe('the rules of a client for commands', () => {
  it('let everything else run, and start no thread as long as no rule narrows', async () => {
    write(settings(), {
      permissions: { allow: ['Bash(git *)'], deny: PERSONS_COMMANDS.map((words) => `Bash(*ctxd ${words}*)`) },
    });
    expect((await at.call('safe_bash', { command: 'X=echo; "$X" free' })).data.stdout).toBe('free\n');
    expect(at.judgeThread.isRunning).toBe(false);
    write(settings(), { permissions: RULES });
    expect((await at.call('safe_bash', { command: "sh -c 'echo still free'" })).data.stdout).toBe('still free\n');
    expect(at.judgeThread.isRunning).toBe(true);
    expect(await lastRecord()).not.toHaveProperty('command_rules');
  });

  it('deny a command inside: nothing runs, and the answer and the record name the rule and its file', async () => {
    write(settings(), { permissions: RULES });
    const answer = await at.call('safe_bash', { command: "touch made; sh -c 'git push'" });
    expect(answer).toMatchObject({ success: false, data: { error_code: 'PERMISSION_DENIED', retryable: false } });
    expect(answer.error).toContain('`git push`');
    expect(answer.error).toContain(`the rule Bash(git push *) of ${settings()} denies`);
    expect(existsSync(join(at.project, 'made'))).toBe(false);
    expect(await lastRecord()).toMatchObject({
      error_code: 'PERMISSION_DENIED',
      command_rules: [{ verdict: 'denied', rule: 'Bash(git push *)', file: settings() }],
    });
  });

  it('ask a person about a command inside, who lets it run once', async () => {
    write(settings(), { permissions: RULES });
    const { answer, question } = await waiting({ command: "sh -c 'git commit -m x' || echo ran" });
    expect(question.rule).toMatchObject({ when: 'Bash(git commit *)', reason: `a rule of ${settings()}` });
    await at.approvals.decide(question.id, '', once);
    expect((await answer).data.stdout).toBe('ran\n');
    expect(await lastRecord()).toMatchObject({
      approvals: [{ rule: question.rule.id, answer: 'once', by: 'ann' }],
      command_rules: [{ verdict: 'asked', rule: 'Bash(git commit *)', file: settings() }],
    });
  });

  it('refuse what nobody answers, naming the rule, its file and how a person can allow it', async () => {
    write(settings(), { permissions: RULES });
    const { answer, question } = await waiting({ command: 'git commit' });
    time.wake(WAIT_MS, WAIT_MS - 15_000);
    const { error, data } = await answer;
    expect(data).toMatchObject({ error_code: 'PERMISSION_DENIED' });
    expect(error).toContain(`${question.rule.id} (a rule of ${settings()}) asks a person about this call`);
    expect(data.remediation).toContain(`ctxd approve ${question.rule.id} 1h`);
  });

  it('keep an answer for the rule of that file, and are not asked again', async () => {
    write(settings(), { permissions: RULES });
    const { answer, question } = await waiting({ command: 'git commit || echo ran' });
    await at.approvals.decide(question.id, '', { answer: 'always', forMs: 0, calls: 1, by: 'ann' });
    expect((await answer).data.stdout).toBe('ran\n');
    expect((await at.call('safe_bash', { command: 'git commit -m x || echo ran' })).data.stdout).toBe('ran\n');
    expect(await at.clientRules.rulesOf(at.project)).toContainEqual(
      expect.objectContaining({ id: question.rule.id, when: 'Bash(git commit *)' }),
    );
    // The same words in another file are another rule.
    rmSync(settings());
    write(join(at.project, '.claude/settings.json'), { permissions: RULES });
    const other = await waiting({ command: 'git commit || echo ran' });
    expect(other.question.rule.id).not.toBe(question.rule.id);
    await at.approvals.decide(other.question.id, '', { ...once, answer: 'never' });
    expect((await other.answer).data).toMatchObject({ error_code: 'PERMISSION_DENIED' });
  });

  it.each([
    ['the words do not say', { command: 'for f in ./none*; do "$f" push; done' }],
    ['another program writes', { command: 'cat /dev/null | sh' }],
    ['come later, because the shell is a job', { command: 'bash', background: true }],
    ['cannot be read', { command: 'echo "' }],
    ['take the parser too far', { command: '"$('.repeat(50_000) }],
  ])('ask about commands that %s', async (_, input) => {
    write(settings(), { permissions: { deny: ['Bash(git *)'] } });
    const { answer, question } = await waiting(input);
    expect(question.rule.reason).toBe(`it may be what the rule Bash(git *) of ${settings()} is about`);
    time.wake(WAIT_MS, WAIT_MS - 15_000);
    expect((await answer).data).toMatchObject({ error_code: 'PERMISSION_DENIED' });
    expect(await lastRecord()).toMatchObject({ command_rules: [{ verdict: 'unseen', rule: 'Bash(git *)' }] });
  });

  it('refuse at once, in the shell of a client, what a person is asked about while no program shows questions', async () => {
    write(settings(), { permissions: { ask: ['Bash(git tag *)'] } });
    const command = { command: "sh -c 'git tag x' || echo ran" };
    const refused = await at.call('safe_bash', command, { door: 'shell' });
    expect(refused.error).toContain('asks a person about this call, and no person watches for questions now');
    expect(refused.data.remediation).toContain('`ctxd approve --watch`');
    expect(await lastRecord()).toMatchObject({ command_rules: [{ verdict: 'asked', rule: 'Bash(git tag *)' }] });
    // `ctxd approve --watch` asks for the list twice in a second.
    at.approvals.watched();
    const { answer, question } = await waiting(command, { door: 'shell' });
    await at.approvals.decide(question.id, '', once);
    expect((await answer).data.stdout).toBe('ran\n');
    time.move(60_000);
    expect((await at.call('safe_bash', command, { door: 'shell' })).error).toContain('no person watches');
  });

  it('let a text that a program prints run as a script in a file does, and ask about one of an unknown word', async () => {
    write(settings(), { permissions: RULES });
    write(join(at.project, 'say.sh'), 'echo free\n');
    const { data } = await at.call('safe_bash', { command: 'eval "$(sort say.sh)"; $(type -P echo) free' });
    expect(data.stdout).toBe('free\nfree\n');
    const asked = await at.call('safe_bash', { command: 'eval "$X"' }, { door: 'shell' });
    expect(asked.error).toContain(`it may be what the rule Bash(git push *) of ${settings()} is about`);
  });

  it('read the input of a shell, and those of OpenCode', async () => {
    write(join(at.personHome, '.config/opencode/opencode.json'), { permission: { bash: { 'git push *': 'deny' } } });
    const answer = await at.call('safe_bash', { command: 'sh', stdin: 'cd /\ngit push' });
    expect(answer.data).toMatchObject({ error_code: 'PERMISSION_DENIED' });
    expect(answer.error).toContain(`git push * of ${at.personHome}/.config/opencode/opencode.json`);
  });

  it('ask about every command while a file cannot be read, which `ctxd doctor` reports', async () => {
    write(settings(), '{"permissions":');
    const { answer, question } = await waiting({ command: 'echo free' });
    expect(question.rule.reason).toContain(settings());
    expect(question.rule.reason).not.toContain('character');
    await at.approvals.decide(question.id, '', once);
    expect((await answer).data.stdout).toBe('free\n');
    expect((await at.clientRules.review(at.project)).faults).toEqual([
      { file: settings(), why: expect.stringContaining('at character') },
    ]);
  });
});
