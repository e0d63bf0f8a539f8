import {
  type CodedWarnings,
  type Denial,
  type EnvelopeMeta,
  type SetAside,
  WARNING_CODES,
  type WarningCode,
  warningDetail,
} from '../core/envelope.ts';
import type { Json } from '../core/json.ts';
import { type CallFacts, type ConnectionRecord, codedWarnings, type FileChanges, type Provenance } from './outcome.ts';
import { setAsideWarnings } from './set-aside-warnings.ts';

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

/** Type of an audit record field. An `amount` is a finite, non-negative number. */
interface FieldForms {
  amount: number;
  flag: boolean;
  text: string;
  texts: readonly string[];
  statuses: readonly number[];
  list: readonly Json[];
  any: Json;
}
export type FieldForm = keyof FieldForms;

/** Audit record fields that come from facts. */
export const FACT_FIELDS = {
  /** Tokens that were replaced by their values: `[{token, input, use}]`. Absent if empty. */
  secrets_opened: 'any',
  /** Rules that asked a person, and the answers: `[{rule, answer, by?, waited_ms}]`. Absent if no rule asked. */
  approvals: 'list',
  /** Rules of clients that cover commands of the call: `[{verdict, rule, file}]`. Absent if empty. */
  command_rules: 'list',
  /** SHA-256 (hex) of what a person had decided when the call was judged. Absent: it was refused before. */
  policy_sha256: 'text',
  /** SHA-256 (hex) of each artifact that the answer stored, as it was stored. Absent if empty. */
  artifacts_sha256: 'texts',
  /** `full` or `reduced`. Absent: nothing ran, or in the daemon itself. */
  isolation: 'text',
  /** Missing parts of the isolation. Absent if it was full. */
  isolation_missing: 'texts',
  /** Requests of the tool to ToolHost: `{total, calls: [{method, error_code, duration_ms, …}]}`. Absent if empty. */
  host_calls: 'any',
  /** Protected paths created by the call, set aside or removed: `[{path, id, reason, removed?}]`. Absent if empty. */
  quarantined: 'list',
  /** Paths the call created or changed, left until a person judges them: `[{path, id, reason}]`. Absent if empty. */
  reported: 'list',
  /** The call's changes to project files: `{ref?, files, more?, not_covered?}`. Absent if none. */
  files_changed: 'any',
  /** True if the answer was sent before the search for protected paths finished. */
  search_incomplete: 'flag',
  /** As in `meta.denied`. */
  denied: 'any',
  /**
   * Hosts that commands reached or tried to reach: `[{host, port, via, verdict, rule?, why?, up, down, count?}]`.
   * Absent if empty.
   */
  connections: 'list',
  /** As in `meta.provenance`. */
  provenance: 'any',
  /** Milliseconds of `duration_ms` spent in the tool. Absent if nothing ran. */
  run_ms: 'amount',
  /** Exit statuses of the parts of the command's last pipeline, in order. Absent if unknown, or if there is one part. */
  pipe_status: 'statuses',
} as const satisfies Record<string, FieldForm>;

/** Absent fields have nothing to report. */
export type FactRecord = { [Field in keyof typeof FACT_FIELDS]?: FieldForms[(typeof FACT_FIELDS)[Field]] };

/** Maximum secret openings listed in one record. */
const OPENED_MAX = 1_000;

/**
 * One row per fact of a call. Row order is the order of texts, `meta` keys and audit record fields. A new fact needs its
 * type and empty value in outcome.ts, a row here, and what reports it.
 */
export const FACTS: { readonly [K in FactName]: FactRow<CallFacts[K]> } = {
  runMs: { texts: 'none', record: (ms) => ({ run_ms: ms }) },
  pipeStatus: { texts: 'none', record: (statuses) => ({ pipe_status: [...statuses] }) },
  // For the client's shell only. The record has the directory in which the command began.
  endedIn: { texts: 'all' },
  secretsOpened: {
    texts: 'none',
    // The pointer is masked because it may hold the caller's text.
    record: (opened, masked) => ({
      secrets_opened: opened
        .slice(0, OPENED_MAX)
        .map(({ token, input, use }) => ({ token, input: masked(input), use })),
    }),
  },
  approvals: {
    texts: 'none',
    record: (approvals) => ({ approvals: approvals.map((one) => ({ ...one })) }),
  },
  commandRules: {
    texts: 'none',
    record: (rules, masked) => ({
      command_rules: rules.map(({ verdict, rule, file }) => ({ verdict, rule: masked(rule), file: masked(file) })),
    }),
  },
  droppedBytes: {
    texts: 'none',
    isAboutOutput: true,
    meta: (bytes) => ({ content_fidelity: 'partial', dropped_bytes: bytes }),
  },
  policyHash: { texts: 'none', record: (hash) => ({ policy_sha256: hash }) },
  artifactHashes: { texts: 'none', record: (hashes) => ({ artifacts_sha256: hashes }) },
  isolation: { texts: 'none', record: (level) => ({ isolation: level }) },
  isolationMissing: {
    texts: 'none',
    meta: (missing) => ({ isolation: { level: 'reduced', missing } }),
    record: (missing) => ({ isolation_missing: missing }),
  },
  hostCalls: {
    texts: 'none',
    record: ({ calls, total }) => ({ host_calls: { total, calls: calls.map((call) => ({ ...call })) } }),
  },
  denied: {
    join: (earlier, later) => unique([...earlier, ...later], (one) => JSON.stringify(one)),
    texts: 'all',
    names: namesOf<Denial>({ kind: 1, path: 1, host: 1, port: 1, rule: 1, how_to_allow: 1 }),
    meta: (denied) => ({ denied }),
    record: (denied) => ({ denied: denied.map((one) => ({ ...one })) }),
  },
  connections: {
    texts: 'all',
    names: namesOf<ConnectionRecord>({
      host: 1,
      port: 1,
      via: 1,
      verdict: 1,
      rule: 1,
      why: 1,
      up: 1,
      down: 1,
      count: 1,
    }),
    record: (connections) => ({ connections: connections.map((one) => ({ ...one })) }),
  },
  fileChanges: {
    join: (earlier, later) => later ?? earlier,
    texts: ['files', 'notCovered'],
    names: ['files', 'notCovered'],
    meta: ({ files, more, notCovered }) => ({
      ...(files.length > 0 ? { files_changed: files } : {}),
      ...(more > 0 ? { files_changed_more: more } : {}),
      ...(notCovered.length > 0 ? { files_not_covered: notCovered } : {}),
    }),
    record: (changes) => ({ files_changed: changesOf(changes) }),
  },
  warnings: {
    join: (earlier, later) => [...earlier, ...later],
    texts: 'all',
    isAboutOutput: true,
    meta: (warnings) => ({ warnings }),
  },
  codedWarnings: {
    join: (earlier, later) => codedWarnings([...pairsOf(earlier), ...pairsOf(later)]),
    texts: WARNING_CODES,
    names: WARNING_CODES,
    isAboutOutput: true,
    meta: (warnings) => ({ warning_details: pairsOf(warnings).map(([code, message]) => warningDetail(code, message)) }),
  },
  rateLimit: { texts: 'none', meta: (limit) => ({ rate_limit: limit }) },
  quarantined: {
    join: (earlier, later) => unique([...earlier, ...later], ({ id }) => id),
    texts: 'all',
    names: namesOf<SetAside>({ path: 1, id: 1, reason: 1, stays: 1, removed: 1 }),
    meta: (found) => ({ warnings: setAsideWarnings(found) }),
    record: foundFields,
  },
  // Not in `meta`, because the agent can do nothing about it: the next answer reports later findings, and `ctxd stats`
  // counts such calls.
  searchComplete: { texts: 'none', record: () => ({ search_incomplete: true }) },
  shows: { texts: 'none', isAboutOutput: true },
  standardView: { texts: 'none' },
  provenance: {
    join: (earlier, later) => ({ ...earlier, ...later }),
    texts: ['argRepairs'],
    names: ['argRepairs'],
    meta: (provenance) => provenanceMeta(provenance),
    record: (provenance) => provenanceMeta(provenance),
  },
  refs: { join: (earlier, later) => [...new Set([...earlier, ...later])], texts: 'none', isAboutOutput: true },
  isViewApplied: { texts: 'none' },
  tokensHanded: { texts: 'none' },
};

/** Set-aside and reported paths as audit record fields. */
export function foundFields(found: readonly SetAside[]): Pick<FactRecord, 'quarantined' | 'reported'> {
  const fields = (stays: boolean): Json[] =>
    found.filter((one) => (one.stays === true) === stays).map(({ stays: _, ...fields }) => fields);
  const [quarantined, reported] = [fields(false), fields(true)];
  return {
    ...(quarantined.length > 0 ? { quarantined } : {}),
    ...(reported.length > 0 ? { reported } : {}),
  };
}

function provenanceMeta({
  argRepairs = [],
  isCacheHit = false,
  attempts = 1,
}: Provenance): Pick<EnvelopeMeta, 'provenance'> {
  const parts = {
    ...(argRepairs.length > 0 ? { arg_repairs: [...argRepairs] } : {}),
    ...(isCacheHit ? { cache_hit: true as const } : {}),
    ...(attempts > 1 ? { attempts } : {}),
  };
  return Object.keys(parts).length === 0 ? {} : { provenance: parts };
}

/** File changes as an audit record field, without empty parts. */
function changesOf({ ref, files, more, notCovered }: FileChanges): Json {
  return {
    ...(ref === null ? {} : { ref }),
    files: [...files],
    ...(more === 0 ? {} : { more }),
    ...(notCovered.length === 0 ? {} : { not_covered: [...notCovered] }),
  };
}

function pairsOf(warnings: CodedWarnings): (readonly [WarningCode, string])[] {
  return WARNING_CODES.flatMap((code) => warnings[code].map((message) => [code, message] as const));
}

function unique<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

/** All property names of a type. A missing one does not compile. */
function namesOf<T>(names: Record<keyof T & string, 1>): string[] {
  return Object.keys(names);
}
