import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

interface Waiting {
  id: string;
  tool: string;
  text: string;
  calls: number;
  project: string;
}

interface Line {
  kind?: string;
  began?: boolean;
  input: unknown;
}

describe('issue 32.3 a person answers while a call waits', () => {
  let at: Installation;
  let project: string;

  beforeAll(async () => {
    at = await install();
    project = realpathSync(at.project);
  });
  afterAll(() => at.remove());

  const ctxd = (...words: string[]): Promise<Finished> => at.run(CTXD, words, { cwd: project });
  const waiting = async (): Promise<Waiting[]> => JSON.parse((await ctxd('approve', '--json')).stdout).items;
  const nextQuestion = (): Promise<Waiting> =>
    vi.waitFor(
      async () => {
        const [question] = await waiting();
        if (question === undefined) throw new Error('no call waits yet');
        return question;
      },
      { timeout: 20_000, interval: 50 },
    );
  const addRule = async (...words: string[]): Promise<string> => {
    const { stdout } = await ctxd('approve', 'rule', 'add', ...words, '--json');
    return JSON.parse(stdout)[0].id;
  };

  it('issue 32.3 runs the call after `once`, asks again for the next one, and records who answered what', async () => {
    const rule = await addRule('safe_bash', '--when', '^git push', '--reason', 'pushes are looked at');
    expect(await at.ask('safe_bash', { command: 'echo free' })).toMatchObject({ success: true });
    const call = at.ask('safe_bash', { command: 'git push --dry-run || echo pushed' });
    const question = await nextQuestion();
    expect(question).toMatchObject({ tool: 'safe_bash', text: 'git push --dry-run || echo pushed', calls: 1, project });
    expect((await ctxd('approve', question.id, 'once')).stdout).toBe('1 waiting call allowed.\n');
    expect((await call).data.stdout).toBe('pushed\n');
    const again = at.ask('safe_bash', { command: 'git push --dry-run || echo pushed' });
    await ctxd('approve', (await nextQuestion()).id, 'never');
    expect((await again).data).toMatchObject({ error_code: 'PERMISSION_DENIED' });
    expect((await again).error).toContain(`${rule} (pushes are looked at)`);
    expect(await at.ask('safe_bash', { command: 'git push' })).toMatchObject({ success: false });
    const log = (await ctxd('audit', 'tail', '--json')).stdout;
    expect(log).toContain(`"approvals":[{"rule":"${rule}","answer":"once","by":`);
    expect(log).toContain('"tool":"approve"');
    const shown = (await ctxd('audit', 'tail')).stdout;
    expect(shown).toMatch(new RegExp(`\\tasks\\t${rule}\\t`));
    expect(shown).toMatch(new RegExp(`\\texit 0\\t${rule} once by \\S+ after \\d+ s\\t`));
    expect(shown).toMatch(new RegExp(`\\tPERMISSION_DENIED\\t${rule} never by \\S+ after \\d+ s\\t`));
    await ctxd('approve', 'rule', 'remove', rule);
    expect(readFileSync(join(project, '.claude/settings.json'), 'utf8')).toContain('Bash(*ctxd approve*)');
  });

  it('issue 32.3 cannot be answered from inside a sandbox, which has neither the socket nor the program', async () => {
    const command = `ls ${at.home} ${CTXD}; command -v ctxd; env CONTEXTD_HOME=${at.home} ${CTXD} approve`;
    const { data } = await at.ask('safe_bash', { command });
    expect(data.stdout).toBe('');
    expect(data.stderr).toContain(`cannot access '${at.home}'`);
    expect(data.exit_code).toBe(127);
  });

  it('issue 32.4 a call that waits while the daemon stops has run nothing, and the next one is asked about again', async () => {
    const rule = await addRule('safe_bash', '--when', 'touch');
    const call = at.ask('safe_bash', { command: 'touch made' });
    await nextQuestion();
    await ctxd('server', 'stop');
    expect((await call).data).toMatchObject({ error_code: 'INTERRUPTED' });
    expect((await call).error).toContain('Nothing has run');
    const again = at.ask('safe_bash', { command: 'ls made || touch made' });
    await ctxd('approve', (await nextQuestion()).id, 'always');
    expect((await again).data.stderr).toContain("cannot access 'made'");
    await ctxd('server', 'restart');
    expect(await at.ask('safe_bash', { command: 'touch made' })).toMatchObject({ success: true });
    await ctxd('approve', 'rule', 'remove', rule);
  });

  it('issue 32.4 NFR-2.3 a call that waits while the daemon is restarted has run nothing, and is asked about again by the next one', async () => {
    const rule = await addRule('safe_bash', '--when', 'touch');
    const call = at.ask('safe_bash', { command: 'ls carried || touch carried' });
    const { id } = await nextQuestion();
    expect(await ctxd('server', 'restart')).toMatchObject({ code: 0 });
    const question = await nextQuestion();
    expect(question.id).not.toBe(id);
    await ctxd('approve', question.id, 'once');
    expect(await call).toMatchObject({ success: true, data: { stderr: expect.stringContaining('cannot access') } });
    await ctxd('approve', 'rule', 'remove', rule);
  });

  it('issue 32.4 a call that waits while the daemon is killed is on record as INTERRUPTED, with the rule, and has run nothing', async () => {
    const rule = await addRule('safe_bash', '--when', 'touch');
    const call = at.ask('safe_bash', { command: 'touch killed' });
    const { id } = await nextQuestion();
    const records = async (): Promise<Line[]> =>
      JSON.parse((await ctxd('audit', 'tail', '--project', '--json')).stdout).filter(({ input }: Line) =>
        JSON.stringify(input)?.includes('touch killed'),
      );
    expect(await records()).toMatchObject([{ kind: 'asked', approvals: [{ rule }] }]);
    process.kill((await at.status()).pid, 'SIGKILL');
    expect((await call).data).toMatchObject({ error_code: 'INTERRUPTED' });
    await ctxd('server', 'start');
    expect((await ctxd('approve', id, 'once')).stderr).toContain(`no call waits for "${id}"`);
    const ended = (await records()).find(({ kind }) => kind === undefined);
    expect(ended).toMatchObject({ error_code: 'INTERRUPTED', approvals: [{ rule, answer: 'none' }] });
    expect(ended?.began).toBeUndefined();
    expect((await at.ask('safe_bash', { command: 'ls killed' })).data.exit_code).toBe(2);
    await ctxd('approve', 'rule', 'remove', rule);
  });

  it('issue 32.3 is refused at once, with the way to allow it, if calls do not wait', async () => {
    await ctxd('config', 'set', 'approvals.wait_ms', '0');
    await ctxd('server', 'restart');
    const rule = await addRule('safe_bash');
    const { data, error } = await at.ask('safe_bash', { command: 'true' });
    expect(data).toMatchObject({ error_code: 'PERMISSION_DENIED' });
    expect(error).toContain('calls do not wait (approvals.wait_ms is 0)');
    expect((await ctxd('approve', rule, '1h')).stdout).toMatch(/^Allowed until /);
    expect(await at.ask('safe_bash', { command: 'true' })).toMatchObject({ success: true });
    await ctxd('approve', 'rule', 'remove', rule);
  });
});
