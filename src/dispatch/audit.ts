import { createHash } from 'node:crypto';
import type { AuditLog, AuditRecord, StartFacts } from '../audit/log.ts';
import { recordOfFacts } from '../call/fact-operations.ts';
import type { CallRequest } from '../call/request.ts';
import type { Catalog, CatalogTool } from '../catalog/catalog.ts';
import type { Clock } from '../core/clock.ts';
import { ERROR_TABLE, type ErrorCode } from '../core/errors.ts';
import { isJsonObject, type Json } from '../core/json.ts';
import { freeKey } from '../scrub/leaves.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { CallSeal, CallSeals } from '../stores/call-seals.ts';
import type { Journal } from '../stores/journal.ts';
import type { RecordedCall } from '../stores/recorded-call.ts';
import type { CallBranches } from './branch.ts';
import type { Call, VerifiedCall } from './call.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import type { Budgeted, Tally } from './tally.ts';

export interface AuditDeps {
  auditLog: AuditLog;
  catalog: Catalog;
  scrubber: Scrubber;
  clock: Clock;
}

/** Maximum characters logged of one input string: enough to see what was done, but never a 10 MB file. */
const KEPT_CHARS = 2_048;

/** Maximum characters logged of a whole input. */
const INPUT_MAX_CHARS = 65_536;

/** The answer as sent, and its cost. */
export type Told = Budgeted;

/** The fields of a record that are known before the call runs. */
export function startFacts(call: Call | VerifiedCall, deps: AuditDeps): StartFacts {
  const { request, requestId, session, receivedAt } = call;
  const tool = knownTool(call, deps);
  const via = 'execution' in call ? call.execution?.via : undefined;
  return {
    time: new Date(receivedAt).toISOString(),
    request_id: requestId,
    session: deps.scrubber.maskText(session.session),
    ...(session.branch === null ? {} : { branch: session.branch }),
    project: request.projectRoot,
    ...(request.cwd === '' ? {} : { cwd: kept(request.cwd, deps.scrubber) }),
    door: request.principal.door,
    ...('token' in request.principal ? { token: request.principal.token } : {}),
    tool: recordedTool(call, deps),
    ...(tool === undefined ? {} : { effect: tool.manifest.effects.session }),
    ...(via === undefined ? {} : { via }),
    input: recordedInput(request, tool, deps),
  };
}

/** Undefined if no tool has the name that the caller gave. */
function knownTool(call: Call | VerifiedCall, { catalog }: AuditDeps): CatalogTool | undefined {
  return 'tool' in call ? call.tool : catalog.versions(call.request.tool)[0];
}

/** The name of an existing tool is never masked. Any other name is caller text. */
export function recordedTool(call: Call | VerifiedCall, deps: AuditDeps): string {
  return knownTool(call, deps)?.manifest.name ?? deps.scrubber.maskText(call.request.tool).slice(0, 100);
}

/** The record of a call that ended. */
export function endRecord(
  call: Call,
  start: StartFacts,
  outcome: ScrubbedOutcome,
  { answer, tally }: Told,
  deps: AuditDeps,
): AuditRecord {
  const errorCode = outcome.failure?.code ?? null;
  const { facts } = outcome;
  const keep = (text: string): string => kept(text, deps.scrubber);
  const printed = answer.text === undefined ? answer.line : answer.text.stdout + answer.text.stderr;
  return {
    ...start,
    output_sha256: createHash('sha256').update(printed).digest('hex'),
    output_bytes: Buffer.byteLength(printed),
    duration_ms: Math.round((deps.clock.monotonic() - call.startedAt) * 10) / 10,
    secrets_found: outcome.secrets.length,
    secret_rules: [...new Set(outcome.secrets.map((secret) => secret.rule))],
    ...(outcome.missedByFirstPass > 0 ? { missed_by_first_pass: outcome.missedByFirstPass } : {}),
    exit_code: exitCodeOf(outcome, errorCode),
    error_code: errorCode,
    ...(outcome.scrubMs === undefined ? {} : { scrub_ms: outcome.scrubMs }),
    ...talliedOf(tally),
    ...recordOfFacts(facts, keep),
  };
}

function talliedOf(tally: Tally) {
  const { tokensReturned, tokensRun, isEstimate, artifact, isFollowUp, isTruncated } = tally;
  return {
    tokens_returned: tokensReturned,
    ...(tokensRun === null ? {} : { tokens_run: tokensRun }),
    ...(isEstimate ? { tokens_estimated: true } : {}),
    ...(artifact === null ? {} : { artifact: true }),
    ...(isFollowUp ? { follow_up: true } : {}),
    ...(isTruncated ? { truncated: true } : {}),
  };
}

/** The input with its tokens unopened and plain words under their property; as text if it is not JSON or too deep. */
function recordedInput(
  { inputJson, inputText }: CallRequest,
  tool: CatalogTool | undefined,
  { scrubber }: AuditDeps,
): Json {
  const text = inputJson.toString('utf8');
  try {
    const given: Json = inputText !== null && text === '' ? {} : JSON.parse(text);
    const primary = tool?.arguments.primary ?? 'words';
    const words = inputText === null || !isJsonObject(given) ? {} : { [primary]: inputText.toString('utf8') };
    const input = masked(isJsonObject(given) ? { ...given, ...words } : given, scrubber);
    const json = JSON.stringify(input);
    return json.length <= INPUT_MAX_CHARS ? input : `${json.slice(0, INPUT_MAX_CHARS)}… (${json.length} characters)`;
  } catch {
    return kept(inputText === null ? text : `${text} ${inputText.toString('utf8')}`, scrubber);
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

/** Masks before cutting, because no pattern matches a cut secret. `maskText` itself shortens very long texts. */
function kept(text: string, scrubber: Scrubber): string {
  const safe = scrubber.maskText(text);
  return safe.length <= KEPT_CHARS ? safe : `${safe.slice(0, KEPT_CHARS)}… (${text.length} characters)`;
}

function exitCodeOf(outcome: ScrubbedOutcome, errorCode: ErrorCode | null): number | null {
  const own = outcome.data.exit_code;
  if (typeof own === 'number') return own;
  return errorCode === null ? 0 : ERROR_TABLE[errorCode].exitCode;
}

/** Records one call: in the journal while it waits for a person and runs, in the audit log permanently. */
export interface CallRecord {
  /** Call before the call waits for a person. Throws what `begin` throws: no record, no wait. */
  ask(call: VerifiedCall, rule: string): Promise<void>;
  /**
   * Call before anything runs. Throws CONFLICT if the request id was used before, and STORAGE_FULL or AUDIT_FAILED if
   * the record cannot be written: no record, no run.
   */
  begin(call: VerifiedCall): Promise<void>;
  /** What `begin` has recorded. Throws if nothing is. */
  readonly start: StartFacts;
  /** Goes on with the record of a call that began in the daemon before. */
  resume(start: StartFacts): void;
  /** Step 9: records the outcome, whatever it is. Throws AUDIT_FAILED if the record cannot be written: no record, no answer. */
  end(call: Call, outcome: ScrubbedOutcome, told: Told): Promise<void>;
}

export interface CallRecordDeps extends AuditDeps {
  journal: Pick<Journal, 'begin' | 'finish'>;
  callSeals: Pick<CallSeals, 'of'>;
  /** Called for every call that ended. Must return at once and never throw. */
  onCallEnded(call: RecordedCall): void;
  branches: Pick<CallBranches, 'charge'>;
}

function tellingFirst({ streams }: ScrubbedOutcome): string[] {
  const isErrors = ({ field }: { field: string }): boolean => field === 'stderr';
  const errors = streams.filter(isErrors);
  return [...errors, ...streams.filter((stream) => !isErrors(stream))].map(({ text }) => text);
}

/** `request`: as the door received it. */
export function createCallRecord(request: CallRequest, deps: CallRecordDeps): CallRecord {
  const { auditLog, branches, journal } = deps;
  // Of a call that is in the journal. A call that failed to begin must not end the call whose request id it reused.
  let seal: CallSeal | null = null;
  let hasAsked = false;
  let start: StartFacts | null = null;
  const enter = async ({ requestId, session, tool }: VerifiedCall): Promise<void> => {
    if (seal !== null) return;
    const made = deps.callSeals.of(request);
    await journal.begin({ requestId, tool: tool.manifest.name, session, tag: made.tag });
    seal = made;
  };
  return {
    async ask(call, rule) {
      await enter(call);
      await auditLog.ask(startFacts(call, deps), rule);
      hasAsked = true;
    },
    async begin(call) {
      await enter(call);
      const facts = startFacts(call, deps);
      await auditLog.begin(facts);
      start = facts;
    },
    get start() {
      if (start === null) throw new Error('the call has not begun');
      return start;
    },
    resume(facts) {
      seal = deps.callSeals.of(request);
      start = facts;
    },
    async end(call, outcome, told) {
      const { requestId, session } = call;
      // The input may hold secrets that only this call revealed, so it is masked again.
      const facts = start === null || outcome.secrets.length > 0 ? startFacts(call, deps) : start;
      const record = endRecord(call, facts, outcome, told, deps);
      const { artifact } = told.tally;
      deps.onCallEnded({
        session,
        record,
        artifact,
        hasRun: start !== null,
        data: outcome.data,
        shows: outcome.facts.shows,
        texts: tellingFirst(outcome),
        wasEnded: false,
      });
      const errorCode: ErrorCode | null = outcome.failure?.code ?? null;
      const { promise: written, resolve: onWritten } = Promise.withResolvers<void>();
      const recorded =
        start !== null
          ? auditLog.end(record, onWritten)
          : hasAsked
            ? auditLog.endAsked(record, onWritten)
            : auditLog.append(record, onWritten);
      // Both wait for the disk. The line is written first: a daemon that dies meanwhile leaves no answer without its record.
      const answer = seal?.seal(told.answer);
      await Promise.all([recorded, answer && written.then(() => journal.finish(requestId, errorCode, answer))]);
      if (session.branch === null) return;
      const tokens = told.tally.tokensReturned;
      await branches.charge(session, { requestId, tool: recordedTool(call, deps), tokens });
    },
  };
}
