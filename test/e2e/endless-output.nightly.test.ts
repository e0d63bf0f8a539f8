import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const KEPT = 65_536;

describe('endless output, through a daemon that keeps 64 KiB and kills beyond 100 MB', () => {
  let at: Installation;
  beforeAll(async () => {
    at = await install({ init: false });
    mkdirSync(join(at.home, 'config'), { recursive: true, mode: 0o700 });
    const config = { output: { max_bytes: KEPT, kill_bytes: 100_000_000 } };
    writeFileSync(join(at.home, 'config/config.json'), JSON.stringify(config), { mode: 0o600 });
    expect(await at.run(CTXD, ['init'])).toMatchObject({ code: 0 });
  });
  afterAll(() => at.remove());

  it.each([
    ['one line', `printf BEGIN; head -c 90M /dev/zero | tr '\\0' ' '; printf END`, /^BEGIN/, /END$/],
    [
      'lines that repeat',
      'echo BEGIN; yes | head -c 90M; echo END',
      /^BEGIN\ny\n… the line above/,
      /\ny\n… .* …\nEND\n$/,
    ],
    ['empty lines', `echo BEGIN; head -c 90M /dev/zero | tr '\\0' '\\n'; echo END`, /^BEGIN\n/, /\nEND\n$/],
  ])(
    'CE-1.4 DATA-2 is answered with head, tail and the count of dropped bytes: 94 MB of %s',
    async (_, command, head, tail) => {
      const { success, data, refs, meta, ...answer } = await at.ask('safe_bash', { command });
      expect({ success, error: answer.error, exit: data.exit_code, refs: refs.length }).toEqual({
        success: true,
        error: null,
        exit: 0,
        refs: 1,
      });
      expect(data.stdout).toMatch(head);
      expect(data.stdout).toMatch(tail);
      expect(meta.dropped_bytes).toBeGreaterThan(90_000_000);
      expect(meta.content_fidelity).toBe('partial');
      expect(answer.tokens_used).toBeLessThanOrEqual(2_000);
    },
  );

  it('beyond the limit kills the command, and the answer reports what it printed', async () => {
    const { success, data, meta } = await at.ask('safe_bash', { command: 'echo BEGIN; yes' });
    expect(success).toBe(false);
    expect(data).toMatchObject({
      error_code: 'RESOURCE_LIMIT',
      ended_by: 'output_limit',
      stdout: expect.stringMatching(/^BEGIN\ny\n/),
    });
    expect(meta.dropped_bytes).toBeGreaterThan(99_000_000);
  });
});
