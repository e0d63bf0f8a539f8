import { type Envelope, type EnvelopeMeta, exitCodeOf, failureEnvelope, successEnvelope } from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { CallAnswer, CallRequest } from '../server/door.ts';
import type { Cursors } from '../stores/cursors.ts';
import { fitToBudget } from '../tokens/budget.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import { type ByteRange, renderLine } from '../tokens/line.ts';
import { fitPage } from '../tokens/page.ts';
import type { VerifiedCall } from './call.ts';
import type { Page } from './page.ts';
import type { ScrubbedOutcome } from './scrub.ts';

export interface BudgetDeps {
  counter: TokenCounter;
  cursors: Cursors;
}

/** Step 8: the line that is printed, within its tokens, with a cursor to what it leaves out. */
export function budget(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  artifactId: string | null,
  deps: BudgetDeps,
): CallAnswer {
  const { line } = fitToBudget(deps.counter, {
    envelope: envelopeOf(call.requestId, outcome, artifactId),
    streams: outcome.streams,
    budgetTokens: call.options.maxTokens,
    view: call.options.view,
    cursorFor: (ranges) => sealed(call, { artifactId, revision: 0 }, ranges, deps),
  });
  return answer(line, outcome.failure);
}

/** The next page of a stored artifact, which runs nothing. */
export function budgetPage(call: VerifiedCall, page: Page, deps: BudgetDeps): CallAnswer {
  const meta: EnvelopeMeta = { version: 'response-v2', request_id: call.requestId };
  const { line } = fitPage(deps.counter, {
    envelope: successEnvelope({ data: {}, refs: [page.artifactId], meta }),
    ranges: page.ranges,
    segments: page.segments,
    budgetTokens: call.options.maxTokens,
    cursorFor: (ranges) => sealed(call, page, ranges, deps),
  });
  return answer(line, null);
}

/** An answer without text to cut: a refusal. It is told whole, whatever the budget, since its remedy stands in it. */
export function refusal(requestId: string, outcome: ScrubbedOutcome, counter: TokenCounter): CallAnswer {
  const rendered = renderLine(counter, envelopeOf(requestId, outcome, null));
  return answer(rendered?.line ?? '', outcome.failure);
}

/** For a door that turns a call away before dispatch: fixed words, nothing of the caller's text. */
export function turnAway(counter: TokenCounter) {
  return (request: CallRequest, why: ContextdError): CallAnswer => {
    const meta: EnvelopeMeta = { version: 'response-v2', request_id: request.requestId };
    return answer(renderLine(counter, failureEnvelope({ error: why, meta }))?.line ?? '', why);
  };
}

function envelopeOf(requestId: string, outcome: ScrubbedOutcome, artifactId: string | null): Envelope {
  const data: Record<string, Json> = { ...outcome.data };
  for (const { field } of outcome.streams) data[field] = '';
  const parts = { data, refs: artifactId === null ? [] : [artifactId], meta: metaOf(requestId, outcome) };
  return outcome.failure === null ? successEnvelope(parts) : failureEnvelope({ ...parts, error: outcome.failure });
}

/** Optional keys are left out when empty: an agent pays for each. */
function metaOf(requestId: string, outcome: ScrubbedOutcome): EnvelopeMeta {
  const { denied, droppedBytes, isolationMissing } = outcome;
  const warnings = [...outcome.warnings, ...outcome.quarantined.map(quarantineWarning)];
  return {
    version: 'response-v2',
    request_id: requestId,
    ...(droppedBytes > 0 ? { content_fidelity: 'partial' as const, dropped_bytes: droppedBytes } : {}),
    ...(isolationMissing.length > 0 ? { isolation: { level: 'reduced' as const, missing: isolationMissing } } : {}),
    ...(denied.length > 0 ? { denied } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

/** A file that would run code on the host later was made by the call; it bears another name now. */
function quarantineWarning(path: string): string {
  return `${path} would run code outside the sandbox: it was renamed, and a person may put it back`;
}

/** Only text can be left out, and text is always stored first. */
function sealed(
  call: VerifiedCall,
  { artifactId, revision }: { artifactId: string | null; revision: number },
  ranges: readonly ByteRange[],
  deps: BudgetDeps,
): string {
  if (artifactId === null) throw new Error('an answer without an artifact was cut');
  return deps.cursors.seal(call.sessionKey, { artifactId, revision, ranges });
}

function answer(line: string, failure: ContextdError | null): CallAnswer {
  if (failure === null) return { line, exitCode: 0, errorLine: '' };
  const sentence = failure.remedy === undefined ? failure.message : `${failure.message}. ${failure.remedy}`;
  return {
    line,
    exitCode: exitCodeOf(failure.code),
    errorLine: `${failure.code}: ${sentence.replaceAll(/\s+/g, ' ')}`,
  };
}
