import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: false });
});
afterAll(() => at.remove());

const ctxd = (...args: string[]) => at.run(CTXD, args);

describe('the audit log of a day', () => {
  it('SEC-5.1 SEC-5.4 is found, exported and proven without a daemon, and shows where it was changed', async () => {
    await at.ask('safe_bash', { command: 'echo deploy one' });
    await at.ask('safe_bash', { command: 'echo =deploy two; exit 3' });
    await at.ask('safe_write', { path: 'notes.txt', content: 'deploy three' });
    await ctxd('server', 'stop');

    const found = JSON.parse(
      (await ctxd('audit', 'search', 'DEPLOY', '--since', '1h', '--tool', 'safe_bash', '--json')).stdout,
    );
    expect(found).toMatchObject([{ input: { command: 'echo deploy one' } }, { exit_code: 3 }]);
    const failed = JSON.parse((await ctxd('audit', 'search', 'deploy', '--failed', '--json')).stdout);
    expect(failed).toMatchObject([{ input: { command: 'echo =deploy two; exit 3' } }]);
    expect((await ctxd('audit', 'search', 'deploy', '--since', 'soon')).stderr).toContain(
      'neither a time span nor a date',
    );

    const lines = (await ctxd('audit', 'export')).stdout.trimEnd().split('\n');
    const records = lines.map((line): Record<string, unknown> => JSON.parse(line));
    expect(records.filter(({ tool, kind }) => tool === 'safe_write' && kind === undefined)).toHaveLength(1);
    const csv = (await ctxd('audit', 'export', '--format', 'csv', '--failed')).stdout;
    expect(csv).toMatch(/^time,kind,request_id,.*\r\n.*"\{""command"":""echo =deploy two; exit 3""\}",3,/);
    const [event] = (await ctxd('audit', 'export', '--format', 'ocsf', '--failed')).stdout.split('\n');
    expect(JSON.parse(event ?? '')).toMatchObject({
      class_uid: 6003,
      type_uid: 600399,
      status_id: 2,
      api: { operation: 'safe_bash', response: { code: 3 } },
    });

    const head = (await ctxd('audit', 'head')).stdout;
    const heads = join(at.home, 'heads.jsonl');
    writeFileSync(heads, `{"wrapped":{"body":${JSON.stringify(head)}}}\n`);
    const whole = await ctxd('audit', 'verify', '--against', heads);
    expect(whole).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok: \d+ records in 1 segment, unbroken since /),
    });

    const dir = join(at.home, 'state/audit');
    const segment = join(dir, readdirSync(dir)[0] ?? '');
    const text = readFileSync(segment, 'utf8');
    writeFileSync(segment, text.replace('echo deploy one', 'echo nothing one'));
    const line = text.split('\n').findIndex((one) => one.includes('echo deploy one')) + 1;
    const broken = await ctxd('audit', 'verify');
    expect(broken).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`.jsonl:${line} is not record ${line} as it was written`),
    });
  });

  it('SEC-5.4 cannot be proven where there is no log, and a missing key is the one thing that is said', async () => {
    const elsewhere = join(at.home, 'elsewhere');
    const env = { CONTEXTD_HOME: elsewhere };
    const none = await at.runProcess(CTXD, ['audit', 'verify'], { env });
    expect(none).toMatchObject({ code: expect.any(Number), stdout: '' });
    expect(none.code).not.toBe(0);
    expect(none.stderr).toContain(`there is no audit log in ${join(elsewhere, 'state/audit')}`);

    rmSync(join(at.home, 'state/audit.key'));
    const keyless = await ctxd('audit', 'verify');
    expect(keyless.code).toBe(1);
    expect(keyless.stdout).toMatch(/^broken: .*\nthe key audit\.key is gone: nothing can be proven\n$/);

    for (const name of ['audit', 'audit.head']) rmSync(join(at.home, 'state', name), { recursive: true });
    expect((await ctxd('audit', 'verify')).stderr).toContain(
      `there is no audit log in ${join(at.home, 'state/audit')}`,
    );
  });
});
