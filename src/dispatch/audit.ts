import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { ERROR_TABLE, type ErrorCode } from '../core/errors.ts';
import { isJsonObject, type Json } from '../core/json.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { AuditLog } from '../stores/audit.ts';
import type { Call } from './call.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import type { Tally } from './tally.ts';

export interface AuditDeps {
  auditLog: AuditLog;
  scrubber: Scrubber;
  clock: Clock;
}

/** Characters that the log keeps of one string of an input: enough to know what was done, never a 10 MB file. */
const KEPT_CHARS = 2_048;

/** Openings told one by one in a record. */
const OPENED_MAX = 1_000;

/** What the caller is told, and what it cost. */
export interface Told {
  line: string;
  tally: Tally;
}

/** Step 9: one record for every outcome. AUDIT_FAILED when it cannot be written: no record, no answer. */
export async function audit(
  call: Call,
  outcome: ScrubbedOutcome,
  { line, tally }: Told,
  deps: AuditDeps,
): Promise<void> {
  const errorCode = outcome.failure?.code ?? null;
  await deps.auditLog.append({
    time: new Date(call.receivedAt).toISOString(),
    request_id: call.requestId,
    session: deps.scrubber.maskText(call.sessionId),
    project: call.request.projectRoot,
    door: call.request.door,
    tool: deps.scrubber.maskText(call.request.tool).slice(0, 100),
    input: recordedInput(call.request.inputJson, deps.scrubber),
    output_sha256: createHash('sha256').update(line).digest('hex'),
    output_bytes: Buffer.byteLength(line),
    duration_ms: Math.round((deps.clock.monotonic() - call.startedAt) * 10) / 10,
    secrets_found: outcome.secrets.length,
    secret_rules: [...new Set(outcome.secrets.map((secret) => secret.rule))],
    ...(outcome.missedByFirstPass > 0 ? { missed_by_first_pass: outcome.missedByFirstPass } : {}),
    ...(outcome.secretsOpened.length > 0 ? { secrets_opened: openedOf(outcome, deps.scrubber) } : {}),
    exit_code: exitCodeOf(outcome, errorCode),
    error_code: errorCode,
    ...(outcome.scrubMs === undefined ? {} : { scrub_ms: outcome.scrubMs }),
    ...talliedOf(tally),
    ...(outcome.runMs === null ? {} : { run_ms: outcome.runMs }),
    ...(outcome.hostCalls.total > 0 ? { host_calls: hostCallsOf(outcome) } : {}),
    ...(outcome.quarantined.length > 0 ? { quarantined: outcome.quarantined.map((one) => ({ ...one })) } : {}),
    ...(outcome.searchComplete ? {} : { search_incomplete: true }),
    ...(outcome.denied.length > 0 ? { denied: outcome.denied.map((denial) => ({ ...denial })) } : {}),
    ...(outcome.isolationMissing.length > 0 ? { isolation_missing: outcome.isolationMissing } : {}),
  });
}

function talliedOf(tally: Tally) {
  const { tokensReturned, tokensRun, isEstimate, hasArtifact, isFollowUp, isTruncated } = tally;
  return {
    tokens_returned: tokensReturned,
    ...(tokensRun === null ? {} : { tokens_run: tokensRun }),
    ...(isEstimate ? { tokens_estimated: true } : {}),
    ...(hasArtifact ? { artifact: true } : {}),
    ...(isFollowUp ? { follow_up: true } : {}),
    ...(isTruncated ? { truncated: true } : {}),
  };
}

/** Every token that became its value, up to a thousand; an input's name may be the caller's own text. */
function openedOf({ secretsOpened }: ScrubbedOutcome, scrubber: Scrubber): Json {
  return secretsOpened
    .slice(0, OPENED_MAX)
    .map(({ token, input, use }) => ({ token, input: kept(input, scrubber), use }));
}

/** The first hundred requests to ToolHost, and how many there were. */
function hostCallsOf({ hostCalls }: ScrubbedOutcome): Json {
  return { total: hostCalls.total, calls: hostCalls.calls.map((call) => ({ ...call })) };
}

/** The input as it came, its tokens still tokens; as text when it is not JSON, or nested beyond reason. */
function recordedInput(bytes: Buffer, scrubber: Scrubber): Json {
  const text = bytes.toString('utf8');
  try {
    return masked(JSON.parse(text), scrubber);
  } catch {
    return kept(text, scrubber);
  }
}

function masked(value: Json, scrubber: Scrubber): Json {
  if (typeof value === 'string') return kept(value, scrubber);
  if (Array.isArray(value)) return value.map((inner) => masked(inner, scrubber));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [kept(key, scrubber), masked(inner, scrubber)]),
  );
}

/** Masked before it is cut, since a cut secret is one that no pattern knows; `maskText` cuts what is far too long. */
function kept(text: string, scrubber: Scrubber): string {
  const safe = scrubber.maskText(text);
  return safe.length <= KEPT_CHARS ? safe : `${safe.slice(0, KEPT_CHARS)}… (${text.length} characters)`;
}

function exitCodeOf(outcome: ScrubbedOutcome, errorCode: ErrorCode | null): number | null {
  const own = outcome.data.exit_code;
  if (typeof own === 'number') return own;
  return errorCode === null ? 0 : ERROR_TABLE[errorCode].exitCode;
}
