import { ERROR_TABLE } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

const KINDS = ['started', 'secret_missed'] as const;
type AuditKind = (typeof KINDS)[number];

/** One line of the audit log (SEC-5.2, SEC-5.3). Everything in it has been scrubbed. */
export interface AuditRecord {
  /** ISO 8601, UTC. */
  time: string;
  request_id: string;
  session: string;
  /** Project root. */
  project: string;
  door: string;
  /**
   * Absent for a call that ended. `started`: the call began; the record of its end has the same `request_id` and
   * `began`. `secret_missed`: gitleaks found a secret in a stored output, which was masked again.
   */
  kind?: AuditKind;
  /** True: a record of the start comes before this one. Absent for a call that was refused before it ran. */
  began?: boolean;
  tool: string;
  input: Json;
  output_sha256: string;
  output_bytes: number;
  duration_ms: number;
  secrets_found: number;
  /** Ids of the rules that found them, never a value. */
  secret_rules: readonly string[];
  exit_code: number | null;
  /** Null for success. */
  error_code: string | null;
  /** Milliseconds of `duration_ms` that the search for secrets took; absent when it was not reached. */
  scrub_ms?: number;
  /** Findings that the first pass, in the tool's process, had not reported; absent when none. */
  missed_by_first_pass?: number;
  /** Tokens that became their values: `[{token, input, use}]`; absent when none. */
  secrets_opened?: Json;
  /** What was missing when isolation was not full; absent when it was. */
  isolation_missing?: readonly string[];
  /** What the tool asked of the host: `{total, calls: [{method, error_code, duration_ms, …}]}`; absent when nothing. */
  host_calls?: Json;
  /** Protected paths that the call made and that were renamed: `[{path, id, reason}]`; absent when none. */
  quarantined?: readonly Json[];
  /** True: when the answer went out, the search for protected paths was not done. */
  search_incomplete?: boolean;
  /** As in `meta.denied`. */
  denied?: Json;
  /** Tokens that the whole output would have cost; absent when nothing ran. */
  tokens_run?: number;
  /** True: `tokens_run` is an estimate. */
  tokens_estimated?: boolean;
  /** `tokens_used` of the line that was printed. */
  tokens_returned?: number;
  /** True: the output was stored as an artifact. */
  artifact?: boolean;
  /** True: more of an earlier output (a continuation, a view of an artifact). Nothing ran, and `tokens_run` is absent. */
  follow_up?: boolean;
  /** True: the answer did not hold the whole output. */
  truncated?: boolean;
  /** Milliseconds of `duration_ms` that the tool itself took; absent when nothing ran. */
  run_ms?: number;
}

/** Who called what, and with which input. */
export type StartFacts = Pick<AuditRecord, 'time' | 'request_id' | 'session' | 'project' | 'door' | 'tool' | 'input'>;

/** The record that a call has from before it runs until it ends. Of its end nothing is known, and it has no input. */
export function startRecord(facts: StartFacts): AuditRecord {
  return { ...factsOf(facts), input: null, kind: 'started', ...NO_END };
}

/** The end of a call that nobody saw: the daemon died. `began`: its start is in the log. */
export function interruptedRecord(facts: StartFacts, began: boolean): AuditRecord {
  const { code, exitCode } = INTERRUPTED;
  return { ...factsOf(facts), ...NO_END, exit_code: exitCode, error_code: code, ...(began ? { began } : {}) };
}

const INTERRUPTED = { code: 'INTERRUPTED', exitCode: ERROR_TABLE.INTERRUPTED.exitCode } as const;

const NO_END = {
  output_sha256: '',
  output_bytes: 0,
  duration_ms: 0,
  secrets_found: 0,
  secret_rules: [],
  exit_code: null,
  error_code: null,
} as const;

function factsOf({ time, request_id, session, project, door, tool, input }: StartFacts): StartFacts {
  return { time, request_id, session, project, door, tool, input };
}

/** Fields that may be absent. One of another type is dropped, never the record. */
const AMOUNTS = ['scrub_ms', 'missed_by_first_pass', 'tokens_run', 'tokens_returned', 'run_ms'] as const;
const FLAGS = ['began', 'tokens_estimated', 'artifact', 'follow_up', 'truncated', 'search_incomplete'] as const;
const TEXTS = ['isolation_missing'] as const;
const LISTS = ['quarantined'] as const;

/** Null for a line that is not a whole record: a crash tore it. */
export function parseRecord(line: Buffer): AuditRecord | null {
  const value = parseJson(line);
  return isJsonObject(value) ? toRecord(value) : null;
}

/** Every field there is comes back, those of a later version too: a log hides nothing. */
function toRecord(value: JsonObject): AuditRecord | null {
  const { time, request_id, session, project, door, tool, input, kind, ...others } = value;
  const rest = withoutMisfits(others);
  const { output_sha256, output_bytes, duration_ms, secrets_found, secret_rules, exit_code, error_code } = rest;
  const known = KINDS.find((one) => one === kind);
  if (typeof time !== 'string' || typeof request_id !== 'string' || typeof session !== 'string') return null;
  if (typeof project !== 'string' || typeof door !== 'string' || typeof tool !== 'string') return null;
  if (input === undefined || typeof output_sha256 !== 'string' || typeof output_bytes !== 'number') return null;
  if (typeof duration_ms !== 'number' || typeof secrets_found !== 'number' || !isTexts(secret_rules)) return null;
  if (typeof exit_code !== 'number' && exit_code !== null) return null;
  if (typeof error_code !== 'string' && error_code !== null) return null;
  return {
    ...{ time, request_id, session, project, door, tool, input, ...rest },
    ...{ output_sha256, output_bytes, duration_ms, secrets_found, secret_rules, exit_code, error_code },
    ...(known === undefined ? {} : { kind: known }),
  };
}

function withoutMisfits(fields: JsonObject): JsonObject {
  const misfits = new Set<string>([
    ...AMOUNTS.filter((name) => !isAmount(fields[name])),
    ...FLAGS.filter((name) => typeof fields[name] !== 'boolean'),
    ...TEXTS.filter((name) => !isTexts(fields[name])),
    ...LISTS.filter((name) => !Array.isArray(fields[name])),
  ]);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !misfits.has(name)));
}

/** Finite (JSON has `1e999`) and not negative. */
function isAmount(value: Json | undefined): boolean {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY;
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item: Json) => typeof item === 'string');
}

function parseJson(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
