import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRequestId } from '#src/core/ids.js';
import { appears } from '../helpers/appears.ts';
import { type CallOptions, type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';

let at: ComposedDaemon;
beforeAll(async () => {
  at = await composeDaemon({});
});
afterAll(() => at.remove());

/** Calls safe_bash and kills the process that starts sandboxes, with every tool process, once the command has written `begun`. */
async function killed<Result>(
  begun: string,
  call: (input: object, options: CallOptions) => Promise<Result>,
): Promise<Result> {
  await at.call('safe_bash', { command: 'true' });
  const { spawnerPid } = await at.sandbox.status();
  const command = `echo ran >> effects-of-${begun}; touch ${begun}; sleep 1000`;
  const answer = call({ command }, { requestId: newRequestId(Date.now()) });
  await appears(at.project, begun);
  process.kill(spawnerPid ?? 0, 'SIGKILL');
  return answer;
}

describe('a call whose tool process was killed while it ran', () => {
  it('NFR-2.3: says what it may have changed and how that is taken back, not to call again', async () => {
    const { success, error, data } = await killed('first', (input, options) => at.call('safe_bash', input, options));
    expect(success).toBe(false);
    expect(data).toMatchObject({ error_code: 'TOOL_CRASHED', retryable: false });
    expect(error).toContain('the tool process ended while it was needed');
    expect(error).toContain('It may have changed 2 files of the project');
    expect(error).not.toContain('Call again');
    const [, ref = ''] =
      /Check them before you call again, or take them back: `ctxd undo (undo_\w+)`/.exec(String(error)) ?? [];
    const { files } = await at.undo.plan(at.project, ref);
    expect(files.map(({ path }) => path).sort()).toEqual(['effects-of-first', 'first']);
    await at.undo.apply(at.project, ref, false);
    expect(existsSync(join(at.project, 'first'))).toBe(false);
  });

  it('NFR-2.3: says the same on a command line', async () => {
    const printed = await killed('second', (input, options) => at.print('safe_bash', input, options));
    expect(printed).toContain('TOOL_CRASHED');
    expect(printed).toMatch(/It may have changed 2 files of the project.*take them back: `ctxd undo undo_\w+`/s);
    expect(printed).not.toContain('Call again');
    expect(readFileSync(join(at.project, 'effects-of-second'), 'utf8')).toBe('ran\n');
  });
});
