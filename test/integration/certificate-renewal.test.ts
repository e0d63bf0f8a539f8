import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { issueCertificates, RENEWAL_MS } from '#src/doors/grpc/certificates.js';
import type { ExecuteResponse__Output } from '#src/protocol/generated/tool.js';
import { echo } from '../helpers/behind.ts';
import { answered, certificateOf, close, connect, openDoor, refused, type TestDoor } from '../helpers/door.ts';

const DAY_MS = 86_400_000;
let at: TestDoor;
afterEach(() => at.remove());

const REQUEST = {
  tool: 'safe_bash',
  input_json: Buffer.from('{}'),
  context: { request_id: 'req_01JD0000000000000000000000', project_root: '/p', session_id: '', protocol_version: 2 },
};

describe('certificates that end soon', () => {
  it('SEC-3.1 NFR-2.3 are renewed without a restart: a call that runs is answered, and only new certificates connect', async () => {
    // Three days ago, so that the certificates are valid by the clock of the machine too, before and after.
    let nowMs = Date.now() - 3 * DAY_MS;
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let began: () => void = () => {};
    const running = new Promise<void>((resolve) => (began = resolve));
    at = await openDoor({
      dispatch: async (request) => {
        if (request.sessionHint === 'held') {
          began();
          await held;
        }
        return echo(request);
      },
      certificates: await issueCertificates(nowMs, RENEWAL_MS + 2 * DAY_MS),
      clock: { now: () => nowMs, monotonic: () => 0 },
    });
    const authority = () => readFileSync(join(at.paths.certsDir, 'ca.pem'), 'utf8');
    const [first, old] = [authority(), connect(at.paths.socket, certificateOf(at.paths.certsDir, 'proxy'))];
    const ask = (session: string) =>
      answered<ExecuteResponse__Output>((done) =>
        at.clients('proxy').tools.Execute({ ...REQUEST, context: { ...REQUEST.context, session_id: session } }, done),
      );
    await at.door.renew?.();
    expect(authority()).toBe(first);

    const pending = ask('held');
    await running;
    nowMs += 3 * DAY_MS;
    await at.door.renew?.();
    release();
    expect((await pending).exit_code).toBe(0);
    expect(authority()).not.toBe(first);
    expect((await ask('new')).exit_code).toBe(0);
    expect(await refused((done) => old.tools.Execute(REQUEST, done))).toMatchObject({ code: 14 });
    close(old);
  });
});
