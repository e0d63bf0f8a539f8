import type { FileChanges } from '../call/outcome.ts';
import { type EnvelopeMeta, warningDetail } from '../core/envelope.ts';
import type { ContextdError } from '../core/errors.ts';
import { missingLines } from '../core/gap.ts';
import { quoteName } from '../core/own-line.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import type { StoredOutput } from './store.ts';

/** Leaves out optional keys that are empty, because an agent pays for each. */
export function metaOf(requestId: string, outcome: ScrubbedOutcome): EnvelopeMeta {
  const { denied, facts } = outcome;
  const { droppedBytes, isolationMissing } = facts;
  const warnings = [...outcome.warnings, ...quarantineWarnings(outcome.quarantined)];
  return {
    version: 'response-v2',
    request_id: requestId,
    ...(droppedBytes > 0 ? { content_fidelity: 'partial' as const, dropped_bytes: droppedBytes } : {}),
    ...(isolationMissing.length > 0 ? { isolation: { level: 'reduced' as const, missing: isolationMissing } } : {}),
    ...(denied.length > 0 ? { denied } : {}),
    ...filesOf(outcome.fileChanges),
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(facts.searchComplete ? {} : { warning_details: [warningDetail('PARTIAL_FAILURE', SEARCH_GOES_ON)] }),
    ...rateLimitOf(outcome.failure),
  };
}

function filesOf(
  changes: FileChanges | null,
): Pick<EnvelopeMeta, 'files_changed' | 'files_changed_more' | 'files_not_covered'> {
  if (changes === null) return {};
  const { files, more, notCovered } = changes;
  return {
    ...(files.length > 0 ? { files_changed: files } : {}),
    ...(more > 0 ? { files_changed_more: more } : {}),
    ...(notCovered.length > 0 ? { files_not_covered: notCovered } : {}),
  };
}

/** The stored output, and what undoes the call. */
export function refsOf(outcome: Pick<ScrubbedOutcome, 'fileChanges'>, artifacts: readonly string[]): string[] {
  const undo = outcome.fileChanges?.ref ?? null;
  return undo === null ? [...artifacts] : [...artifacts, undo];
}

const SEARCH_GOES_ON =
  'The search for files that would run on the host is not complete yet. The next answer reports what it still finds.';

/** Up to this many paths get a warning each. */
const WARNED_MAX = 5;
/** Paths that the shared warning names if there are more. */
const NAMED_MAX = 3;

/** Warns about files of the call that the host would have run later; they were renamed. */
function quarantineWarnings(quarantined: ScrubbedOutcome['quarantined']): string[] {
  if (quarantined.length <= WARNED_MAX) {
    return quarantined.map(
      ({ path, id, reason }) =>
        `${quoteName(path)} was set aside: ${reason}. A person can allow it: ctxd quarantine accept ${id}`,
    );
  }
  const named = quarantined.slice(0, NAMED_MAX).map(({ path }) => quoteName(path));
  return [
    `${quarantined.length} paths were set aside, such as ${named.join(', ')}: programs on the host would run or trust them. A person can allow them: ctxd quarantine list`,
  ];
}

function rateLimitOf(failure: ContextdError | null): Pick<EnvelopeMeta, 'rate_limit'> {
  if (failure?.code !== 'RATE_LIMITED' || typeof failure.details.limit !== 'number') return {};
  return { rate_limit: { limit: failure.details.limit, remaining: 0, retry_after_ms: failure.retryAfterMs ?? 0 } };
}

/** The missing lines of each text, as `12-900`. */
export function droppedLines({ streams }: StoredOutput): Pick<EnvelopeMeta, 'dropped_lines'> {
  const entries = streams.flatMap(({ field, gap }) => (gap === undefined ? [] : [[field, missingLines(gap)] as const]));
  return entries.length === 0 ? {} : { dropped_lines: Object.fromEntries(entries) };
}
