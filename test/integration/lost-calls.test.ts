import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRequestId } from '#src/core/ids.js';
import { appears } from '../helpers/appears.ts';
import { type CallOptions, type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';

let at: ComposedDaemon;
beforeAll(async () => {
  at = await composeDaemon({});
  writeFileSync(join(at.project, 'notes'), 'the notes\n');
});
afterAll(() => at.remove());

/** Puts a call into the journal as a daemon leaves it that dies before it has an answer. */
async function interrupt(tool: string, input: object, requestId: string): Promise<void> {
  const { tag } = at.callSeals.of(at.requestOf(tool, input, { requestId }));
  await at.journal.begin({ requestId, tool, session: { project: at.project, session: 'test', branch: null }, tag });
  await at.journal.start();
}

const records = async (requestId: string) => at.auditLog.find(at.project, { requestIds: [requestId] });
const again = (requestId: string): CallOptions => ({ requestId, isAskedAgain: true });

describe('a call that is asked for by its request id', () => {
  it('NFR-2.3: has its stored answer if it finished, runs once, and is recorded once', async () => {
    const requestId = newRequestId(Date.now());
    const input = { command: 'echo once >> once; cat once; exit 3' };
    const first = await at.call('safe_bash', input, { requestId });
    expect(await at.call('safe_bash', input, again(requestId))).toEqual(first);
    expect(readFileSync(join(at.project, 'once'), 'utf8')).toBe('once\n');
    expect(await records(requestId)).toHaveLength(1);
    expect((await at.call('safe_bash', input, { requestId })).data.error_code).toBe('CONFLICT');
  });

  it('NFR-2.3: runs if it never began', async () => {
    const answer = await at.call('safe_bash', { command: 'echo first' }, again(newRequestId(Date.now())));
    expect(answer).toMatchObject({ success: true, data: { stdout: 'first\n' } });
  });

  it('NFR-2.3: does not run if it is so old that it could have run and be forgotten, unless it has no effects', async () => {
    const old = again(newRequestId(Date.now() - 8 * 24 * 60 * 60 * 1000));
    const answer = await at.call('safe_bash', { command: 'echo old >> old' }, old);
    expect(answer).toMatchObject({ success: false, data: { error_code: 'INTERRUPTED', retryable: false } });
    expect(answer.error).toContain('it is not known whether safe_bash ran: calls stay on record for 7 days');
    expect(existsSync(join(at.project, 'old'))).toBe(false);
    expect((await at.call('safe_read', { path: 'notes' }, old)).data.content).toBe('the notes\n');
  });

  it('NFR-2.3: has the answer of the call if that still runs, once it has ended', async () => {
    const requestId = newRequestId(Date.now());
    const input = { command: 'touch begun; while [ ! -e go ]; do sleep 0.02; done; echo x >> ran' };
    const first = at.call('safe_bash', input, { requestId });
    await appears(at.project, 'begun');
    const second = at.call('safe_bash', input, again(requestId));
    const other = await at.call('safe_bash', { command: 'echo other >> ran' }, again(requestId));
    expect(other.data.error_code).toBe('CONFLICT');
    writeFileSync(join(at.project, 'go'), '');
    expect(await second).toEqual(await first);
    expect(readFileSync(join(at.project, 'ran'), 'utf8')).toBe('x\n');
  });

  it('NFR-2.3: is refused to a caller with another payload, session or project', async () => {
    const requestId = newRequestId(Date.now());
    const input = { command: 'echo mine' };
    await at.call('safe_bash', input, { requestId });
    const asked = [
      at.call('safe_bash', { command: 'echo yours >> stolen' }, again(requestId)),
      at.call('safe_bash', input, { ...again(requestId), session: 'another' }),
      at.call('safe_bash', input, { ...again(requestId), project: at.otherProject }),
      at.call('safe_read', { path: 'notes' }, again(requestId)),
    ];
    for (const { data, error } of await Promise.all(asked)) {
      expect(data.error_code).toBe('CONFLICT');
      expect(error).toContain(`request id ${requestId} belongs to another call`);
      expect(JSON.stringify(data)).not.toContain('mine');
    }
    expect(existsSync(join(at.project, 'stolen'))).toBe(false);
  });
});

describe('a call whose daemon died, when it is asked for', () => {
  it('NFR-2.3: runs again, with a request id of its own, if it is a core tool without effects', async () => {
    const requestId = newRequestId(Date.now());
    await interrupt('safe_read', { path: 'notes' }, requestId);
    const answer = await at.call('safe_read', { path: 'notes' }, again(requestId));
    expect(answer).toMatchObject({ success: true, data: { content: 'the notes\n' } });
    expect(answer.meta.request_id).not.toBe(requestId);
    expect(await records(answer.meta.request_id)).toHaveLength(1);
  });

  it('NFR-2.3: is INTERRUPTED and does not run again if it may have had effects', async () => {
    const requestId = newRequestId(Date.now());
    const input = { command: 'echo again >> not-again' };
    await interrupt('safe_bash', input, requestId);
    const answer = await at.call('safe_bash', input, again(requestId));
    expect(answer).toMatchObject({ success: false, data: { error_code: 'INTERRUPTED', retryable: false } });
    expect(answer.error).toContain('the daemon ended before safe_bash had answered');
    expect(answer.error).toContain('No change of a file is on record, but it may have acted elsewhere');
    expect(existsSync(join(at.project, 'not-again'))).toBe(false);
    expect(await at.print('safe_bash', input, again(requestId))).toContain('CONFLICT');
  });

  it('NFR-2.3: says that what it was to keep may be kept if it changes no files', async () => {
    const requestId = newRequestId(Date.now());
    const input = { title: 't', description: 'd', content: 'c' };
    await interrupt('memory_store', input, requestId);
    const { data, error } = await at.call('memory_store', input, again(requestId));
    expect(data.error_code).toBe('INTERRUPTED');
    expect(error).toContain('what it was to keep may be kept');
  });
});
