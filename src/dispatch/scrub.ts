import { TOOL_NAME_PATTERN } from '../catalog/manifest.ts';
import { ContextdError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { isJsonObject } from '../core/json.ts';
import { collectLeaves } from '../scrub/leaves.ts';
import type { Scrubber, SecretUse } from '../scrub/scrubber.ts';
import type { TextMargin, ToolStream } from '../sdk/tool.ts';
import type { Call, Outcome } from './call.ts';
import { tokensToMask } from './open-secrets.ts';
import type { SecondSearch } from './second-search.ts';

/** An outcome in which nothing is left to hide. Only this type reaches the stores, the budget and the audit log. */
export interface ScrubbedOutcome {
  data: JsonObject;
  streams: readonly ToolStream[];
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
 * Step 6, second pass: every string that leaves, over raw strings before JSON is made. The values come in the order
 * the tool's process scanned them, {data, streams}, then what dispatch added. It fails closed: no scrub, no output.
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
  } satisfies JsonObject;
  const first = await scrubber.scrub(call.sessionKey, leaving, {
    firstPass: outcome.firstPass,
    margins: marginsOf(outcome),
    ...(TOOL_NAME_PATTERN.test(call.request.tool) ? { tool: call.request.tool } : {}),
    opened: tokensToMask(outcome.secretsOpened),
  });
  const { value, secrets } = await searchAgain(call, first, { scrubber, secondSearch });
  return {
    data: value.data,
    streams: value.streams,
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
async function searchAgain<T extends JsonObject>(
  { sessionKey }: Call,
  first: { value: T; secrets: readonly SecretUse[] },
  { scrubber, secondSearch }: ScrubDeps,
): Promise<{ value: T; secrets: readonly SecretUse[] }> {
  const missed = await secondSearch.missedIn(collectLeaves(first.value));
  if (missed.length === 0) return first;
  const { value, secrets } = await scrubber.scrubAgain(sessionKey, first.value, missed);
  const known = new Set(first.secrets.map(({ token }) => token));
  return { value, secrets: [...first.secrets, ...secrets.filter(({ token }) => !known.has(token))] };
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

/** The answer when scrubbing itself failed: fixed words only, nothing of the outcome. */
export function withheld(failure: ContextdError): ScrubbedOutcome {
  return {
    data: {},
    streams: [],
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
    hostCalls: { calls: [], total: 0 },
    shows: null,
    runMs: null,
    droppedBytes: 0,
    isolationMissing: [],
    secretsOpened: [],
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
