import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appears } from '../helpers/appears.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

describe('ctxd undo after a SIGKILL of contextd', () => {
  let at: Installation;
  beforeAll(async () => {
    at = await install();
  });
  afterAll(() => at.remove());

  it('issue 31.7: takes back the call that was killed, and says that it was cut short', async () => {
    await at.ask('safe_bash', { command: 'echo before > p1' });
    const { pid } = await at.status();
    const running = at.call('safe_bash', { command: 'for i in $(seq 60); do echo $i > k$i; done; sleep 100' });
    await appears(at.project, 'k60');
    process.kill(pid, 'SIGKILL');
    await running;
    await at.run(CTXD, ['server', 'start']);
    const shown = await at.run(CTXD, ['undo', '--dry-run']);
    expect(shown.stderr).toBe('');
    expect(shown.stdout).toContain('  to remove: k1\n');
    expect(shown.stdout).toContain('contextd ended before this call did');
    const done = await at.run(CTXD, ['undo', '--yes']);
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('Undone.') });
    expect(existsSync(join(at.project, 'k60'))).toBe(false);
    expect(readFileSync(join(at.project, 'p1'), 'utf8')).toBe('before\n');
  });

  it('NFR-2.3: an interrupted call names its own record and those of calls that ended while it ran; both take back all of it', async () => {
    const waits = 'echo early > b1; until [ -e go ]; do sleep 0.02; done; echo late > b2; touch begun; sleep 100';
    const { pid } = await at.status();
    const running = at.call('safe_bash', { command: waits });
    await appears(at.project, 'b1');
    const other = await at.ask('safe_bash', { command: 'echo a > a1' });
    writeFileSync(join(at.project, 'go'), '');
    await appears(at.project, 'begun');
    process.kill(pid, 'SIGKILL');
    const { data } = JSON.parse((await running).stdout);
    const [ref] = other.refs;
    expect(data).toMatchObject({ error_code: 'INTERRUPTED', details: { undo_beside: [ref] } });
    expect(data.remediation).toContain(`\`ctxd undo ${ref}\` would also take back what that call changed`);
    const left = () => ['b1', 'a1', 'b2'].filter((name) => existsSync(join(at.project, name)));
    expect(await at.run(CTXD, ['undo', data.details.undo, '--yes'])).toMatchObject({ code: 0 });
    expect(left()).toEqual(['b1', 'a1']);
    expect(await at.run(CTXD, ['undo', ...data.details.undo_beside, '--yes'])).toMatchObject({ code: 0 });
    expect(left()).toEqual([]);
  });
});
