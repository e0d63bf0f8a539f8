import type { Outcome } from '../call/outcome.ts';
import { TOOL_NAME_PATTERN } from '../catalog/manifest.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { AuditItem } from '../scrub/gitleaks/auditor.ts';
import type { MissedSecret } from '../scrub/gitleaks/missed.ts';
import { collectLeaves } from '../scrub/leaves.ts';
import type { Scrubber, SecretUse } from '../scrub/scrubber.ts';
import type { TextMargin, ToolStream } from '../sdk/tool.ts';
import { type Call, EMPTY_OUTCOME, type RawOutcome } from './call.ts';
import { tokensToMask } from './open-secrets.ts';

/** An outcome with every secret masked. Only this type reaches the stores, the budget and the audit log. */
export interface ScrubbedOutcome extends Outcome {
  readonly secrets: readonly SecretUse[];
  readonly missedByFirstPass: number;
  /** Milliseconds of the search; absent if nothing was searched. */
  readonly scrubMs?: number;
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
  outcome: RawOutcome,
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
    ...(TOOL_NAME_PATTERN.test(call.request.tool) ? { tool: call.request.tool } : {}),
    opened: tokensToMask(outcome.facts.secretsOpened),
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
    facts: outcome.facts,
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
function marginsOf({ data, streams }: Pick<Outcome, 'data' | 'streams'>): Map<number, TextMargin> {
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
export function withheld(failure: ContextdError, outcome: RawOutcome = EMPTY_OUTCOME): ScrubbedOutcome {
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
    facts: { ...outcome.facts, shows: null, droppedBytes: 0 },
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

/**
 * Property names that contextd's own code and its core tools give to facts. A rule of a project or a value of its
 * `.env` may match one; such a name is no secret, and without it the answer cannot be read. A name that is missing
 * here is searched like any text.
 */
const OWN_NAMES: ReadonlySet<string> = new Set([
  // The parts of an outcome.
  ...['failure', 'message', 'remedy', 'details', 'denied', 'quarantined', 'warnings', 'streams', 'field', 'text'],
  // A denial, and what was set aside.
  ...['kind', 'path', 'host', 'rule', 'how_to_allow', 'id'],
  // The facts of core tools, and the texts that stand beside them.
  ...['stdout', 'stderr', 'content', 'found', 'exit_code', 'ended_by', 'signal', 'files', 'etag', 'bytes', 'lines'],
  ...['matches', 'range', 'error', 'code', 'dropped_bytes', 'created', 'changed', 'replacements', 'newline', 'hunks'],
  ...['offsets', 'hunk', 'offset', 'line', 'tool'],
  // The report of a dry run.
  ...['dry_run', 'allowed', 'isolation', 'checks', 'check', 'reason', 'limit'],
  // A failure, and the details of one.
  ...['error_code', 'error_type', 'retryable', 'remediation', 'retry_after_ms', 'faults', 'pointer', 'fault'],
  ...['duration_ms', 'timeout_ms', 'size', 'minimum', 'max_chars', 'column', 'columns', 'start', 'end', 'artifact'],
  ...['token', 'workspace', 'project_root', 'method', 'grant', 'granted', 'where', 'level', 'min_isolation'],
  ...['accepted_sha256', 'found_sha256', 'expected_sha256', 'expected_etag', 'actual_etag', 'patch_line', 'edit'],
  ...['nearest_line', 'caller', 'daemon', 'pid', 'socket', 'flag', 'nearest'],
]);

/** Who chose the names in an output: the core tools are contextd's, the keys of any other tool may be the world's. */
type NamedBy = Outcome['namedBy'];

const isOwnName = (key: string): boolean => OWN_NAMES.has(key) || /^content_\d{1,2}$/.test(key);
const isNeverOwn = (): boolean => false;

/** What leaves a call, as the scrub step lays it out: the names of the parts are contextd's. */
export type Leaving = JsonObject & { data: JsonObject; streams: readonly { field: string; text: string }[] };

/**
 * Positions, in the order of `collectLeaves`, of the strings that contextd wrote itself: the names of its structures.
 * They are not searched. Keys of a tool that is not contextd's are: they may hold what the tool read.
 */
export function ownLeaves(leaving: Leaving, namedBy: NamedBy): ReadonlySet<number> {
  const walk = new LeafWalk();
  const isOwnData = namedBy === 'core' ? isOwnName : isNeverOwn;
  for (const [part, value] of Object.entries(leaving)) {
    walk.key(true);
    if (part === 'streams') for (const stream of leaving.streams) walkStream(walk, stream, namedBy);
    else walk.value(value, part === 'data' ? isOwnData : isOwnName);
  }
  return walk.own;
}

/** The same for the `data` of an answer. */
export function ownLeavesOfData(data: JsonObject, namedBy: NamedBy): ReadonlySet<number> {
  const walk = new LeafWalk();
  walk.value(data, namedBy === 'core' ? isOwnName : isNeverOwn);
  return walk.own;
}

/** The value of `field` names a text of the answer: it is as much a key as any. */
function walkStream(walk: LeafWalk, stream: Leaving['streams'][number], namedBy: NamedBy): void {
  for (const [key, value] of Object.entries(stream)) {
    walk.key(true);
    walk.key(key === 'field' && namedBy === 'core' && isOwnName(value));
  }
}

/** Counts the strings of a value as `collectLeaves` lists them. */
class LeafWalk {
  readonly own = new Set<number>();
  #position = 0;

  key(isOwn: boolean): void {
    if (isOwn) this.own.add(this.#position);
    this.#position += 1;
  }

  value(value: Json, isOwn: (key: string) => boolean): void {
    if (typeof value === 'string') this.key(false);
    else if (Array.isArray(value)) for (const item of value) this.value(item, isOwn);
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) {
        this.key(isOwn(key));
        this.value(item, isOwn);
      }
  }
}

/** The real gitleaks beside our engine. */
export interface SecondSearch {
  /**
   * Secrets that are still in scrubbed texts; none unless `scrub.gitleaks` is `always`. SCRUB_FAILED when gitleaks
   * fails or is not there: then the texts must not leave.
   */
  missedIn(texts: readonly string[]): Promise<readonly MissedSecret[]>;
  /** An output was stored. Returns at once: the search happens later, if at all. */
  stored(item: AuditItem): void;
}
