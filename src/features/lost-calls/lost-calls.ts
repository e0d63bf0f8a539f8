import { isRepeatable, type ToolEffects } from '../../call/effects.ts';
import type { CallAnswer, CallRequest, Dispatch, Refuse } from '../../call/request.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { newRequestId, timeOfRequest } from '../../core/ids.ts';
import type { Logger } from '../../core/log.ts';
import { answerOf } from '../../dispatch/refuse.ts';
import type { CallSeals } from '../../stores/call-seals.ts';
import { JOURNAL_KEPT_DAYS, type Journal } from '../../stores/journal.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import { type CutShortDeps, interruptedBy } from './interrupted.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface LostCallsDeps extends CutShortDeps {
  journal: Pick<Journal, 'find'>;
  callSeals: Pick<CallSeals, 'of'>;
  catalog: Pick<Catalog, 'versions'>;
  counter: TokenCounter;
  refuse: Refuse;
  /** Called before a call runs under another id than the one that was asked for. */
  renamed(requestId: string, to: string): void;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}

/**
 * Answers a caller that lost its connection and asks for its request id. No call with effects runs twice: one that never began
 * runs now; a finished one gets its stored answer; any other is INTERRUPTED unless it has no effects. Only the same call of the
 * same caller may ask. Of a call that is too old to be on record it is not known whether it ran.
 */
export function createLostCalls(inner: Dispatch, deps: LostCallsDeps): Dispatch {
  const running = new Map<string, { request: CallRequest; answer: Promise<CallAnswer> }>();
  const run = async (request: CallRequest): Promise<CallAnswer> => {
    const answer = inner(request);
    const { requestId } = request;
    // A second call with the same id is refused by the journal, and must not hide the first.
    if (running.has(requestId)) return answer;
    running.set(requestId, { request, answer });
    try {
      return await answer;
    } finally {
      running.delete(requestId);
    }
  };
  /** A call that may have run and is no longer on record. */
  const runUnknown = async (request: CallRequest): Promise<CallAnswer> => {
    const effects = effectsOf(request.tool, deps.catalog);
    if (effects !== null && isRepeatable(effects)) return run(request);
    return answerOf({ request, requestId: request.requestId }, unknown(request), deps.counter).answer;
  };
  return async (request) => {
    if (request.isAskedAgain !== true) return run(request);
    const { requestId } = request;
    const seal = deps.callSeals.of(request);
    const here = running.get(requestId);
    // The caller went away, which cancelled the call: its end is near.
    if (here !== undefined)
      return deps.callSeals.of(here.request).tag === seal.tag ? here.answer : deps.refuse(request, reused(requestId));
    const found = await deps.journal.find(requestId);
    if (found === null) return isForgotten(requestId, deps.clock.now()) ? runUnknown(request) : run(request);
    if (found.tag !== seal.tag) return deps.refuse(request, reused(requestId));
    const answer = found.answer === null ? null : seal.open(found.answer);
    const effects = effectsOf(found.tool, deps.catalog);
    const isRepeated = answer === null && effects !== null && isRepeatable(effects);
    deps.logger.info('call.asked_again', {
      request_id: requestId,
      is_answered: answer !== null,
      is_repeated: isRepeated,
    });
    if (answer !== null) return answer;
    // The first run is on record as INTERRUPTED.
    if (isRepeated) {
      const another = newRequestId(deps.clock.now());
      deps.renamed(requestId, another);
      return run({ ...request, requestId: another });
    }
    const why = await interruptedBy({ requestId, ...found }, effects, deps);
    return answerOf({ request, requestId }, why, deps.counter).answer;
  };
}

/** Of a core tool; null for any other, which may do what it does not say. */
function effectsOf(name: string, catalog: LostCallsDeps['catalog']): ToolEffects | null {
  const tool = catalog.versions(name).find(({ origin }) => origin === 'core');
  return tool?.manifest.effects ?? null;
}

/** True if the journal would not have the call any more if it had run. */
function isForgotten(requestId: string, nowMs: number): boolean {
  const madeMs = timeOfRequest(requestId);
  return madeMs !== null && madeMs < nowMs - JOURNAL_KEPT_DAYS * DAY_MS;
}

function unknown({ requestId, tool }: CallRequest): ContextdError {
  const kept = `calls stay on record for ${JOURNAL_KEPT_DAYS} days, and this one was made before`;
  return new ContextdError('INTERRUPTED', `it is not known whether ${tool} ran: ${kept}`, {
    remedy: `Look for ${requestId} in \`ctxd audit search\`, and check what the call was to do before you call again.`,
  });
}

function reused(requestId: string): ContextdError {
  return new ContextdError('CONFLICT', `request id ${requestId} belongs to another call`, {
    remedy: 'Ask with the message of the call itself, and give every other call a new request id.',
  });
}
