import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { CallAnswer, CallRequest, Dispatch } from '../server/door.ts';
import type { Journal } from '../stores/journal.ts';
import { type AuditDeps, audit } from './audit.ts';
import { type AuthorizeDeps, authorize } from './authorize.ts';
import { type BudgetDeps, budget, budgetPage, refusal } from './budget.ts';
import { type Call, EMPTY_OUTCOME, failedOutcome, type KnownFacts, type Outcome, type VerifiedCall } from './call.ts';
import { identify } from './identify.ts';
import { literalTokens, type OpenSecretsDeps, openSecrets } from './open-secrets.ts';
import { openPage, type PageDeps } from './page.ts';
import { type RunDeps, run } from './run.ts';
import { type ScrubbedOutcome, type ScrubDeps, scrub, withheld } from './scrub.ts';
import { createStepTimes, type StepTimes } from './step-times.ts';
import { store } from './store.ts';
import { type VerifyDeps, verify } from './verify.ts';

export interface DispatchDeps
  extends VerifyDeps,
    Omit<AuthorizeDeps, 'config'>,
    Omit<RunDeps, 'config'>,
    AuditDeps,
    BudgetDeps,
    ScrubDeps,
    PageDeps {
  config: AuthorizeDeps['config'] & RunDeps['config'] & OpenSecretsDeps['config'];
  journal: Journal;
  clock: Clock;
  logger: Logger;
}

/** The life of a call, for every door (design §3). Each step may end it; every way out passes scrub and audit. */
export function createDispatch(deps: DispatchDeps): Dispatch {
  return async (request: CallRequest): Promise<CallAnswer> => {
    const times = createStepTimes(deps.clock);
    const call = identify(request, deps.clock); //                                   1 identify
    times.end('identify');
    const answer = await answerCall(call, times, deps);
    deps.logger.debug('call.answered', { request_id: call.requestId, ...times.fields() });
    return answer;
  };
}

async function answerCall(call: Call, times: StepTimes, deps: DispatchDeps): Promise<CallAnswer> {
  let answer: CallAnswer;
  let outcome: ScrubbedOutcome;
  try {
    const verified = await times.of('verify', verify(call, deps)); //                2 verify
    if (verified.options.continuation !== null) {
      const page = await times.of('store', openPage(verified, verified.options.continuation, deps));
      outcome = await scrubOrWithhold(call, EMPTY_OUTCOME, times, deps);
      answer = budgetPage(verified, page, deps);
    } else {
      outcome = await scrubOrWithhold(call, await carryOut(verified, times, deps), times, deps); // 6 scrub
      const artifactId = await times.of('store', store(verified, outcome, deps)); //      7 store
      answer = budget(verified, outcome, artifactId, deps); //                       8 budget
    }
  } catch (thrown) {
    outcome = await scrubOrWithhold(call, failedOutcome(reported(call, thrown, deps)), times, deps);
    answer = refusal(call.requestId, outcome, deps.counter);
  }
  times.end('budget');
  return times.of('audit', recorded(call, outcome, answer, deps)); //                9 audit
}

/** Steps 3 to 5. What fails here is an outcome too, so that it is scrubbed, stored and recorded like any other. */
async function carryOut(call: VerifiedCall, times: StepTimes, deps: DispatchDeps): Promise<Outcome> {
  let facts: KnownFacts = {};
  const keepFacts = (told: KnownFacts): void => {
    facts = { ...facts, ...told };
  };
  try {
    const permit = await times.of('authorize', authorize(call, deps)); //            3 authorize
    if (call.options.dryRun) return { ...EMPTY_OUTCOME, data: permit.report };
    const { input, opened } = openSecrets(call, deps); //                            4 open secrets
    keepFacts({ secretsOpened: opened, tokenNotes: literalTokens(call, deps.scrubber) });
    times.end('open_secrets');
    await times.of(
      'journal',
      deps.journal.begin({ requestId: call.requestId, tool: call.tool.manifest.name, sessionKey: call.sessionKey }),
    );
    const giveBack = await times.of('slot', deps.slots.take(call.request.signal));
    try {
      const outcome = await times.of('run', run(call, input, permit.isolation, deps, keepFacts)); // 5 run
      return { ...outcome, ...facts };
    } finally {
      giveBack();
    }
  } catch (thrown) {
    return failedOutcome(reported(call, thrown, deps), facts);
  }
}

async function scrubOrWithhold(
  call: Call,
  outcome: Outcome,
  times: StepTimes,
  deps: DispatchDeps,
): Promise<ScrubbedOutcome> {
  try {
    const started = deps.clock.monotonic();
    const scrubbed = await times.of('scrub', scrub(call, outcome, deps));
    return { ...scrubbed, scrubMs: Math.round((deps.clock.monotonic() - started) * 10) / 10 };
  } catch (thrown) {
    return withheld(reported(call, thrown, deps));
  }
}

/** No record, no answer. What the answer would have been is not told: it would be an unrecorded answer. */
async function recorded(
  call: Call,
  outcome: ScrubbedOutcome,
  answer: CallAnswer,
  deps: DispatchDeps,
): Promise<CallAnswer> {
  try {
    await audit(call, outcome, answer.line, deps);
    await deps.journal.finish(call.requestId, outcome.failure?.code ?? null);
    return answer;
  } catch (thrown) {
    const failure = reported(call, thrown, deps);
    const code = failure.code === 'STORAGE_FULL' ? 'STORAGE_FULL' : 'AUDIT_FAILED';
    const unrecorded = new ContextdError(code, 'the call could not be recorded, so its answer is withheld', {
      remedy: failure.remedy ?? 'Free disk space or mend the state directory, then see `ctxd doctor`.',
      cause: failure,
    });
    return refusal(call.requestId, { ...withheld(unrecorded), failure: unrecorded }, deps.counter);
  }
}

/** The log keeps the cause; the answer gets the code and the sentence. */
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
