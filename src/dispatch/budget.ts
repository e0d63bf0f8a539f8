import type { CallAnswer } from '../call/request.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { type Envelope, type EnvelopeMeta, failureEnvelope, successEnvelope } from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { ownLine } from '../core/own-line.ts';
import type { Cursors } from '../stores/cursors.ts';
import { fitCut, fitToBudget, fitWhole, shownStreams } from '../tokens/budget.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import type { BudgetOutput } from '../tokens/fit.ts';
import { renderLine } from '../tokens/line.ts';
import { fitPage } from '../tokens/page.ts';
import { droppedLines, metaOf, refsOf } from './answer-meta.ts';
import { addKnown, type VerifiedCall } from './call.ts';
import { exitStatusOf } from './exit-status.ts';
import type { Page } from './page.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import { sealed } from './seal.ts';
import { hashOf, type StoredOutput, storeDerived } from './store.ts';
import { type Budgeted, tallyOf } from './tally.ts';
import { fitView } from './view/fit-view.ts';
import type { ShownOutput, ViewDeps } from './view/view-output.ts';

export interface BudgetDeps extends ViewDeps {
  counter: TokenCounter;
  cursors: Cursors;
  clock: Clock;
  config: ViewDeps['config'] & Pick<Config, 'budget'>;
}

/** Step 8: makes the line to print, within its token budget and with a cursor to what it leaves out. */
export async function budget(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  stored: StoredOutput | null,
  deps: BudgetDeps,
): Promise<Budgeted> {
  if (stored === null) return withoutText(call.requestId, outcome, call.options.maxTokens, deps.counter);
  const output = await fitAnswer(call, outcome, stored, deps);
  return { answer: answer(output.line, outcome), tally: tallyOf(deps.counter, output, stored) };
}

/** Stores the texts of a view only if they do not fit, because then a cursor must point into them. */
async function fitAnswer(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  stored: StoredOutput,
  deps: BudgetDeps,
): Promise<BudgetOutput> {
  const input = (shown: ShownOutput) => ({
    envelope: envelopeOf(call, outcome, stored, shown, deps),
    streams: shownStreams(shown.streams, call.options.maxTokens),
    budgetTokens: call.options.maxTokens,
  });
  const { shown, whole } = await fitView(call, outcome, stored, deps, (it) => fitWhole(deps.counter, input(it)));
  if (whole !== null) return whole;
  const kept = shown.derived === null ? stored : await storeDerived(call, stored, shown.derived, deps);
  let hash: string | undefined;
  return fitCut(deps.counter, {
    ...input(shown),
    archive: {
      id: kept.artifactId,
      bytes: kept.streams.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
      hash: () => {
        hash ??= hashOf(kept.streams);
        return hash;
      },
    },
    cursorFor: (ranges) => sealed(call, kept, ranges, deps),
  });
}

/** Makes the answer for the next page of a stored artifact. */
export function budgetPage(call: VerifiedCall, page: Page, deps: BudgetDeps): Budgeted {
  const meta: EnvelopeMeta = { version: 'response-v2', request_id: call.requestId };
  const output = fitPage(deps.counter, {
    envelope: successEnvelope({ data: {}, refs: [page.artifactId], meta }),
    ranges: page.ranges,
    segments: page.segments,
    budgetTokens: call.options.maxTokens,
    cursorFor: (ranges) => sealed(call, page, ranges, deps),
  });
  return { answer: answer(output.line, { failure: null, data: {} }), tally: tallyOf(deps.counter, output, 'page') };
}

/** Makes an answer without text: a refusal, a dry run's report, or a command that printed nothing. */
export function withoutText(
  requestId: string,
  outcome: ScrubbedOutcome,
  budgetTokens: number,
  counter: TokenCounter,
): Budgeted {
  const facts = factsEnvelope(requestId, outcome);
  const texts = Object.fromEntries(outcome.streams.map(({ field }) => [field, '']));
  const envelope = { ...facts, data: { ...facts.data, ...texts } };
  const output = fitToBudget(counter, { envelope, streams: [], budgetTokens, archive: null, cursorFor: noCursor });
  return { answer: answer(output.line, outcome), tally: tallyOf(counter, output, null) };
}

/** Makes the answer to a call that does not reach dispatch. It repeats nothing of the caller's text. */
export function turnedAway(requestId: string, why: ContextdError, counter: TokenCounter): Budgeted {
  const meta: EnvelopeMeta = { version: 'response-v2', request_id: requestId };
  const output = renderLine(counter, failureEnvelope({ error: why, meta }));
  if (output === null) throw new Error('a line without a limit was over it');
  return {
    answer: answer(output.line, { failure: why, data: {} }),
    tally: tallyOf(counter, { ...output, omitted: [] }, null),
  };
}

function envelopeOf(
  { requestId, startedAt }: VerifiedCall,
  outcome: ScrubbedOutcome,
  stored: StoredOutput,
  shown: ShownOutput,
  { clock, config }: BudgetDeps,
): Envelope {
  const envelope = factsEnvelope(requestId, addKnown(outcome, { facts: { droppedBytes: stored.droppedBytes } }));
  const data: Record<string, Json> = { ...envelope.data };
  for (const { field } of shown.streams) data[field] = '';
  const warning_details = [...(envelope.meta.warning_details ?? []), ...(shown.meta.warning_details ?? [])];
  const telemetry = config.budget.telemetry ? { telemetry: telemetryOf(clock.monotonic() - startedAt, outcome) } : {};
  const details = warning_details.length === 0 ? {} : { warning_details };
  const meta = { ...envelope.meta, ...droppedLines(stored), ...shown.meta, ...details, ...telemetry };
  return { ...envelope, data, refs: refsOf(outcome, [stored.artifactId]), meta };
}

function telemetryOf(durationMs: number, { facts, scrubMs }: ScrubbedOutcome): NonNullable<EnvelopeMeta['telemetry']> {
  return {
    duration_ms: Math.round(durationMs * 10) / 10,
    ...(facts.runMs === null ? {} : { run_ms: facts.runMs }),
    ...(scrubMs === undefined ? {} : { scrub_ms: scrubMs }),
  };
}

function factsEnvelope(requestId: string, outcome: ScrubbedOutcome): Envelope {
  const parts = { data: outcome.data, refs: refsOf(outcome, []), meta: metaOf(requestId, outcome) };
  return outcome.failure === null ? successEnvelope(parts) : failureEnvelope({ ...parts, error: outcome.failure });
}

function noCursor(): string {
  throw new Error('an answer without text was cut');
}

/** The envelope holds the error, so that the line for stderr says only whose failure it is. */
function answer(line: string, outcome: Pick<ScrubbedOutcome, 'failure' | 'data'>): CallAnswer {
  const exitCode = exitStatusOf(outcome);
  const { failure } = outcome;
  return { line, exitCode, errorLine: failure === null ? '' : ownLine(`exit ${exitCode} · ${failure.code}`) };
}
