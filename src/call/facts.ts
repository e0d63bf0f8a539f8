import {
  type CodedWarnings,
  type Denial,
  type SetAside,
  WARNING_CODES,
  type WarningCode,
  warningDetail,
} from '../core/envelope.ts';
import type { Json } from '../core/json.ts';
import type { FactName, FactRecord, FactRow } from './fact-row.ts';
import { type CallFacts, type ConnectionRecord, codedWarnings, type FileChanges } from './outcome.ts';
import { setAsideWarnings } from './set-aside-warnings.ts';

/** Maximum secret openings listed in one record. */
const OPENED_MAX = 1_000;

/** One row per fact of a call. Row order is the order of texts, `meta` keys and audit record fields. */
export const FACTS: { readonly [K in FactName]: FactRow<CallFacts[K]> } = {
  runMs: { texts: 'none', record: (ms) => ({ run_ms: ms }) },
  pipeStatus: { texts: 'none', record: (statuses) => ({ pipe_status: [...statuses] }) },
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
  droppedBytes: {
    texts: 'none',
    isAboutOutput: true,
    meta: (bytes) => ({ content_fidelity: 'partial', dropped_bytes: bytes }),
  },
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
