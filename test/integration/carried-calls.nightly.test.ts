import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallAnswer } from '#src/call/request.js';
import { newRequestId } from '#src/core/ids.js';
import type { CarriedCall, CarriedOutcome } from '#src/dispatch/carried-call.js';
import { Arrival } from '#src/features/hand-over/arrival.js';
import type { HandedState } from '#src/features/hand-over/handed-state.js';
import { Pair } from '#src/features/hand-over/pair.js';
import { type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';

let at: ComposedDaemon;
beforeEach(async () => {
  at = await composeDaemon({});
});
afterEach(() => at.remove());

const INPUT = { command: 'echo x >> ran' };

/** A call whose outcome is known while the state of the daemon moves. */
async function endedWhileHeld(requestId: string) {
  const ended = vi.spyOn(at.carried, 'ended');
  at.carried.hold();
  const answer = at.gate.dispatch(at.requestOf('safe_bash', INPUT, { requestId, isAskedAgain: true }));
  answer.catch(() => {});
  await expect.poll(() => ended.mock.calls.length, { timeout: 20_000 }).toBe(1);
  return { answer };
}

/** Leaves the calls of the daemon to another one, which answers with `ANSWER`. */
function leave(): { calls: CarriedCall[]; given: Map<string, CarriedOutcome> } {
  const given = new Map<string, CarriedOutcome>();
  const calls = at.carried.leave(async (requestId, outcome) => {
    given.set(requestId, outcome);
    return ANSWER;
  });
  return { calls, given };
}

const ANSWER: CallAnswer = { line: 'of the next daemon', exitCode: 0, errorLine: '' };

describe('a call in step 5 while its daemon is replaced', () => {
  it('NFR-2.3: is left to the next daemon if its outcome is known before the state has moved', async () => {
    const requestId = newRequestId(Date.now());
    const { answer } = await endedWhileHeld(requestId);
    expect([at.carried.has(requestId), at.carried.isAnswering]).toEqual([true, false]);
    const { calls, given } = leave();
    expect(calls.map(({ request }) => request.requestId)).toEqual([requestId]);
    expect(await answer).toEqual(ANSWER);
    expect(given.get(requestId)).toMatchObject({ failure: null, data: { exit_code: 0 } });
  });

  it('NFR-2.3: is answered here if the restart is given up before anything moved', async () => {
    const { answer } = await endedWhileHeld(newRequestId(Date.now()));
    at.carried.goOn();
    expect(JSON.parse((await answer).line)).toMatchObject({ success: true });
    expect([at.carried.own, at.carried.isAnswering]).toEqual([[], false]);
  });

  it('NFR-2.3: is known under the id with which it runs, if it had ended with a daemon and has no effects', async () => {
    writeFileSync(join(at.project, 'shown'), 'text\n');
    const requestId = newRequestId(Date.now());
    const request = at.requestOf('safe_read', { path: 'shown' }, { requestId, isAskedAgain: true });
    const session = { project: at.project, session: request.sessionHint, branch: null };
    await at.journal.retire({ requestId, tool: 'safe_read', session, tag: at.callSeals.of(request).tag });
    at.carried.hold();
    const answer = at.gate.dispatch(request);
    await expect.poll(() => at.carried.own.length, { timeout: 20_000 }).toBe(1);
    const [running] = at.gate.running().map((call) => call.request.requestId);
    expect(running).not.toBe(requestId);
    expect(at.carried.own).toEqual([running]);
    at.carried.goOn();
    expect(JSON.parse((await answer).line)).toMatchObject({ success: true, meta: { request_id: running } });
    expect(at.gate.active()).toBe(0);
  });

  it('NFR-2.3: goes on as the call that it is, even if it was asked for again', async () => {
    await endedWhileHeld(newRequestId(Date.now()));
    const [call] = leave().calls;
    expect(call?.request).not.toHaveProperty('isAskedAgain');
    expect(call?.ofTool).not.toHaveProperty('isAskedAgain');
  });
});

describe('a call that has not begun while its daemon is replaced', () => {
  /** A call that waits for a person, and its question. */
  async function waitingCall(options: { requestId?: string } = {}) {
    await at.approvalRules.add({
      id: 'rule_test',
      scope: '',
      tool: 'safe_bash',
      when: '',
      reason: '',
      givenBy: 'test',
    });
    at.approvals.watched();
    const answer = at.gate.dispatch(at.requestOf('safe_bash', INPUT, options));
    answer.catch(() => {});
    await expect.poll(() => at.approvals.list('').length, { timeout: 20_000 }).toBe(1);
    return { answer, question: at.approvals.list('')[0]?.id ?? '' };
  }

  /** The error codes in the records of the ends of calls. */
  async function ends(): Promise<unknown[]> {
    const tail = await at.auditLog.tail(100);
    return tail.flatMap(({ kind, error_code }) => (kind === undefined ? [error_code] : []));
  }

  it('NFR-2.3: is taken back with a record, and its caller learns that nothing ran', async () => {
    const { answer } = await waitingCall();
    const held = at.gate.hold();
    held.withdraw((id) => at.carried.hasBegun(id));
    await expect.poll(() => at.gate.active()).toBe(0);
    held.leave();
    await expect(answer).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
    expect(await ends()).toEqual(['DAEMON_UNAVAILABLE']);
    expect(existsSync(join(at.project, 'ran'))).toBe(false);
  });

  it('NFR-2.3: is asked about again and runs once if the restart is given up', async () => {
    const { answer, question } = await waitingCall();
    const held = at.gate.hold();
    held.withdraw((id) => at.carried.hasBegun(id));
    await expect.poll(() => at.gate.active()).toBe(0);
    held.goOn();
    await expect
      .poll(() => at.approvals.list('').map(({ id }) => id !== question), { timeout: 20_000 })
      .toEqual([true]);
    const [again] = at.approvals.list('');
    await at.approvals.decide(again?.id ?? '', '', { answer: 'once', forMs: 0, calls: 1, by: 'test' });
    expect(JSON.parse((await answer).line)).toMatchObject({ success: true });
    expect(readFileSync(join(at.project, 'ran'), 'utf8')).toBe('x\n');
    expect(await ends()).toEqual(['DAEMON_UNAVAILABLE', null]);
  });

  it('NFR-2.3: does not run a second time if its caller asks for its first id after it ran under another', async () => {
    const requestId = newRequestId(Date.now());
    const { answer, question } = await waitingCall({ requestId });
    const held = at.gate.hold();
    held.withdraw((id) => at.carried.hasBegun(id));
    await expect.poll(() => at.gate.active()).toBe(0);
    held.goOn();
    await expect
      .poll(() => at.approvals.list('').map(({ id }) => id !== question), { timeout: 20_000 })
      .toEqual([true]);
    await at.approvals.decide(at.approvals.list('')[0]?.id ?? '', '', {
      answer: 'once',
      forMs: 0,
      calls: 1,
      by: 'test',
    });
    await answer;
    const asked = await at.gate.dispatch(at.requestOf('safe_bash', INPUT, { requestId, isAskedAgain: true }));
    expect(JSON.parse(asked.line)).toMatchObject({ success: false, data: { error_code: 'INTERRUPTED' } });
    expect(readFileSync(join(at.project, 'ran'), 'utf8')).toBe('x\n');
  });

  it('NFR-2.3: does not begin after it was taken back, even if a person allows it at that moment', async () => {
    const { answer, question } = await waitingCall();
    const held = at.gate.hold();
    const decided = at.approvals.decide(question, '', { answer: 'once', forMs: 0, calls: 1, by: 'test' });
    held.withdraw((id) => at.carried.hasBegun(id));
    await decided.catch(() => {});
    await expect.poll(() => at.gate.active()).toBe(0);
    held.leave();
    await expect(answer).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
    expect(existsSync(join(at.project, 'ran'))).toBe(false);
  });

  it('NFR-2.3: is not taken back once it has begun', async () => {
    const requestId = newRequestId(Date.now());
    const { answer } = await endedWhileHeld(requestId);
    const held = at.gate.hold();
    held.withdraw((id) => at.carried.hasBegun(id));
    at.carried.goOn();
    held.goOn();
    expect(JSON.parse((await answer).line)).toMatchObject({ success: true, meta: { request_id: requestId } });
    expect(readFileSync(join(at.project, 'ran'), 'utf8')).toBe('x\n');
  });
});

/** Hands the calls to another daemon, which has received them and not adopted them yet. */
async function handOver() {
  const next = await composeDaemon({});
  const [ours, theirs] = duplexPair();
  const arrival = new Arrival(theirs);
  const pair = new Pair(ours, {
    answer: () => Promise.reject(new Error('nothing is asked')),
    told() {},
    frame() {},
    closed() {},
  });
  const calls = at.carried.leave((requestId, outcome) => pair.ask('finish', requestId, outcome));
  const state: HandedState = {
    vaults: await at.scrubber.vaults(),
    calls,
    jobs: await at.jobs.leave(),
    undo: await at.undo.leave(),
    branches: at.branches.leave(),
    spawner: null,
    hasStreams: false,
    network: at.network.leave(() => {}),
    passing: at.passing.leave(),
  };
  const taken = pair.ask('takeOver', state);
  taken.catch(() => {});
  await arrival.receive();
  const breakOff = (): void => {
    ours.destroy();
    theirs.destroy();
  };
  const send = (bytes: Buffer) => new Promise((resolve) => ours.write(bytes, resolve));
  return { next, arrival, taken, send, breakOff };
}

/** What the pair of a daemon sends, in one piece. */
async function sentAtOnce(send: (pair: Pair) => void): Promise<Buffer> {
  const [ours, theirs] = duplexPair();
  const pieces: Buffer[] = [];
  theirs.on('data', (piece: Buffer) => pieces.push(piece));
  send(new Pair(ours, { answer: async () => null, told() {}, frame() {}, closed() {} }));
  await new Promise((resolve) => ours.end(resolve));
  return Buffer.concat(pieces);
}

describe('a daemon that takes over', () => {
  it.each(['before', 'after'])(
    'NFR-2.3: takes what the daemon before asks and says in one message in its order, %s it has adopted its calls',
    async (moment) => {
      const { next, arrival, taken, send, breakOff } = await handOver();
      try {
        const order: string[] = [];
        next.moves.works.work('noted', async (name: string) => void order.push(name));
        const serviceCancelled = (key: string): void => void order.push(`not ${key}`);
        const message = await sentAtOnce((pair) => {
          for (const name of ['one', 'two']) {
            pair.ask('noted', name).catch(() => {});
            pair.tell('cancelService', name);
          }
        });
        if (moment === 'before') await send(message);
        arrival.adopt({ ...next, serviceCancelled });
        arrival.done();
        await taken;
        if (moment === 'after') await send(message);
        await expect.poll(() => order).toEqual(['one', 'not one', 'two', 'not two']);
      } finally {
        breakOff();
        await next.remove();
      }
    },
  );

  it('NFR-2.3: ends the calls of the daemon before if that died before they were adopted', async () => {
    const requestId = newRequestId(Date.now());
    await endedWhileHeld(requestId);
    const { next, arrival, breakOff } = await handOver();
    try {
      breakOff();
      await arrival.gone;
      arrival.adopt(next);
      const [running] = next.gate.running();
      expect(running?.request.requestId).toBe(requestId);
      await next.gate.ended([requestId]);
      expect(next.gate.active()).toBe(0);
    } finally {
      await next.remove();
    }
  });

  it('NFR-2.3: answers and records once a call whose outcome was known before the state moved', async () => {
    const requestId = newRequestId(Date.now());
    const { answer } = await endedWhileHeld(requestId);
    const { next, arrival, taken, breakOff } = await handOver();
    try {
      arrival.adopt(next);
      arrival.done();
      await taken;
      expect(JSON.parse((await answer).line)).toMatchObject({ success: true, meta: { request_id: requestId } });
      const records = [...(await at.auditLog.tail(100)), ...(await next.auditLog.tail(100))];
      const kinds = records.flatMap(({ request_id, kind }) => (request_id === requestId ? [kind] : []));
      expect(kinds).toEqual(['started', undefined]);
      expect(readFileSync(join(at.project, 'ran'), 'utf8')).toBe('x\n');
    } finally {
      breakOff();
      await next.remove();
    }
  });

  it('NFR-2.3: passes an outcome on if it was replaced too, and is done with the call when the daemon before is gone', async () => {
    const requestId = newRequestId(Date.now());
    const { answer } = await endedWhileHeld(requestId);
    const { next, arrival, breakOff } = await handOver();
    const cutShort = vi.spyOn(next.callUndo, 'cutShort');
    try {
      next.carried.hold();
      arrival.adopt(next);
      arrival.done();
      const passed: string[] = [];
      next.carried.leave(async (id) => {
        passed.push(id);
        return ANSWER;
      });
      expect(await answer).toEqual(ANSWER);
      await expect.poll(() => next.gate.active()).toBe(0);
      breakOff();
      await arrival.gone;
      await next.sandbox.heritage?.forget();
      expect([passed, cutShort.mock.calls]).toEqual([[requestId], []]);
      expect(await next.auditLog.tail(100)).toEqual([]);
    } finally {
      breakOff();
      await next.remove();
    }
  });
});
