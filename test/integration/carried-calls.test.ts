import { readFileSync } from 'node:fs';
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

  it('NFR-2.3: goes on as the call that it is, even if it was asked for again', async () => {
    await endedWhileHeld(newRequestId(Date.now()));
    const [call] = leave().calls;
    expect(call?.request).not.toHaveProperty('isAskedAgain');
    expect(call?.ofTool).not.toHaveProperty('isAskedAgain');
  });

  it('NFR-2.3: is not told that nothing ran if the restart fails, and a call that has not begun is', async () => {
    const requestId = newRequestId(Date.now());
    const answers: string[] = [];
    const { answer } = await endedWhileHeld(requestId);
    answer.then(
      () => answers.push('answered'),
      () => answers.push('refused'),
    );
    const held = at.gate.hold();
    const waiting = at.gate.dispatch(at.requestOf('safe_bash', INPUT, {}));
    at.carried.abandon();
    held.leave((id) => at.carried.hasBegun(id));
    await expect(waiting).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
    expect(answers).toEqual([]);
    expect(readFileSync(join(at.project, 'ran'), 'utf8')).toBe('x\n');
  });
});

describe('a daemon that takes over', () => {
  it('NFR-2.3: ends the calls of the daemon before if that died before they were adopted', async () => {
    const requestId = newRequestId(Date.now());
    await endedWhileHeld(requestId);
    const { calls } = leave();
    const state: HandedState = {
      vaults: await at.scrubber.vaults(),
      calls,
      jobs: await at.jobs.leave(),
      undo: await at.undo.leave(),
      spawner: null,
      hasStreams: false,
      network: at.network.leave(() => {}),
    };
    const next = await composeDaemon({});
    try {
      const [ours, theirs] = duplexPair();
      const arrival = new Arrival(theirs);
      const before = new Pair(ours, {
        answer: () => Promise.reject(new Error('nothing is asked')),
        told() {},
        frame() {},
        closed() {},
      });
      const taken = before.ask('takeOver', state);
      taken.catch(() => {});
      await arrival.receive();
      ours.destroy();
      theirs.destroy();
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
});
