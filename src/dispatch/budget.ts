import type { CallAnswer } from '../call/request.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import {
  type Envelope,
  type EnvelopeMeta,
  exitCodeOf,
  failureEnvelope,
  successEnvelope,
  warningDetail,
} from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';
import { missingLines } from '../core/gap.ts';
import type { Json } from '../core/json.ts';
import type { Cursors } from '../stores/cursors.ts';
import { fitCut, fitToBudget, fitWhole, shownStreams } from '../tokens/budget.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import type { BudgetOutput } from '../tokens/fit.ts';
import { type ByteRange, renderLine } from '../tokens/line.ts';
import { fitPage } from '../tokens/page.ts';
import { addKnown, type VerifiedCall } from './call.ts';
import type { Page } from './page.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import { hashOf, type StoredOutput, storeDerived } from './store.ts';
import { type Tally, tallyOf } from './tally.ts';
import { type ShownOutput, type ViewDeps, viewOutput } from './view/view-output.ts';

export interface BudgetDeps extends ViewDeps {
  counter: TokenCounter;
  cursors: Cursors;
  clock: Clock;
  config: ViewDeps['config'] & Pick<Config, 'budget'>;
}

/** An answer and its cost. */
export interface Budgeted {
  answer: CallAnswer;
  tally: Tally;
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
  return { answer: answer(output.line, outcome.failure), tally: tallyOf(output, stored) };
}

/** A digest is JSON, so it is not cut. It is made again at these scales until it fits. */
const DIGEST_SCALES = [0.6, 0.35, 0.2];

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
  const scales = call.options.view.name === 'digest' ? DIGEST_SCALES : [];
  let shown = await viewOutput(call, outcome, stored, deps);
  let fitting = input(shown);
  let whole = fitWhole(deps.counter, fitting);
  for (const scale of scales) {
    if (whole !== null) break;
    shown = await viewOutput(call, outcome, stored, deps, scale);
    fitting = input(shown);
    whole = fitWhole(deps.counter, fitting);
  }
  if (whole !== null) return whole;
  const kept = shown.derived === null ? stored : await storeDerived(call, stored, shown.derived, deps);
  let hash: string | undefined;
  return fitCut(deps.counter, {
    ...fitting,
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
  return { answer: answer(output.line, null), tally: tallyOf(output, 'page') };
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
  return { answer: answer(output.line, outcome.failure), tally: tallyOf(output, null) };
}

/** Makes the answer to a call that does not reach dispatch. It repeats nothing of the caller's text. */
export function turnedAway(requestId: string, why: ContextdError, counter: TokenCounter): Budgeted {
  const meta: EnvelopeMeta = { version: 'response-v2', request_id: requestId };
  const output = renderLine(counter, failureEnvelope({ error: why, meta }));
  if (output === null) throw new Error('a line without a limit was over it');
  return { answer: answer(output.line, why), tally: tallyOf({ ...output, omitted: [] }, null) };
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
  return { ...envelope, data, refs: [stored.artifactId], meta };
}

/** The missing lines of each text, as `12-900`. */
function droppedLines({ streams }: StoredOutput): Pick<EnvelopeMeta, 'dropped_lines'> {
  const entries = streams.flatMap(({ field, gap }) => (gap === undefined ? [] : [[field, missingLines(gap)] as const]));
  return entries.length === 0 ? {} : { dropped_lines: Object.fromEntries(entries) };
}

function telemetryOf(durationMs: number, { facts, scrubMs }: ScrubbedOutcome): NonNullable<EnvelopeMeta['telemetry']> {
  return {
    duration_ms: Math.round(durationMs * 10) / 10,
    ...(facts.runMs === null ? {} : { run_ms: facts.runMs }),
    ...(scrubMs === undefined ? {} : { scrub_ms: scrubMs }),
  };
}

function factsEnvelope(requestId: string, outcome: ScrubbedOutcome): Envelope {
  const parts = { data: outcome.data, meta: metaOf(requestId, outcome) };
  return outcome.failure === null ? successEnvelope(parts) : failureEnvelope({ ...parts, error: outcome.failure });
}

/** Leaves out optional keys that are empty, because an agent pays for each. */
function metaOf(requestId: string, outcome: ScrubbedOutcome): EnvelopeMeta {
  const { denied, facts } = outcome;
  const { droppedBytes, isolationMissing } = facts;
  const warnings = [...outcome.warnings, ...quarantineWarnings(outcome.quarantined)];
  return {
    version: 'response-v2',
    request_id: requestId,
    ...(droppedBytes > 0 ? { content_fidelity: 'partial' as const, dropped_bytes: droppedBytes } : {}),
    ...(isolationMissing.length > 0 ? { isolation: { level: 'reduced' as const, missing: isolationMissing } } : {}),
    ...(denied.length > 0 ? { denied } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(facts.searchComplete ? {} : { warning_details: [warningDetail('PARTIAL_FAILURE', SEARCH_GOES_ON)] }),
    ...rateLimitOf(outcome.failure),
  };
}

const SEARCH_GOES_ON =
  'The search for files that would run on the host is not complete yet. The next answer reports what it still finds.';

/** Up to this many paths get a warning each. */
const WARNED_MAX = 5;
/** Paths that the shared warning names if there are more. */
const NAMED_MAX = 3;

/** Warns about files of the call that the host would have run later; they were renamed. */
function quarantineWarnings(quarantined: ScrubbedOutcome['quarantined']): string[] {
  if (quarantined.length <= WARNED_MAX) {
    return quarantined.map(
      ({ path, id, reason }) => `${path} was set aside: ${reason}. A person can allow it: ctxd quarantine accept ${id}`,
    );
  }
  const named = quarantined.slice(0, NAMED_MAX).map(({ path }) => path);
  return [
    `${quarantined.length} paths were set aside, such as ${named.join(', ')}: programs on the host would run or trust them. A person can allow them: ctxd quarantine list`,
  ];
}

function rateLimitOf(failure: ContextdError | null): Pick<EnvelopeMeta, 'rate_limit'> {
  if (failure?.code !== 'RATE_LIMITED' || typeof failure.details.limit !== 'number') return {};
  return { rate_limit: { limit: failure.details.limit, remaining: 0, retry_after_ms: failure.retryAfterMs ?? 0 } };
}

function sealed(
  call: VerifiedCall,
  { artifactId, revision }: Pick<StoredOutput, 'artifactId' | 'revision'>,
  ranges: readonly ByteRange[],
  deps: BudgetDeps,
): string {
  return deps.cursors.seal(call.session, { artifactId, revision, ranges });
}

function noCursor(): string {
  throw new Error('an answer without text was cut');
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
