import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { PassedAnswer } from '../../call/passing.ts';
import type { CallAnswer } from '../../call/request.ts';
import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { packError } from '../../core/wire-error.ts';
import { failedOutcome, type RawOutcome } from '../../dispatch/call.ts';
import {
  type CarriedCall,
  type CarriedCalls,
  type CarriedOutcome,
  left,
  packOutcome,
  unpackOutcome,
} from '../../dispatch/carried-call.ts';
import type { InheritableSandbox } from '../../sandbox/contract/heritage.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { Branches } from '../branches/branches.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { IntroducedScope, Network } from '../network/network.ts';
import type { CallGate } from '../shared/call-gate.ts';
import type { PassedRequests } from '../upstreams/passed-requests.ts';
import { buildId } from './build-id.ts';
import type { HandedState } from './handed-state.ts';
import type { Moves } from './moves.ts';
import { Pair } from './pair.ts';
import type { RelocatedUndo } from './relocated-parts.ts';
import { PAIR_FD } from './successor.ts';

export interface ArrivalParts {
  sandbox: Pick<InheritableSandbox, 'heritage'>;
  scrubber: Pick<Scrubber, 'restore'>;
  network: Pick<Network, 'adopt' | 'introduce'>;
  passing: Pick<PassedRequests, 'adopt'>;
  callUndo: Pick<RelocatedUndo, 'adopt' | 'cutShort'>;
  branches: Pick<Branches, 'adopt'>;
  jobs: Pick<Jobs, 'adopt'>;
  gate: Pick<CallGate, 'resume'>;
  carried: CarriedCalls;
  moves: Moves;
  questions: { adopt(earlier: (answer: PassedAnswer) => void): void };
  /** The daemon before says that a caller of a service no longer waits. */
  serviceCancelled(key: string): void;
}

interface Expected {
  settle(outcome: RawOutcome): void;
  /** Ends the call here without an answer or a record. */
  drop(why: unknown): void;
  readonly answer: Promise<CallAnswer>;
  /** True once its outcome is here, whichever daemon answers it. */
  isSettled: boolean;
}

/** The daemon before, which has started this one and hands over its state and its calls. */
export class Arrival {
  /** Settles when the daemon before is gone. */
  readonly gone: Promise<void>;
  readonly #pair: Pair;
  readonly #taken = Promise.withResolvers<HandedState>();
  readonly #adopted = Promise.withResolvers<void>();
  readonly #done = Promise.withResolvers<void>();
  readonly #calls = new Map<string, Expected>();
  readonly #build = buildId();
  #state: HandedState | null = null;
  #parts: ArrivalParts | null = null;
  /** What arrived before the state was adopted, in order. */
  #early: (() => void)[] | null = [];
  #isGone = false;

  /** `socket`: of the pair. Default: the descriptor that the daemon before has passed on. */
  constructor(socket: Duplex = new Socket({ fd: PAIR_FD, readable: true, writable: true })) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    this.#taken.promise.catch(() => {});
    this.#done.promise.catch(() => {});
    this.#pair = new Pair(socket, {
      answer: (name, args) => this.#answer(name, args),
      told: (name, args) => this.#told(name, args),
      frame: (header, body) => this.#frame(header, body),
      closed: () => {
        this.#taken.reject(new ContextdError('INTERRUPTED', 'the daemon before ended before it handed over its state'));
        resolve();
        this.#isGone = true;
        void this.#lost();
      },
    });
  }

  /** Says that this daemon is ready, and waits for the state. Throws INTERRUPTED if the daemon before is gone. */
  async receive(): Promise<HandedState> {
    this.#pair.tell('ready', this.#build);
    this.#state = await this.#taken.promise;
    return this.#state;
  }

  /** Call if this daemon is asked to stop: without the state it need not start, and the daemon before goes on. */
  stops(): void {
    this.#pair.tell('stops');
  }

  /** Hashes of the bundles whose tools run. Call before `adopt`. */
  get bundles(): string[] {
    return (this.#state?.calls ?? []).map(({ tool }) => tool.sha256);
  }

  /** Ids of the calls and jobs that go on. Call before `adopt`. */
  get live(): string[] {
    const { calls, jobs } = this.#state ?? { calls: [], jobs: { jobs: [] } };
    return [
      ...calls.map(({ request }) => request.requestId),
      ...jobs.jobs.flatMap(({ spec, end }) => (end === null ? [spec.id] : [])),
    ];
  }

  /** Call before anything is started in a sandbox. False if there is no spawner to go on with. */
  adoptSpawner({ heritage }: Pick<InheritableSandbox, 'heritage'>): boolean {
    const { spawner = null, hasStreams = false } = this.#state ?? {};
    if (heritage !== undefined && spawner === null && hasStreams) heritage.disown();
    if (heritage === undefined || spawner === null) return false;
    heritage.adopt(spawner, this.#pair);
    return true;
  }

  /** Call once the stores have started, and before the doors open. */
  adopt(parts: ArrivalParts): void {
    const state = this.#state;
    if (state === null) return;
    this.#parts = parts;
    parts.scrubber.restore(state.vaults);
    parts.network.adopt(state.network);
    parts.passing.adopt(state.passing);
    parts.callUndo.adopt(state.undo);
    parts.jobs.adopt(state.jobs);
    parts.questions.adopt((answer) => this.#pair.tell('answerQuestion', answer));
    for (const carried of state.calls) {
      const { promise: outcome, resolve: settle, reject: drop } = Promise.withResolvers<RawOutcome>();
      outcome.catch(() => {});
      const { requestId } = carried.request;
      const cancel = (why: unknown): void => this.#pair.tell('cancel', requestId, packError(why));
      parts.carried.arrive({ carried, outcome, cancel });
      const release = parts.branches.adopt(requestId, state.branches, filesOf(carried));
      const request = { ...carried.request, signal: new AbortController().signal };
      const answer = parts.gate.resume(request, carried.call.receivedAt);
      answer.then(release, release);
      this.#calls.set(requestId, { settle, drop, answer, isSettled: false });
    }
    // It may hold many megabytes of output.
    this.#state = null;
    this.#adopted.resolve();
    const early = this.#early ?? [];
    this.#early = null;
    for (const take of early) take();
    if (this.#isGone) void this.#lost();
  }

  /** Call when the doors are open. */
  done(): void {
    this.#done.resolve();
  }

  /** Call if this daemon could not start. */
  failed(why: unknown): void {
    this.#done.reject(why);
  }

  #answer(name: string, args: readonly unknown[]): Promise<unknown> {
    if (name === 'takeOver') {
      this.#taken.resolve(args[0] as HandedState);
      return this.#done.promise;
    }
    if (name === 'finish') return this.#finish(...(args as [string, CarriedOutcome]));
    return this.#serve(name, args);
  }

  /** In the order in which it arrives: a cancellation comes after what it cancels. */
  #serve(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#early === null)
      return this.#parts?.moves.works.serve(name, args) ?? Promise.reject(new Error('no parts'));
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#early.push(() => resolve(this.#serve(name, args)));
    return promise;
  }

  async #finish(requestId: string, outcome: CarriedOutcome): Promise<CallAnswer> {
    // It may have ended while the state was on its way.
    await this.#adopted.promise;
    const expected = this.#calls.get(requestId);
    if (expected === undefined) throw new Error('the call is unknown');
    return this.#settle(requestId, expected, outcome);
  }

  /** The answer of the next daemon if the call was passed on, otherwise that of this one. */
  async #settle(requestId: string, expected: Expected, outcome: CarriedOutcome): Promise<CallAnswer> {
    expected.isSettled = true;
    try {
      const passed = (await this.#parts?.carried.passOn(requestId, outcome)) ?? null;
      if (passed === null) expected.settle(unpackOutcome(outcome));
      else expected.drop(left());
      return passed ?? (await expected.answer);
    } catch (thrown) {
      expected.drop(thrown);
      throw thrown;
    } finally {
      this.#calls.delete(requestId);
    }
  }

  #told(name: string, args: readonly unknown[]): void {
    if (this.#early !== null) {
      this.#early.push(() => this.#told(name, args));
      return;
    }
    if (name === 'introduce') this.#parts?.network.introduce(args[0] as IntroducedScope);
    if (name === 'cancelService') this.#parts?.serviceCancelled(String(args[0]));
  }

  #frame(header: JsonObject, body: Buffer): void {
    if (this.#early !== null) this.#early.push(() => this.#frame(header, body));
    else this.#parts?.sandbox.heritage?.pass(header, body);
  }

  /** The daemon before is gone, and with it the calls that it had not finished. Called again by `adopt` if that came too early. */
  async #lost(): Promise<void> {
    if (this.#early !== null) return;
    await this.#parts?.sandbox.heritage?.forget();
    for (const [requestId, expected] of this.#calls) if (!expected.isSettled) void this.#cutShort(requestId, expected);
  }

  /** The caller is gone with the daemon before, so that the answer is only recorded. */
  async #cutShort(requestId: string, expected: Expected): Promise<void> {
    expected.isSettled = true;
    const fileChanges = (await this.#parts?.callUndo.cutShort(requestId).catch(() => null)) ?? null;
    await this.#settle(requestId, expected, packOutcome(failedOutcome(cutShort(), { fileChanges }))).catch(() => {});
  }
}

/** A call that ends its branch works on the files of another. */
function filesOf({ call, tool }: CarriedCall): Pick<SessionRef, 'branch'> {
  return tool.manifest.effects.session === 'return' ? { branch: null } : call.session;
}

function cutShort(): ContextdError {
  return new ContextdError('INTERRUPTED', 'the daemon that ran the call ended before the call had', {
    remedy: 'Check what it was to do before you call again.',
    details: { stopped_by: 'crash' },
  });
}
