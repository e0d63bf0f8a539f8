import { existsSync, readFileSync } from 'node:fs';
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
});
