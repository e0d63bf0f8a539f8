import { FACT_FIELDS, type FactRecord, type FieldForm } from '../call/facts.ts';
import { ERROR_TABLE } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { Line } from './lines.ts';

const KINDS = ['asked', 'started', 'secret_missed', 'connections', 'person'] as const;
/** The door of a record of what a person did. */
export const PERSON_DOOR = 'ctxd';
type AuditKind = (typeof KINDS)[number];

/** One line of the audit log (SEC-5.2, SEC-5.3). Everything in it has been scrubbed. */
export interface AuditRecord extends FactRecord {
  /** ISO 8601, UTC. */
  time: string;
  request_id: string;
  session: string;
  /** The branch of the session. Absent: its base. */
  branch?: string;
  /** Project root. */
  project: string;
  /** The directory in which the call was made, as the caller gave it. Absent: the project root. */
  cwd?: string;
  door: string;
  /** The name of the token with which the call came. Absent: another door than `http`. */
  token?: string;
  /**
   * Absent for a call that ended. `asked`: a rule asks a person about the call (`approvals`), which waits. `started`: the call
   * began; the record of its end has the same `request_id` and `began`. `secret_missed`: gitleaks found a secret in a stored output, which was masked again. `connections`: connections of
   * which only the project or the session is known. `person`: what a person did with `ctxd`; `tool` names the command.
   */
  kind?: AuditKind;
  /** True if a record of the start precedes this one. Absent for a call that was refused before it ran. */
  began?: boolean;
  tool: string;
  /** What the call was in its session, as tool.json states it (`effects.session`). Absent: no tool ran, or it is not known. */
  effect?: string;
  /** The tool through which the call came, such as `tool_execute`. Absent: the tool was called itself. */
  via?: string;
  input: Json;
  /** Of the start and the end of a background job: its number in the session. `request_id` is then the job's id. */
  job?: number;
  output_sha256: string;
  output_bytes: number;
  duration_ms: number;
  secrets_found: number;
  /** Ids of the rules that found them, never a value. */
  secret_rules: readonly string[];
  exit_code: number | null;
  /** Null for success. */
  error_code: string | null;
  /** Milliseconds of `duration_ms` that the search for secrets took. Absent if the call did not get that far. */
  scrub_ms?: number;
  /** Findings that the first pass, in the tool's process, did not report. Absent if empty. */
  missed_by_first_pass?: number;
  /** Tokens that the whole output would have cost. Absent if nothing ran. */
  tokens_run?: number;
  /** True if `tokens_run` is an estimate. */
  tokens_estimated?: boolean;
  /** `tokens_used` of the line that was printed. */
  tokens_returned?: number;
  /** True if the output was stored as an artifact. */
  artifact?: boolean;
  /** True if the answer shows an earlier output (a continuation, a view of an artifact). `tokens_run` is then absent. */
  follow_up?: boolean;
  /** True if the answer did not hold the whole output. */
  truncated?: boolean;
}

/** Who called what, and with which input. */
export type StartFacts = Pick<
  AuditRecord,
  | 'time'
  | 'request_id'
  | 'session'
  | 'branch'
  | 'project'
  | 'cwd'
  | 'door'
  | 'token'
  | 'tool'
  | 'effect'
  | 'via'
  | 'input'
  | 'job'
>;

/** The record of a call that is about to run. It has no facts of the end, and no input. */
export function startRecord(facts: StartFacts): AuditRecord {
  return { ...factsOf(facts), input: null, kind: 'started', ...NO_END };
}

/** The record of a call that begins to wait for a person. It has no input, as the record of a start. */
export function askedRecord(facts: StartFacts, rule: string): AuditRecord {
  const approvals = [{ rule, answer: 'none', waited_ms: 0 }];
  return { ...factsOf(facts), input: null, kind: 'asked', ...NO_END, approvals };
}

/** True for the end of a call that waited for a person: the log holds a record `asked` of it. */
export function hasWaited({ kind, approvals = [] }: AuditRecord): boolean {
  return kind === undefined && approvals.some((one) => isJsonObject(one) && one.answer !== 'kept');
}

/** The end of a call whose daemon died. `last` is what the log holds of it: its start, or that it waited. */
export function interruptedRecord(facts: StartFacts, last: AuditRecord | undefined): AuditRecord {
  const { code, exitCode } = INTERRUPTED;
  const known = {
    ...(last?.approvals === undefined ? {} : { approvals: last.approvals }),
    ...(last?.kind === 'started' ? { began: true } : {}),
  };
  return { ...factsOf(facts), ...NO_END, ...known, exit_code: exitCode, error_code: code };
}

const INTERRUPTED = { code: 'INTERRUPTED', exitCode: ERROR_TABLE.INTERRUPTED.exitCode } as const;

/** The end of a record about which nothing is known, or that no call made. */
export const NO_END = {
  output_sha256: '',
  output_bytes: 0,
  duration_ms: 0,
  secrets_found: 0,
  secret_rules: [],
  exit_code: null,
  error_code: null,
} as const;

function factsOf({ time, request_id, session, project, door, tool, input, ...rest }: StartFacts): StartFacts {
  const { branch, cwd, token, effect, via, job } = rest;
  const optional = {
    ...(branch === undefined ? {} : { branch }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(token === undefined ? {} : { token }),
    ...(effect === undefined ? {} : { effect }),
    ...(via === undefined ? {} : { via }),
    ...(job === undefined ? {} : { job }),
  };
  return { time, request_id, session, project, door, tool, input, ...optional };
}

/** Fields that may be absent. A field of another type is dropped; the record is kept. */
const FORMS: ReadonlyMap<string, FieldForm> = new Map(
  Object.entries({
    branch: 'text',
    cwd: 'text',
    token: 'text',
    effect: 'text',
    via: 'text',
    began: 'flag',
    job: 'amount',
    scrub_ms: 'amount',
    missed_by_first_pass: 'amount',
    tokens_run: 'amount',
    tokens_estimated: 'flag',
    tokens_returned: 'amount',
    artifact: 'flag',
    follow_up: 'flag',
    truncated: 'flag',
    ...FACT_FIELDS,
  } as const satisfies { [Field in keyof AuditRecord]?: FieldForm }),
);

const HAS_FORM: Record<FieldForm, (value: Json) => boolean> = {
  amount: isAmount,
  flag: (value) => typeof value === 'boolean',
  text: (value) => typeof value === 'string',
  texts: isTexts,
  statuses: (value) => Array.isArray(value) && value.every(isAmount),
  list: Array.isArray,
  any: () => true,
};

/** Returns null for a line that is not a whole record. A line without its newline is not one, even if it looks whole. */
export function parseRecord({ bytes, isTorn }: Line): AuditRecord | null {
  const value = isTorn ? undefined : parseJson(bytes);
  return isJsonObject(value) ? toRecord(value) : null;
}

/** Keeps every field, including those of a later version, so that the log hides nothing; but not those of the chain. */
function toRecord(value: JsonObject): AuditRecord | null {
  const { time, request_id, session, project, door, tool, input, kind, seq: _seq, mac: _mac, ...others } = value;
  const rest = withoutMistyped(others);
  const { output_sha256, output_bytes, duration_ms, secrets_found, secret_rules, exit_code, error_code } = rest;
  const known = KINDS.find((one) => one === kind);
  if (typeof time !== 'string' || typeof request_id !== 'string' || typeof session !== 'string') return null;
  if (typeof project !== 'string' || typeof door !== 'string' || typeof tool !== 'string') return null;
  if (input === undefined || typeof output_sha256 !== 'string' || typeof output_bytes !== 'number') return null;
  if (typeof duration_ms !== 'number' || typeof secrets_found !== 'number' || !isTexts(secret_rules)) return null;
  if (typeof exit_code !== 'number' && exit_code !== null) return null;
  if (typeof error_code !== 'string' && error_code !== null) return null;
  return {
    time,
    request_id,
    session,
    project,
    door,
    tool,
    input,
    ...rest,
    output_sha256,
    output_bytes,
    duration_ms,
    secrets_found,
    secret_rules,
    exit_code,
    error_code,
    ...(known === undefined ? {} : { kind: known }),
  };
}

function withoutMistyped(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => HAS_FORM[FORMS.get(name) ?? 'any'](value)),
  );
}

/** True for a number that is finite (JSON can hold `1e999`) and not negative. */
function isAmount(value: Json | undefined): boolean {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item: Json) => typeof item === 'string');
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
