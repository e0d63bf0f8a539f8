import type { CallAnswer, CallRequest, Dispatch } from '../call/request.ts';
import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { RunFacts } from '../runner/call-facts.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import { readView } from '../tokens/views/read-view.ts';
import { type CallRecord, type CallRecordDeps, createCallRecord } from './audit.ts';
import { type AuthorizeDeps, authorize } from './authorize.ts';
import type { CallBranches } from './branch.ts';
import { type BudgetDeps, budget, budgetPage, turnedAway, withoutText } from './budget.ts';
import {
  addKnown,
  type Call,
  EMPTY_OUTCOME,
  failedOutcome,
  type KnownParts,
  type RawOutcome,
  type VerifiedCall,
} from './call.ts';
import { identify } from './identify.ts';
import { literalTokens, type OpenSecretsDeps, openSecrets } from './open-secrets.ts';
import { openCursor, openPage, type PageDeps } from './page.ts';
import { unrecorded } from './refuse.ts';
import { withRefusedHosts } from './refused-hosts.ts';
import { type RunDeps, run } from './run.ts';
import { type ScrubbedOutcome, type ScrubDeps, scrub, withheld } from './scrub.ts';
import { type StoreDeps, store } from './store.ts';
import type { Budgeted } from './tally.ts';
import * as text from './text/budget-text.ts';
import { refusalBudget, type VerifyDeps, verify } from './verify.ts';

export interface DispatchDeps
  extends VerifyDeps,
    Omit<AuthorizeDeps, 'config' | 'scrubber'>,
    Omit<RunDeps, 'config'>,
    CallRecordDeps,
    Omit<BudgetDeps, 'config'>,
    Omit<text.TextDeps, 'config'>,
    ScrubDeps,
    StoreDeps,
    PageDeps {
  config: AuthorizeDeps['config'] & RunDeps['config'] & OpenSecretsDeps['config'] & BudgetDeps['config'];
  liveSessions: Pick<LiveSessions, 'idFor' | 'touch'>;
  branches: CallBranches;
  findings: SessionFindings;
  clock: Clock;
  logger: Logger;
}

/** What was set aside or refused for a session without a call of its own, by jobs. */
interface SessionFindings {
  /** What the next answer reports: what its call itself found, and what waits. */
  report(session: SessionRef, own: Findings): Findings;
}

type Findings = Pick<RawOutcome, 'quarantined' | 'denied'>;

/** Carries a call from any door through the nine steps (design §3). Any step may end it; every answer passes scrub and audit. */
export function createDispatch(deps: DispatchDeps): Dispatch {
  return async (request: CallRequest): Promise<CallAnswer> => {
    const times = createStepTimes(deps.clock);
    const call = identify(request, deps); //                                         1 identify
    times.end('identify');
    const answer = await answerCall(call, times, deps);
    deps.logger.debug('call.answered', { request_id: call.requestId, ...request.principal, ...times.fields() });
    return answer;
  };
}

async function answerCall(call: Call, times: StepTimes, deps: DispatchDeps): Promise<CallAnswer> {
  const record = createCallRecord(call, deps);
  let budgeted: Budgeted;
  let outcome: ScrubbedOutcome;
  let raw: RawOutcome = EMPTY_OUTCOME;
  const isText = call.request.form === 'text';
  try {
    const verified = await times.of('verify', verify(call, deps)); //                2 verify
    record.enter(verified.session);
    const { continuation, isViewAsked } = verified.options;
    if (continuation !== null && !isViewAsked) {
      const page = await times.of('store', openPage(verified, continuation, deps));
      const shown = addKnown(EMPTY_OUTCOME, { facts: { shows: page.artifactId } });
      outcome = await scrubOrWithhold(call, shown, times, deps);
      budgeted = await (isText ? text.budgetPageText(verified, page, deps) : budgetPage(verified, page, deps));
    } else {
      raw =
        continuation === null
          ? await carryOut(verified, times, record, deps)
          : await showEarlier(verified, continuation, deps);
      raw = { ...raw, ...deps.findings.report(call.session, raw) };
      outcome = await scrubOrWithhold(call, raw, times, deps); //                   6 scrub
      const viewed = withStandardView(verified, raw.facts);
      const stored = await times.of('store', store(viewed, outcome, deps)); //            7 store
      const answering = isText ? text.budgetText : budget;
      budgeted = await times.of('budget', answering(viewed, outcome, stored, deps)); //  8 budget
      const warning = deps.branches.warning(verified.session, budgeted.tally.tokensReturned);
      if (warning !== null) {
        outcome = { ...outcome, warnings: [...outcome.warnings, warning] };
        budgeted = await times.of('budget', answering(viewed, outcome, stored, deps));
      }
      await times.of('store', stored?.committed ?? Promise.resolve());
    }
  } catch (thrown) {
    const failed = failedOutcome(reported(call, thrown, deps), knownOf(raw));
    outcome = await scrubOrWithhold(call, failed, times, deps);
    budgeted = answerWithoutText(call, outcome, deps);
  }
  times.end('budget');
  return times.of('audit', recorded(call, outcome, budgeted, record, deps)); //      9 audit
}

/** The view that the tool chose, if the caller chose none. */
function withStandardView(call: VerifiedCall, { standardView }: RawOutcome['facts']): VerifiedCall {
  if (standardView === null || call.options.isViewAsked) return call;
  return { ...call, options: { ...call.options, view: readView(standardView) } };
}

/** Always returns an answer: without one the call would not be recorded. */
function answerWithoutText(call: Call, outcome: ScrubbedOutcome, deps: DispatchDeps): Budgeted {
  const { counter } = deps;
  const isText = call.request.form === 'text';
  try {
    const maxTokens = refusalBudget(call, deps);
    if (isText) return text.withoutText({ outcome, maxTokens, counter });
    return withoutText(call.requestId, outcome, maxTokens, counter);
  } catch (thrown) {
    const why = reported(call, thrown, deps);
    return isText ? text.turnedAway(why, withheld(why), counter) : turnedAway(call.requestId, why, counter);
  }
}

/** What the record keeps of a run even if its output could not be stored or cut. */
function knownOf({ quarantined, denied, connections, fileChanges, tokenNotes, facts }: RawOutcome): KnownParts {
  return {
    quarantined,
    denied,
    connections,
    fileChanges,
    tokenNotes,
    facts: { ...facts, shows: null, droppedBytes: 0 },
  };
}

/** A different view of the output that a cursor points into. */
async function showEarlier(call: VerifiedCall, continuation: string, deps: DispatchDeps): Promise<RawOutcome> {
  const { artifactId } = await openCursor(call, continuation, deps);
  return addKnown(EMPTY_OUTCOME, { facts: { shows: artifactId } });
}

/** Steps 3 to 5. A failure here is an outcome too, so it is scrubbed, stored and recorded like any other. */
async function carryOut(
  call: VerifiedCall,
  times: StepTimes,
  record: CallRecord,
  deps: DispatchDeps,
): Promise<RawOutcome> {
  let known: KnownParts = {};
  const keep = (parts: KnownParts): void => {
    known = addKnown(known, parts);
  };
  const keepFacts = ({ quarantined, denied, connections, fileChanges, ...facts }: RunFacts): void =>
    keep({ quarantined, denied, connections, fileChanges, facts });
  try {
    const permit = await times.of('authorize', authorize(call, deps)); //            3 authorize
    if (call.options.dryRun) return { ...EMPTY_OUTCOME, data: permit.report };
    const secrets = openSecrets(call, deps); //                                      4 open secrets
    keep({ facts: { secretsOpened: secrets.opened }, tokenNotes: literalTokens(call, deps.scrubber) });
    times.end('open_secrets');
    await times.of('journal', record.begin(call.tool.manifest.name));
    const release = await times.of('slot', deps.slots.take(call.request.signal));
    try {
      const outcome = await times.of('run', run(call, secrets, permit.isolation, deps, keepFacts)); // 5 run
      return withRefusedHosts(addKnown(outcome, known));
    } finally {
      release();
    }
  } catch (thrown) {
    return withRefusedHosts(failedOutcome(reported(call, thrown, deps), known));
  }
}

async function scrubOrWithhold(
  call: Call,
  outcome: RawOutcome,
  times: StepTimes,
  deps: DispatchDeps,
): Promise<ScrubbedOutcome> {
  try {
    const started = deps.clock.monotonic();
    const scrubbed = await times.of('scrub', scrub(call, outcome, deps));
    return { ...scrubbed, scrubMs: Math.round((deps.clock.monotonic() - started) * 10) / 10 };
  } catch (thrown) {
    return withheld(reported(call, thrown, deps), outcome);
  }
}

/** No record, no answer: the withheld answer is not described either, since the description would go unrecorded. */
async function recorded(
  call: Call,
  outcome: ScrubbedOutcome,
  budgeted: Budgeted,
  record: CallRecord,
  deps: DispatchDeps,
): Promise<CallAnswer> {
  try {
    await record.end(outcome, budgeted);
    return budgeted.answer;
  } catch (thrown) {
    const failure = unrecorded(reported(call, thrown, deps));
    const refused = { ...withheld(failure), failure };
    return answerWithoutText(call, refused, deps).answer;
  }
}

/** Logs the cause. The answer carries only the code and the message. */
function reported(call: Call, thrown: unknown, deps: DispatchDeps): ContextdError {
  const failure = ContextdError.from(thrown);
  if (failure.cause !== undefined || failure.code === 'INTERNAL_ERROR') {
    deps.logger.warn('call.failed', {
      request_id: call.requestId,
      code: failure.code,
      cause: describe(failure.cause ?? thrown),
    });
  }
  return failure;
}

function describe(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
}

/** The time that each step of one call takes, for the debug log and the benchmark. */
interface StepTimes {
  /** Adds the time since the last measurement to `step`. */
  end(step: string): void;
  /** Awaits `work` and adds its time to `step`, whether it succeeds or fails. */
  of<T>(step: string, work: Promise<T>): Promise<T>;
  fields(): Record<string, number>;
}

function createStepTimes(clock: Clock): StepTimes {
  const spent: Record<string, number> = {};
  let last = clock.monotonic();
  const end = (step: string): void => {
    const now = clock.monotonic();
    spent[`${step}_us`] = (spent[`${step}_us`] ?? 0) + Math.round((now - last) * 1000);
    last = now;
  };
  return {
    end,
    async of(step, work) {
      try {
        return await work;
      } finally {
        end(step);
      }
    },
    fields: () => spent,
  };
}
