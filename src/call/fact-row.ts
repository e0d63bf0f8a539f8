import type { EnvelopeMeta } from '../core/envelope.ts';
import type { Json } from '../core/json.ts';
import type { CallFacts } from './outcome.ts';

export type FactName = keyof CallFacts;

/** How the steps of a call treat one fact. `meta` and `record` are called only if there is something to report. */
export interface FactRow<T> {
  /** Merges two reports about the same call. Default: the later value. */
  join?(earlier: T, later: T): T;
  /**
   * Parts chosen by tools and commands: the whole value, or lists in it. They are searched for secrets, and withheld if
   * they could not be searched. `none`: contextd chose everything.
   */
  texts: 'none' | 'all' | TextKeys<T>;
  /** Property names inside those parts that contextd chose. Not searched. */
  names?: readonly string[];
  /** True if it describes the output. Reset if the output is lost or withheld. */
  isAboutOutput?: true;
  /** Its keys in `meta`. */
  meta?(value: NonNullable<T>): Partial<EnvelopeMeta>;
  /** Its audit record fields. `masked` masks and truncates a text that is not searched with the answer. */
  record?(value: NonNullable<T>, masked: (text: string) => string): FactRecord;
}

/** The lists of an object, by key. */
type TextKeys<T> = T extends readonly unknown[] ? never : readonly (keyof NonNullable<T> & string)[];

/** Audit record fields that come from facts. */
export interface FactRecord {
  /** Tokens that were replaced by their values: `[{token, input, use}]`. Absent if empty. */
  secrets_opened?: Json;
  /** Rules that asked a person, and the answers: `[{rule, answer, by?, waited_ms}]`. Absent if no rule asked. */
  approvals?: readonly Json[];
  /** Missing parts of the isolation. Absent if it was full. */
  isolation_missing?: readonly string[];
  /** Requests of the tool to ToolHost: `{total, calls: [{method, error_code, duration_ms, …}]}`. Absent if empty. */
  host_calls?: Json;
  /** Protected paths created by the call, set aside or removed: `[{path, id, reason, removed?}]`. Absent if empty. */
  quarantined?: readonly Json[];
  /** Paths the call created or changed, left until a person judges them: `[{path, id, reason}]`. Absent if empty. */
  reported?: readonly Json[];
  /** The call's changes to project files: `{ref?, files, more?, not_covered?}`. Absent if none. */
  files_changed?: Json;
  /** True if the answer was sent before the search for protected paths finished. */
  search_incomplete?: boolean;
  /** As in `meta.denied`. */
  denied?: Json;
  /**
   * Hosts that commands reached or tried to reach: `[{host, port, via, verdict, rule?, why?, up, down, count?}]`.
   * Absent if empty.
   */
  connections?: readonly Json[];
  /** Milliseconds of `duration_ms` spent in the tool. Absent if nothing ran. */
  run_ms?: number;
  /** Exit statuses of the parts of the command's last pipeline, in order. Absent if unknown, or if there is one part. */
  pipe_status?: readonly number[];
}

/** Type of an audit record field. An `amount` is a finite, non-negative number. */
export type FieldForm = 'amount' | 'flag' | 'text' | 'texts' | 'statuses' | 'list' | 'any';

export const FACT_FORMS = {
  secrets_opened: 'any',
  approvals: 'list',
  isolation_missing: 'texts',
  host_calls: 'any',
  quarantined: 'list',
  reported: 'list',
  files_changed: 'any',
  search_incomplete: 'flag',
  denied: 'any',
  connections: 'list',
  run_ms: 'amount',
  pipe_status: 'statuses',
} as const satisfies Record<keyof FactRecord, FieldForm>;
