import { parseToolName } from '../catalog/tool-name.ts';
import { ContextdError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { isJsonObject } from '../core/json.ts';
import { collectLeaves } from '../scrub/leaves.ts';
import type { Scrubber, SecretUse } from '../scrub/scrubber.ts';
import type { TextMargin, ToolStream } from '../sdk/tool.ts';
import { type Call, EMPTY_OUTCOME, type Outcome } from './call.ts';
import { tokensToMask } from './open-secrets.ts';
import { type Leaving, type NamedBy, ownLeaves } from './own-leaves.ts';
import type { SecondSearch } from './second-search.ts';

/** An outcome in which nothing is left to hide. Only this type reaches the stores, the budget and the audit log. */
export interface ScrubbedOutcome {
  data: JsonObject;
  streams: readonly ToolStream[];
  namedBy: NamedBy;
  failure: ContextdError | null;
  warnings: readonly string[];
  denied: Outcome['denied'];
  quarantined: Outcome['quarantined'];
  searchComplete: Outcome['searchComplete'];
  hostCalls: Outcome['hostCalls'];
  shows: Outcome['shows'];
  runMs: Outcome['runMs'];
  droppedBytes: number;
  isolationMissing: readonly string[];
  secretsOpened: Outcome['secretsOpened'];
  secrets: readonly SecretUse[];
  missedByFirstPass: number;
  /** Milliseconds of the search; absent when nothing was searched. */
  scrubMs?: number;
}

export interface ScrubDeps {
  scrubber: Scrubber;
  secondSearch: SecondSearch;
}

/**
 * Step 6, second pass: every string that leaves, over raw strings before JSON is made, all but contextd's own names.
 * The values come in the order the tool's process scanned them, {data, streams}, then what dispatch added. It fails
 * closed: no scrub, no output.
 */
export async function scrub(
  call: Call,
  outcome: Outcome,
  { scrubber, secondSearch }: ScrubDeps,
): Promise<ScrubbedOutcome> {
  const { failure } = outcome;
  const leaving = {
    data: outcome.data,
    streams: outcome.streams.map(({ field, text }) => ({ field, text })),
    failure:
      failure === null
        ? null
        : { message: failure.message, remedy: failure.remedy ?? null, details: toJson(failure.details) },
    warnings: outcome.warnings,
    denied: outcome.denied.map((denial) => ({ ...denial })),
    quarantined: outcome.quarantined.map((setAside) => ({ ...setAside })),
  } satisfies Leaving;
  const first = await scrubber.scrub(call.sessionKey, leaving, {
    firstPass: outcome.firstPass,
    margins: marginsOf(outcome),
    ...(parseToolName(call.request.tool) === null ? {} : { tool: call.request.tool }),
    opened: tokensToMask(outcome.secretsOpened),
    own: ownLeaves(leaving, outcome.namedBy),
  });
  const { value, secrets } = await searchAgain(call, outcome.namedBy, first, { scrubber, secondSearch });
  return {
    data: value.data,
    streams: withUsableFields(value, outcome.streams),
    namedBy: outcome.namedBy,
    failure: failure === null || value.failure === null ? null : rebuild(failure, value.failure),
    warnings: [...value.warnings, ...outcome.tokenNotes],
    denied: value.denied,
    quarantined: value.quarantined,
    searchComplete: outcome.searchComplete,
    hostCalls: outcome.hostCalls,
    shows: outcome.shows,
    runMs: outcome.runMs,
    droppedBytes: outcome.droppedBytes,
    isolationMissing: outcome.isolationMissing,
    secretsOpened: outcome.secretsOpened,
    secrets,
    missedByFirstPass: first.missedByFirstPass,
  };
}

/** What gitleaks still finds is masked too, and known from then on. */
async function searchAgain<T extends Leaving>(
  { sessionKey }: Call,
  namedBy: NamedBy,
  first: { value: T; secrets: readonly SecretUse[] },
  { scrubber, secondSearch }: ScrubDeps,
): Promise<{ value: T; secrets: readonly SecretUse[] }> {
  // Not the positions of before: a key that was masked may stand at another place.
  const own = ownLeaves(first.value, namedBy);
  const missed = await secondSearch.missedIn(
    collectLeaves(first.value).map((text, position) => (own.has(position) ? '' : text)),
  );
  if (missed.length === 0) return first;
  const { value, secrets } = await scrubber.scrubAgain(sessionKey, first.value, missed, own);
  const known = new Set(first.secrets.map(({ token }) => token));
  return { value, secrets: [...first.secrets, ...secrets.filter(({ token }) => !known.has(token))] };
}

/**
 * The field of a stream names a text in `data`, in refs and cursors, where a token cannot stand: one in which a secret
 * was found becomes `text_1`, `text_2` and so on.
 */
function withUsableFields(
  { data, streams }: Pick<Leaving, 'data' | 'streams'>,
  given: Outcome['streams'],
): ToolStream[] {
  const taken = new Set([...Object.keys(data), ...given.map(({ field }) => field)]);
  let number = 0;
  const next = (): string => {
    do number += 1;
    while (taken.has(`text_${number}`));
    return `text_${number}`;
  };
  return streams.map(({ field, text }, position) => ({
    field: field === given[position]?.field ? field : next(),
    text,
  }));
}

/** By the leaves of `leaving`: those of data come first, then per stream "field", its name, "text" and the text. */
function marginsOf({ data, streams }: Outcome): Map<number, TextMargin> {
  const margins = new Map<number, TextMargin>();
  if (streams.every(({ margin }) => margin === undefined)) return margins;
  const firstText = collectLeaves({ data, streams: [] }).length + 3;
  for (const [position, { margin }] of streams.entries())
    if (margin !== undefined) margins.set(firstText + 4 * position, margin);
  return margins;
}

/**
 * The answer when scrubbing itself failed: fixed words only. Of the outcome it keeps what contextd counted and named
 * itself, for the record; no text that a tool or a command chose.
 */
export function withheld(failure: ContextdError, outcome: Outcome = EMPTY_OUTCOME): ScrubbedOutcome {
  const { hostCalls, runMs, isolationMissing, secretsOpened } = outcome;
  return {
    data: {},
    streams: [],
    namedBy: 'core',
    failure:
      failure.code === 'SCRUB_FAILED'
        ? failure
        : new ContextdError('SCRUB_FAILED', 'the output was withheld because it could not be searched for secrets', {
            remedy: 'Call again; if it stays, see `ctxd server logs`.',
            cause: failure,
          }),
    warnings: [],
    denied: [],
    quarantined: [],
    searchComplete: true,
    hostCalls,
    shows: null,
    runMs,
    droppedBytes: 0,
    isolationMissing,
    secretsOpened,
    secrets: [],
    missedByFirstPass: 0,
  };
}

function rebuild(
  original: ContextdError,
  parts: { message: string; remedy: string | null; details: Json },
): ContextdError {
  return new ContextdError(original.code, parts.message, {
    ...(parts.remedy === null ? {} : { remedy: parts.remedy }),
    ...(isJsonObject(parts.details) ? { details: parts.details } : {}),
    ...(original.retryAfterMs === undefined ? {} : { retryAfterMs: original.retryAfterMs }),
  });
}

/** Details are plain facts by convention; whatever is not JSON does not leave. */
function toJson(details: Readonly<Record<string, unknown>>): Json {
  const value: unknown = JSON.parse(JSON.stringify(details));
  return isJsonObject(value) ? value : {};
}
