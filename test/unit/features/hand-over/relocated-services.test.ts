import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { Moves } from '#src/features/hand-over/moves.js';
import { relocatedServices } from '#src/features/hand-over/relocated-parts.js';
import type { HostServices, ServiceCall } from '#src/runner/host-methods.js';
import { TestClock } from '../../stores/open-stores.js';

const SESSION = { project: '/p', session: 's', branch: null };

/** The services of one daemon. */
function daemon(own: HostServices, clock = new TestClock()) {
  const moves = new Moves();
  return { moves, clock, ...relocatedServices(own, { moves, commandPolicyFor: noPolicy, clock }) };
}

/** Two daemons, the second of which serves the first, over messages as the pair sends them. */
function pairOf(own: HostServices) {
  const [before, next] = [daemon(own), daemon(own)];
  const pair: NonNullable<Moves['next']> = {
    ask: async <T>(name: string, ...args: readonly unknown[]) =>
      (await next.moves.works.serve(name, deserialize(serialize(args)))) as T,
    tell: (_name, key) => next.cancelled(String(key)),
  };
  return {
    before,
    next,
    leave() {
      before.moves.next = pair;
      before.moves.works.leave(pair);
    },
  };
}

function noPolicy(): never {
  throw new ContextdError('INTERNAL_ERROR', 'no policy is asked for');
}

function callOf(signal: AbortSignal, endsAt: number): ServiceCall {
  return {
    ...{ requestId: 'req_1', tool: 'jobs', isCore: true, opened: [], outputKillBytes: 0 },
    signal,
    endsAt,
    commandPolicy: noPolicy,
  };
}

describe('a service that a carried call asks for', () => {
  it('NFR-2.3: is cancelled in the next daemon if its caller left while the state moved, and has the time that is left then', async () => {
    const seen: { isCancelled: boolean; leftMs: number }[] = [];
    const { before, next, leave } = pairOf({
      async MemorySearch(_session, _request, { signal, endsAt }) {
        seen.push({ isCancelled: signal.aborted, leftMs: endsAt - next.clock.monotonic() });
        return { answer: {} };
      },
    });
    await before.moves.works.pause();
    const ask = (signal: AbortSignal) =>
      before.services.MemorySearch?.(SESSION, {}, callOf(signal, before.clock.monotonic() + 10_000));
    const leaving = new AbortController();
    const asked = [ask(leaving.signal), ask(new AbortController().signal)];
    leaving.abort();
    before.clock.nowMs += 4_000;
    leave();
    await Promise.all(asked);
    expect(seen).toEqual([
      { isCancelled: true, leftMs: 6_000 },
      { isCancelled: false, leftMs: 6_000 },
    ]);
  });

  it('NFR-2.3: is cancelled in the next daemon if its caller leaves after the state has moved', async () => {
    const { promise: cancelled, resolve } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { before, leave } = pairOf({
      async MemorySearch(_session, _request, { signal }) {
        signal.addEventListener('abort', () => resolve());
        begun.resolve();
        await cancelled;
        return { answer: {} };
      },
    });
    leave();
    const leaving = new AbortController();
    const asked = before.services.MemorySearch?.(
      SESSION,
      {},
      callOf(leaving.signal, before.clock.monotonic() + 10_000),
    );
    await begun.promise;
    leaving.abort();
    expect(await asked).toEqual({ answer: {} });
  });
});
