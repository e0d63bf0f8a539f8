import { setTimeout as delay } from 'node:timers/promises';
import type { PassedAnswer } from '../../call/passing.ts';
import type { CallAnswer } from '../../call/request.ts';
import type { Clock } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import { type Drained, type Part, type StopCause, stopParts } from '../../core/lifecycle.ts';
import type { Logger } from '../../core/log.ts';
import { unpackError, type WireError } from '../../core/wire-error.ts';
import type { CarriedCalls, CarriedOutcome } from '../../dispatch/carried-call.ts';
import type { InheritableSandbox, SpawnerHeritage } from '../../sandbox/contract/heritage.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { Branches } from '../branches/branches.ts';
import type { Jobs, JobsState } from '../jobs/jobs.ts';
import type { Network } from '../network/network.ts';
import type { CallGate, Held } from '../shared/call-gate.ts';
import type { Undo } from '../undo/undo.ts';
import type { PassedRequests } from '../upstreams/passed-requests.ts';
import { buildId } from './build-id.ts';
import type { HandedState } from './handed-state.ts';
import type { Moves } from './moves.ts';
import { Pair } from './pair.ts';
import { cannotHandOver, notStarted, type Successor, startSuccessor } from './successor.ts';
import { answersLate, otherStarts, spawnerEnded, stopLater, stops, tookTooLong, underWay } from './why-not.ts';

export interface DepartureDeps {
  paths: { launcher: string; logFile: string };
  /** Of the next daemon. */
  environment: Readonly<Record<string, string>>;
  /** Milliseconds that calls get to reach step 5 or to end. */
  drainMs: number;
  sandbox: Pick<InheritableSandbox, 'heritage' | 'stop'>;
  runner: { stop(): Promise<void> };
  scrubber: Pick<Scrubber, 'vaults'>;
  jobs: Pick<Jobs, 'running' | 'leave'>;
  undo: Pick<Undo, 'leave'>;
  branches: Pick<Branches, 'leave'>;
  network: Pick<Network, 'leave'>;
  passing: Pick<PassedRequests, 'leave'>;
  gate: Pick<CallGate, 'running' | 'hold' | 'cancel' | 'ended' | 'drain' | 'isStopping'>;
  carried: CarriedCalls;
  moves: Moves;
  questions: { answer(answer: PassedAnswer): void };
  /** False for a daemon whose process another program watches. */
  isAllowed: boolean;
  clock: Clock;
  logger: Logger;
  requestStop(graceMs: number, cause: StopCause): void;
  /** Ends the process at once. Callers lose their connections, and ask the daemon that follows what became of their calls. */
  endNow(): void;
  /** The next daemon rotates the log from now on. */
  leaveLog(): void;
}

/** Milliseconds between looks at whether calls are in step 5. */
const LOOK_MS = 5;
/** Milliseconds within which calls whose step 5 is over must have their answers. Scrubbing and storing an output takes less. */
const ANSWER_MAX_MS = 10_000;
/** Milliseconds within which the state must have moved and the next daemon must listen. Less than a proxy waits for a daemon. */
const TAKE_OVER_MAX_MS = 20_000;

/** What is known once all parts are built. */
export interface DepartureEnds {
  /** What works by itself, in start order: it stops before the next daemon starts. */
  background: readonly Part[];
  /** Writes what waits in memory, and stops what writes to the database. */
  flush(): Promise<void>;
  database: { stop(): Promise<void> };
  /** Until the returned function is called, callers that find no daemon wait and start none. Null: one is being started. */
  keepStarts(): (() => void) | null;
  /** No more connections are accepted. What runs goes on. */
  leaveDoors(): void;
  /** Settles when the daemon before is gone. */
  earlierGone: Promise<void>;
}

interface Leaving {
  pair: Pair;
  ends: DepartureEnds;
  heritage: SpawnerHeritage;
  /** What the next daemon has inherited. */
  streams: ReturnType<SpawnerHeritage['streams']>;
}

/** What the next daemon goes on with. */
export interface HandedOver {
  readonly pid: number;
  readonly calls: number;
  readonly jobs: number;
}

/**
 * Replaces this daemon by a new one without ending what runs. The new one owns all state from then on; this one only takes the calls
 * in step 5 to its end, and then ends too.
 */
export class Departure {
  readonly #deps: DepartureDeps;
  readonly #build = buildId();
  #ends: DepartureEnds | null = null;
  #isUnderWay = false;
  /** Set while the state moves. */
  #moving: Promise<unknown> | null = null;

  constructor(deps: DepartureDeps) {
    this.#deps = deps;
  }

  connect(ends: DepartureEnds): void {
    this.#ends = ends;
  }

  /** Throws CONFLICT while this daemon is being replaced: a stop would reach neither the next one nor what runs. */
  checkStays(): void {
    if (this.#isUnderWay) throw stopLater();
  }

  /** As that of the gate. A stop waits while the state moves: until then this daemon and the next one would end the same jobs. */
  async drain(graceMs: number, cause: StopCause): Promise<Drained> {
    const { gate, moves } = this.#deps;
    while (this.#moving !== null) await this.#moving;
    const drained = gate.drain(graceMs, cause);
    // A restart that waits until the state can move is given up, and what it keeps waiting goes on.
    if (moves.next === null) for (const paused of [moves.works, moves.acts, moves.chores]) paused.resume();
    return drained;
  }

  /**
   * Throws NOT_IMPLEMENTED if sandboxes end with the daemon here or the new one is of another build, CONFLICT if this goes on already, and DAEMON_UNAVAILABLE if the new
   * daemon does not start: this one then goes on as if nothing had been asked. `path`: PATH of the new daemon; '' for that of this one.
   */
  async run(path: string): Promise<HandedOver> {
    const ends = this.#ends;
    const { heritage } = this.#deps.sandbox;
    if (ends === null || heritage === undefined || !this.#deps.isAllowed) throw cannotHandOver();
    if (this.#isUnderWay) throw underWay();
    if (this.#deps.gate.isStopping) throw stops();
    const streams = heritage.streams();
    const environment = { ...this.#deps.environment, ...(path === '' ? {} : { PATH: path }) };
    const successor = startSuccessor(this.#deps.paths, environment, streams);
    this.#isUnderWay = true;
    const { promise: said, resolve: onReady } = Promise.withResolvers<string>();
    const pair = this.#pairWith(successor, onReady);
    try {
      await successor.ready(said);
      if ((await said) !== this.#build) throw cannotHandOver();
    } catch (thrown) {
      this.#stay(successor, pair);
      throw thrown;
    }
    this.#deps.logger.info('daemon.successor_ready', { pid: successor.pid });
    return this.#handOver(successor, { pair, ends, heritage, streams });
  }

  /** Ends the new daemon, which has nothing yet: this one goes on. */
  #stay(successor: Successor, pair: Pair): void {
    pair.close();
    successor.kill();
    this.#isUnderWay = false;
  }

  #pairWith({ socket }: Successor, onReady: (build: string) => void): Pair {
    const { gate, sandbox, moves, questions, endNow } = this.#deps;
    const pair = new Pair(socket, {
      answer: (name) => Promise.reject(new Error(`the next daemon asks for ${name}`)),
      told: (name, args) => {
        const [first, why] = args as [string, WireError];
        if (name === 'ready') onReady(first);
        // Later it has the state, or will have it, and ends what runs as any daemon that stops.
        if (name === 'stops' && moves.next === null && this.#moving === null) pair.close();
        if (name === 'cancel') gate.cancel(first, unpackError(why));
        if (name === 'answerQuestion') questions.answer(args[0] as PassedAnswer);
      },
      frame(header, body) {
        if (header.re === 'lost') sandbox.heritage?.lost();
        else sandbox.heritage?.receive(header, body);
      },
      // Nothing can be answered any more.
      closed: () => moves.next !== null && endNow(),
    });
    return pair;
  }

  async #handOver(successor: Successor, leaving: Leaving): Promise<HandedOver> {
    const { gate, carried, moves, logger, endNow } = this.#deps;
    const held = gate.hold();
    let allowStarts: (() => void) | null;
    try {
      await this.#settle(held, leaving.pair);
      await moves.acts.pause();
      await moves.chores.pause();
      carried.hold();
      await this.#answered(leaving.pair);
      await moves.works.pause();
      if (gate.isStopping) throw stops();
      checkLives(leaving.pair);
      // What runs in a spawner that was started since then cannot be handed over.
      if (leaving.heritage.streams()?.[0] !== leaving.streams?.[0]) throw spawnerEnded();
      allowStarts = leaving.ends.keepStarts();
      if (allowStarts === null) throw otherStarts();
    } catch (thrown) {
      moves.works.resume();
      moves.chores.resume();
      moves.acts.resume();
      carried.goOn();
      held.goOn();
      this.#stay(successor, leaving.pair);
      throw thrown;
    }
    const moved = within(TAKE_OVER_MAX_MS, this.#move(leaving), () => {
      throw tookTooLong(TAKE_OVER_MAX_MS);
    });
    const stay = (): void => {
      this.#moving = null;
    };
    this.#moving = moved.then(stay, stay);
    try {
      const counts = await moved;
      allowStarts();
      held.leave();
      logger.info('daemon.handed_over', { pid: successor.pid, ...counts });
      return { pid: successor.pid, ...counts };
    } catch (thrown) {
      logger.error('daemon.not_handed_over', {}, thrown);
      // One of the two may have written to the state already: only a daemon that starts afresh can say what became of the calls.
      successor.kill();
      endNow();
      throw thrown;
    }
  }

  async #move(leaving: Leaving): Promise<Omit<HandedOver, 'pid'>> {
    const { carried, moves, logger, leaveLog } = this.#deps;
    const { ends, pair } = leaving;
    moves.leaving.abort();
    // One that had not stopped would write beside the next daemon: before this time is over, the move has failed.
    await stopParts(ends.background, logger, TAKE_OVER_MAX_MS);
    ends.leaveDoors();
    const state = await this.#collect(leaving);
    await ends.flush();
    await moves.database.pause();
    await ends.database.stop();
    leaveLog();
    await pair.ask('takeOver', state);
    moves.next = pair;
    moves.database.leave(pair);
    moves.works.leave(pair);
    moves.acts.leave();
    void this.#endAfter(carried.own, ends);
    return { calls: state.calls.length, jobs: state.jobs.jobs.filter(({ run }) => run !== null).length };
  }

  /**
   * Waits until each call is in step 5 or has ended. One that waits for a person, or takes long before step 5, is taken back and sent to
   * the next daemon. Throws CONFLICT if one does not end, and DAEMON_UNAVAILABLE if the next daemon does.
   */
  async #settle(held: Held, pair: Pair): Promise<void> {
    const { gate, carried, clock, drainMs } = this.#deps;
    const isSettled = (): boolean => gate.running().every(({ request }) => carried.has(request.requestId));
    if (await this.#becomes(isSettled, clock.monotonic() + drainMs, pair)) return;
    held.withdraw((requestId) => carried.hasBegun(requestId));
    if (!(await this.#becomes(isSettled, clock.monotonic() + ANSWER_MAX_MS, pair))) throw answersLate(ANSWER_MAX_MS);
  }

  /** Waits until no call has an outcome and no answer. Throws as `#settle`. */
  async #answered(pair: Pair): Promise<void> {
    const { carried, clock } = this.#deps;
    const until = clock.monotonic() + ANSWER_MAX_MS;
    if (!(await this.#becomes(() => !carried.isAnswering, until, pair))) throw answersLate(ANSWER_MAX_MS);
  }

  /** False if it is not the case in time. `until`: on the monotonic clock. */
  async #becomes(isTrue: () => boolean, until: number, pair: Pair): Promise<boolean> {
    for (;;) {
      checkLives(pair);
      if (this.#deps.gate.isStopping) throw stops();
      if (isTrue()) return true;
      if (this.#deps.clock.monotonic() >= until) return false;
      await delay(LOOK_MS);
    }
  }

  async #collect({ pair, heritage, streams }: Leaving): Promise<HandedState> {
    const { sandbox, runner, scrubber, jobs, undo, branches, network, carried, passing } = this.#deps;
    const calls = carried.leave((requestId, outcome) => finish(pair, requestId, outcome));
    let left: JobsState | null = null;
    const leaveJobs = async (): Promise<readonly number[]> => {
      left = await jobs.leave();
      return left.jobs.flatMap(({ run }) => run ?? []);
    };
    // What a person does, such as undo, may be under way too.
    const isBusy = calls.length > 0 || jobs.running().length > 0 || heritage.isBusy;
    const spawner = isBusy && streams !== null ? await heritage.leave(pair, leaveJobs) : null;
    const jobsState = left ?? (await jobs.leave());
    if (spawner === null) {
      await runner.stop();
      await sandbox.stop();
    }
    return {
      vaults: await scrubber.vaults(),
      calls,
      jobs: jobsState,
      undo: await undo.leave(),
      branches: branches.leave(),
      spawner,
      hasStreams: streams !== null,
      network: network.leave((scope) => pair.tell('introduce', scope)),
      passing: passing.leave(),
    };
  }

  async #endAfter(own: readonly string[], { earlierGone }: DepartureEnds): Promise<void> {
    await this.#deps.gate.ended(own);
    await earlierGone;
    this.#deps.requestStop(0, 'restart');
  }
}

/** The answer of the next daemon. Never settles if that is gone, because this process ends then. */
async function finish(pair: Pair, requestId: string, outcome: CarriedOutcome): Promise<CallAnswer> {
  try {
    return await pair.ask<CallAnswer>('finish', requestId, outcome);
  } catch (thrown) {
    if (pair.isClosed) return new Promise(() => {});
    throw thrown;
  }
}

/** Nothing has moved yet. */
function checkLives(pair: Pair): void {
  if (pair.isClosed) throw notStarted('it ended before it took over');
}
