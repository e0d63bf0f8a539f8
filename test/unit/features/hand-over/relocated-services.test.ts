import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { Moves } from '#src/features/hand-over/moves.js';
import { relocatedServices } from '#src/features/hand-over/relocated-services.js';
import type { HostServices, ServiceCall } from '#src/runner/host-methods.js';
import { TestClock } from '../../stores/open-stores.js';

const SESSION = { project: '/p', session: 's', branch: null };

/** The services of one daemon. */
function daemon(own: HostServices, clock = new TestClock()) {
  const moves = new Moves();
  return { moves, clock, ...relocatedServices(own, { moves, commandPolicyFor: noPolicy, clock }) };
}

/** Messages to a daemon, as the pair sends them. */
function messagesTo({ moves, cancelled }: Pick<Daemon, 'moves' | 'cancelled'>) {
  const pair: NonNullable<Moves['next']> = {
    ask: async <T>(name: string, ...args: readonly unknown[]) =>
      (await moves.works.serve(name, deserialize(serialize(args)))) as T,
    tell: (_name, key) => cancelled(String(key)),
  };
  return pair;
}

/** Three daemons. `leave`: the second serves the first. */
function lineOf(own: HostServices) {
  const [before, next, third] = [daemon(own), daemon(own), daemon(own)];
  return {
    before,
    next,
    third,
    leave() {
      leaveTo(before, next);
    },
  };
}

type Daemon = ReturnType<typeof daemon>;

function leaveTo({ moves }: Daemon, next: Daemon): void {
  const pair = messagesTo(next);
  moves.next = pair;
  moves.works.leave(pair);
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
    const { before, next, leave } = lineOf({
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
    const { before, leave } = lineOf({
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

  it('NFR-2.3: is cancelled in the third daemon if its caller left while the second was replaced, and has the time that is left then', async () => {
    const seen: { isCancelled: boolean; leftMs: number }[] = [];
    const { before, next, third, leave } = lineOf({
      async MemorySearch(_session, _request, { signal, endsAt }) {
        seen.push({ isCancelled: signal.aborted, leftMs: endsAt - third.clock.monotonic() });
        return { answer: {} };
      },
    });
    leave();
    await next.moves.works.pause();
    const ask = (signal: AbortSignal) =>
      before.services.MemorySearch?.(SESSION, {}, callOf(signal, before.clock.monotonic() + 10_000));
    const leaving = new AbortController();
    const asked = [ask(leaving.signal), ask(new AbortController().signal)];
    leaving.abort();
    next.clock.nowMs += 4_000;
    leaveTo(next, third);
    await Promise.all(asked);
    expect(seen).toEqual([
      { isCancelled: true, leftMs: 6_000 },
      { isCancelled: false, leftMs: 6_000 },
    ]);
  });
});
