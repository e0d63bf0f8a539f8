import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appears } from '../helpers/appears.ts';
import { type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';

const [IN_ALL, OF_SESSION] = [12, 8];
/** Calls of a session that may wait. */
const WAITING = 256;

let at: ComposedDaemon;
beforeAll(async () => {
  at = await composeDaemon({ server: { max_concurrent_calls: IN_ALL, max_session_calls: OF_SESSION } });
});
afterAll(() => at.remove());

describe('NFR-1.4 a flood of one session', () => {
  it('leaves room for the calls of another, is bounded, and loses no call that was accepted', async () => {
    const flooding = Array.from({ length: OF_SESSION + WAITING + 40 }, (_, i) =>
      at.call(
        'safe_bash',
        { command: `: > up; until [ -e go ]; do sleep 0.02; done; echo ${i}` },
        { session: 'flood' },
      ),
    );
    await appears(at.project, 'up');
    const refused: number[] = [];
    const settled = flooding.map((call, i) =>
      call.then((answer) => {
        if (answer.data.error_code === 'RATE_LIMITED') refused.push(i);
        return answer;
      }),
    );
    expect((await at.call('safe_bash', { command: 'echo other' }, { session: 'other' })).data.stdout).toBe('other\n');
    await expect.poll(() => refused.length, { timeout: 30_000 }).toBe(40);
    // What it sent is held up by nothing but itself.
    expect((await at.call('safe_bash', { command: 'echo again' }, { session: 'other' })).data.stdout).toBe('again\n');
    writeFileSync(join(at.project, 'go'), '');
    for (const [i, { data, success }] of (await Promise.all(settled)).entries()) {
      if (refused.includes(i)) expect(data).toMatchObject({ retry_after_ms: expect.any(Number) });
      else expect([success, data.stdout]).toEqual([true, `${i}\n`]);
    }
  }, 120_000);
});
