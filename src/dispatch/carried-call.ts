import type { StartFacts } from '../audit/log.ts';
import type { ApprovalRecord, CommandRuleRecord } from '../call/outcome.ts';
import type { CallAnswer, CallRequest } from '../call/request.ts';
import type { CatalogTool } from '../catalog/catalog.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { packError, unpackError, type WireError } from '../core/wire-error.ts';
import type { CallRecord } from './audit.ts';
import type { Permit } from './authorize.ts';
import type { RawOutcome, VerifiedCall } from './call.ts';
import { CallState } from './call-state.ts';
import type { OpenedInput } from './open-secrets.ts';
import { reasonOf } from './slots.ts';
import { createStepTimes } from './step-times.ts';

type PlainRequest = Omit<CallRequest, 'signal' | 'onProgress' | 'passed' | 'isAskedAgain'>;

/** A call in step 5, as plain data: what the steps after it need to know of the steps before. */
export interface CarriedCall {
  /** As the door received it. */
  readonly request: PlainRequest;
  /** Differs for a call that executes another tool. */
  readonly ofTool: PlainRequest;
  readonly call: Omit<VerifiedCall, 'request' | 'startedAt' | 'tool' | 'artifacts'> & {
    readonly elapsedMs: number;
    /** When that was: milliseconds since the epoch. */
    readonly atMs: number;
  };
  readonly tool: Omit<CatalogTool, 'arguments'> & {
    readonly arguments: Pick<CatalogTool['arguments'], 'names' | 'deprecated' | 'primary' | 'refusesTokens'>;
  };
  readonly permit: Permit;
  readonly opened: OpenedInput;
  readonly start: StartFacts;
  readonly approvals: readonly ApprovalRecord[];
  readonly commandRules: readonly CommandRuleRecord[];
  readonly policyHash: string;
}

/** What came out of step 5, as plain data. */
export type CarriedOutcome = Omit<RawOutcome, 'failure' | 'early'> & { readonly failure: WireError | null };

/** A call of the daemon before, which goes on there until step 5 is over. */
export interface ArrivingCall {
  readonly carried: CarriedCall;
  /** Its outcome; INTERRUPTED if that daemon is gone. */
  readonly outcome: Promise<RawOutcome>;
  cancel(why: unknown): void;
}

/**
 * The calls that outlive their daemon. The daemon that began a call takes it through step 5, because the process of the tool speaks
 * to it. The next one scrubs, stores and records what came out.
 */
export class CarriedCalls {
  readonly #clock: Clock;
  /** From the begin of step 5 until this daemon takes step 6, or until the next daemon has answered. */
  readonly #running = new Map<string, CallState>();
  readonly #arriving = new Map<string, ArrivingCall>();
  /** Calls of earlier daemons that are in step 5 there. */
  readonly #expected = new Map<string, CarriedCall>();
  /** Calls that this daemon takes through the steps after step 5. */
  readonly #answering = new Map<string, CallState>();
  #held: PromiseWithResolvers<void> | null = null;
  #finish: Finish | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the call is in step 5. */
  has(requestId: string): boolean {
    return this.#running.has(requestId) || this.#expected.has(requestId);
  }

  /** Whether the call has begun step 5, so that its caller must not send it again. */
  hasBegun(requestId: string): boolean {
    return this.has(requestId) || this.#answering.has(requestId);
  }

  /** True if a call whose step 5 is over has no answer yet. */
  get isAnswering(): boolean {
    return this.#answering.size > 0;
  }

  /** The calls in step 5 of this daemon. */
  get own(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Call when a call begins step 5. Throws if it was cancelled or the next daemon takes over: then nothing may run. */
  began(state: CallState): void {
    const { signal } = state.request;
    if (signal.aborted) throw reasonOf(signal);
    if (this.#finish !== null) throw left();
    this.#running.set(state.call.requestId, state);
  }

  /** Keeps every call in step 5 there, even if its outcome is known, until `goOn` or `leave` is called. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  /** This daemon answers its calls, as before `hold`. */
  goOn(): void {
    const held = this.#held;
    this.#held = null;
    held?.resolve();
  }

  /** Leaves the calls in step 5 to the next daemon, which answers them once `finish` gave it the outcome. */
  leave(finish: Finish): CarriedCall[] {
    this.#finish = finish;
    const calls = [...[...this.#running.values()].map((state) => pack(state, this.#clock)), ...this.#expected.values()];
    this.goOn();
    return calls;
  }

  /** Call after step 5, with the outcome. Null if this daemon answers the call. */
  async ended(state: CallState): Promise<CallAnswer | null> {
    const { requestId } = state.call;
    if (this.#answering.get(requestId) === state) return null;
    if (this.#running.get(requestId) !== state) {
      // The next daemon does not know it. Its caller was sent there.
      if (this.#finish !== null) throw left();
      return null;
    }
    try {
      const answer = await this.passOn(requestId, packOutcome(state.from('run')));
      if (answer === null) this.#answering.set(requestId, state);
      return answer;
    } finally {
      this.#running.delete(requestId);
    }
  }

  /** Call with the outcome of a call of an earlier daemon. Null if this daemon answers the call. */
  async passOn(requestId: string, outcome: CarriedOutcome): Promise<CallAnswer | null> {
    while (this.#held !== null) await this.#held.promise;
    return this.#finish === null ? null : this.#finish(requestId, outcome);
  }

  /** Call when a call has its answer. */
  answered(state: CallState): void {
    const { requestId } = state.request;
    if (this.#answering.get(requestId) === state) this.#answering.delete(requestId);
  }

  /** Call before the call is dispatched. */
  arrive(call: ArrivingCall): void {
    this.#arriving.set(call.carried.request.requestId, call);
  }

  /** The call of the daemon before with this id. Can be taken once. */
  take(requestId: string): ArrivingCall | null {
    const call = this.#arriving.get(requestId) ?? null;
    if (call === null) return null;
    this.#arriving.delete(requestId);
    this.#expected.set(requestId, call.carried);
    return call;
  }

  /** Call when the outcome of a call that was taken is here. */
  arrived(state: CallState): void {
    const { requestId } = state.request;
    this.#expected.delete(requestId);
    this.#answering.set(requestId, state);
  }
}

/** Gives the outcome of step 5 to the daemon that answers the call. */
type Finish = (requestId: string, outcome: CarriedOutcome) => Promise<CallAnswer>;

export function left(): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', 'contextd is being restarted', { remedy: 'Call again.' });
}

export function packOutcome({ failure, early: _early, ...outcome }: RawOutcome): CarriedOutcome {
  return { ...outcome, failure: failure === null ? null : packError(failure) };
}

export function unpackOutcome({ failure, ...outcome }: CarriedOutcome): RawOutcome {
  return { ...outcome, early: null, failure: failure === null ? null : unpackError(failure) };
}

function pack(state: CallState, clock: Clock): CarriedCall {
  const { request: ofTool, startedAt, tool, artifacts: _artifacts, ...call } = state.from('verify');
  const { names, deprecated, primary, refusesTokens } = tool.arguments;
  return {
    request: plain(state.request),
    ofTool: plain(ofTool),
    call: { ...call, elapsedMs: clock.monotonic() - startedAt, atMs: clock.now() },
    tool: { ...tool, arguments: { names, deprecated, primary, refusesTokens } },
    permit: state.from('authorize'),
    opened: state.from('open_secrets'),
    start: state.record.start,
    approvals: state.approvals,
    commandRules: state.commandRules,
    policyHash: state.policyHash,
  };
}

/** A call that was asked for again goes on as the call that it is: nothing must look it up by its id. */
function plain({ signal: _s, onProgress: _o, passed: _p, isAskedAgain: _i, ...request }: CallRequest): PlainRequest {
  return request;
}

/** The state of a carried call after step 5. */
export async function arrived(
  { carried, outcome, cancel }: ArrivingCall,
  request: CallRequest,
  record: CallRecord,
  clock: Clock,
): Promise<CallState> {
  const state = new CallState(request, record, createStepTimes(clock));
  const { elapsedMs, atMs, ...known } = carried.call;
  // The two daemons have no clock in common but that of the day, which may have gone back.
  const movedMs = Math.max(0, clock.now() - atMs);
  const call = { ...known, startedAt: clock.monotonic() - elapsedMs - movedMs, artifacts: new Map<string, string>() };
  const tool = { ...carried.tool, arguments: { ...carried.tool.arguments, secretInputs: [], check() {} } };
  state.keep('identify', { ...call, request });
  state.keep('verify', { ...call, tool, request: { ...carried.ofTool, signal: request.signal } });
  state.keep('authorize', carried.permit);
  state.keep('open_secrets', carried.opened);
  state.approvals.push(...carried.approvals);
  state.commandRules = carried.commandRules;
  state.policyHash = carried.policyHash;
  record.resume(carried.start);
  const onAbort = (): void => cancel(request.signal.reason);
  request.signal.addEventListener('abort', onAbort, { once: true });
  state.keep('run', await outcome);
  request.signal.removeEventListener('abort', onAbort);
  return state;
}
