import type { CallAnswer } from '../call/request.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import {
  type Envelope,
  type EnvelopeMeta,
  failureEnvelope,
  successEnvelope,
  type WarningDetail,
} from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Cursors } from '../stores/cursors.ts';
import { fitCut, fitToBudget, fitWhole, shownStreams } from '../tokens/budget.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import { essentialsOf, fitData as fitCutData, fitDataPage } from '../tokens/data/fit-data.ts';
import type { Archive, BudgetOutput } from '../tokens/fit.ts';
import { type ByteRange, renderLine } from '../tokens/line.ts';
import { fitPage } from '../tokens/page.ts';
import { droppedLines, metaOf, refsOf } from './answer-meta.ts';
import { addFacts, type VerifiedCall } from './call.ts';
import { exitStatusOf, failureLine } from './exit-status.ts';
import type { Page } from './page.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import { sealed } from './seal.ts';
import { hashOf, type StoredOutput, storeDerived } from './store.ts';
import {
  type DataStoreDeps,
  isDataViewed,
  type KeptData,
  placed,
  storeData,
  storedData,
  withoutData,
} from './store-data.ts';
import { type Budgeted, tallyOf } from './tally.ts';
import { fitView } from './view/fit-view.ts';
import { fallbackWarning, type ShownOutput, type ViewDeps } from './view/view-output.ts';

export interface BudgetDeps extends ViewDeps, DataStoreDeps {
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
  const { counter } = deps;
  const done = ({ output, kept }: Fitted): Budgeted => ({
    answer: answer(output.line, outcome),
    tally: tallyOf(counter, output, kept),
  });
  if (stored === null) return done(await fitData(call, outcome, deps));
  const data = call.options.view.name === 'head_tail' ? storedData(stored) : null;
  if (data === null) return done(await fitAnswer(call, outcome, withoutData(stored, call), deps));
  const envelope = factsEnvelope(call.requestId, outcome);
  const output = cutData(call, { ...envelope, data: data.value }, { ...stored, data: data.stream }, deps);
  return done({ output, kept: stored });
}

interface Fitted {
  output: BudgetOutput;
  /** Null if nothing was stored. */
  kept: StoredOutput | null;
}

/** An answer that is only `data`. Stored only if it does not fit or a view of it was asked for. */
async function fitData(call: VerifiedCall, outcome: ScrubbedOutcome, deps: BudgetDeps): Promise<Fitted> {
  const envelope = withEmptyTexts(factsEnvelope(call.requestId, outcome), outcome);
  const isViewed = isDataViewed(call, outcome);
  const whole = (given: Envelope): BudgetOutput | null =>
    fitWhole(deps.counter, { envelope: given, streams: [], budgetTokens: call.options.maxTokens });
  const output = isViewed ? null : whole(envelope);
  if (output !== null) return { output, kept: null };
  const kept = await storeData(call, envelope.data, null, deps);
  if (!isViewed) return { output: cutData(call, envelope, kept, deps), kept };
  try {
    const facts = { ...outcome, data: essentialsOf(outcome.data) };
    const viewed = await fitAnswer(call, facts, { ...kept, isEarlier: true }, deps);
    return { output: viewed.output, kept };
  } catch (thrown) {
    const warned = withWarning(envelope, fallbackWarning(thrown));
    return { output: whole(warned) ?? cutData(call, warned, kept, deps), kept };
  }
}

/** `data`, cut between its items unless it fits. */
function cutData(call: VerifiedCall, envelope: Envelope, kept: KeptData, deps: BudgetDeps): BudgetOutput {
  const given = { ...envelope, refs: [kept.artifactId, ...envelope.refs] };
  const budgetTokens = call.options.maxTokens;
  return (
    fitWhole(deps.counter, { envelope: given, streams: [], budgetTokens }) ??
    fitCutData(deps.counter, {
      envelope: given,
      stored: placed(kept),
      budgetTokens,
      archive: archiveOf(kept),
      cursorFor: (ranges) => sealed(call, kept, ranges, deps, true),
    })
  );
}

/** Stores the texts of a view only if they do not fit: a cursor must then point into them. */
async function fitAnswer(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  stored: StoredOutput,
  deps: BudgetDeps,
): Promise<Fitted> {
  const budgetTokens = call.options.maxTokens;
  const input = (shown: ShownOutput) => ({
    envelope: envelopeOf(call, outcome, stored, shown, deps),
    streams: shownStreams(shown.streams, budgetTokens),
    budgetTokens,
  });
  const { shown, whole } = await fitView(call, outcome, stored, deps, (it) => fitWhole(deps.counter, input(it)));
  if (whole !== null) return { output: whole, kept: stored };
  const texts = shown.derived === null ? stored : await storeDerived(call, stored, shown.derived, deps);
  const { data } = factsEnvelope(call.requestId, outcome);
  const isLong = deps.counter.count(JSON.stringify(data), budgetTokens / 2) === Number.POSITIVE_INFINITY;
  const kept = isLong ? await storeData(call, data, texts, deps) : { ...texts, data: null };
  const output = fitCut(deps.counter, {
    ...input(shown),
    data: kept.data === null ? null : placed({ ...kept, data: kept.data }),
    archive: archiveOf(kept),
    cursorFor: (ranges) => sealed(call, kept, ranges, deps, isLong),
  });
  return { output, kept: stored };
}

function archiveOf({ artifactId, streams }: StoredOutput): Archive {
  let hash: string | undefined;
  return {
    id: artifactId,
    bytes: streams.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
    hash: () => {
      hash ??= `sha256:${hashOf(streams)}`;
      return hash;
    },
  };
}

/** Makes the answer for the next page of a stored artifact. */
export function budgetPage(call: VerifiedCall, page: Page, deps: BudgetDeps): Budgeted {
  const meta: EnvelopeMeta = { version: 'response-v2', request_id: call.requestId };
  const envelope = successEnvelope({ data: {}, refs: [page.artifactId], meta });
  const { ranges, segments, data: stored } = page;
  const input = { envelope, ranges, budgetTokens: call.options.maxTokens };
  const cursorFor = (isJson: boolean) => (left: readonly ByteRange[]) => sealed(call, page, left, deps, isJson);
  const output =
    (stored === null ? null : fitDataPage(deps.counter, { ...input, stored, cursorFor: cursorFor(true) })) ??
    fitPage(deps.counter, { ...input, segments, cursorFor: cursorFor(page.isJson && stored === null) });
  return { answer: answer(output.line, { failure: null, data: {} }), tally: tallyOf(deps.counter, output, 'page') };
}

/** Makes an answer without storing anything, such as a refusal. */
export function withoutText(
  requestId: string,
  outcome: ScrubbedOutcome,
  budgetTokens: number,
  counter: TokenCounter,
): Budgeted {
  const envelope = withEmptyTexts(factsEnvelope(requestId, outcome), outcome);
  const output = fitToBudget(counter, { envelope, streams: [], budgetTokens, archive: null, cursorFor: noCursor });
  return { answer: answer(output.line, outcome), tally: tallyOf(counter, output, null) };
}

/** Makes the answer to a call that never reaches dispatch. It repeats no caller text. */
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
  const envelope = factsEnvelope(requestId, addFacts(outcome, { droppedBytes: stored.droppedBytes }));
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

function withEmptyTexts(envelope: Envelope, { streams }: ScrubbedOutcome): Envelope {
  return { ...envelope, data: { ...envelope.data, ...Object.fromEntries(streams.map(({ field }) => [field, ''])) } };
}

function withWarning(envelope: Envelope, warning: WarningDetail): Envelope {
  const details = [...(envelope.meta.warning_details ?? []), warning];
  return { ...envelope, meta: { ...envelope.meta, warning_details: details } };
}

function noCursor(): string {
  throw new Error('an answer without text was cut');
}

function answer(line: string, outcome: Pick<ScrubbedOutcome, 'failure' | 'data'>): CallAnswer {
  return { line, exitCode: exitStatusOf(outcome), errorLine: failureLine(outcome) };
}
