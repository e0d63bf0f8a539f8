import { createHash } from 'node:crypto';
import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../core/clock.ts';
import { ERROR_TABLE, type ErrorCode } from '../core/errors.ts';
import { isJsonObject, type Json } from '../core/json.ts';
import { freeKey } from '../scrub/leaves.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { AuditLog, AuditRecord, StartFacts } from '../stores/audit.ts';
import type { Call } from './call.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import type { Tally } from './tally.ts';

export interface AuditDeps {
  auditLog: AuditLog;
  catalog: Catalog;
  scrubber: Scrubber;
  clock: Clock;
}

/** Characters that the log keeps of one string of an input: enough to know what was done, never a 10 MB file. */
const KEPT_CHARS = 2_048;

/** Characters that the log keeps of an input, all strings together. */
const INPUT_MAX_CHARS = 65_536;

/** Openings told one by one in a record. */
const OPENED_MAX = 1_000;

/** What the caller is told, and what it cost. */
export interface Told {
  line: string;
  tally: Tally;
}

/** What is known of a call before it runs. */
export function startFacts({ request, requestId, sessionId, receivedAt }: Call, deps: AuditDeps): StartFacts {
  return {
    time: new Date(receivedAt).toISOString(),
    request_id: requestId,
    session: deps.scrubber.maskText(sessionId),
    project: request.projectRoot,
    door: request.door,
    tool: recordedTool(request.tool, deps),
    input: recordedInput(request.inputJson, deps.scrubber),
  };
}

/** The name of a tool there is stays readable, whatever a project calls a secret; any other is the caller's text. */
function recordedTool(name: string, { catalog, scrubber }: AuditDeps): string {
  const [known] = catalog.versions(name);
  return known?.manifest.name ?? scrubber.maskText(name).slice(0, 100);
}

/** The record of a call with its outcome, whatever that is. */
export function endRecord(
  call: Call,
  start: StartFacts,
  outcome: ScrubbedOutcome,
  { line, tally }: Told,
  deps: AuditDeps,
): AuditRecord {
  const errorCode = outcome.failure?.code ?? null;
  return {
    ...start,
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
  };
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
    const input = masked(JSON.parse(text), scrubber);
    const json = JSON.stringify(input);
    return json.length <= INPUT_MAX_CHARS ? input : `${json.slice(0, INPUT_MAX_CHARS)}… (${json.length} characters)`;
  } catch {
    return kept(text, scrubber);
  }
}

function masked(value: Json, scrubber: Scrubber): Json {
  if (typeof value === 'string') return kept(value, scrubber);
  if (Array.isArray(value)) return value.map((inner) => masked(inner, scrubber));
  if (!isJsonObject(value)) return value;
  const entries = new Map<string, Json>();
  for (const [key, inner] of Object.entries(value))
    entries.set(freeKey(kept(key, scrubber), entries), masked(inner, scrubber));
  return Object.fromEntries(entries);
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
