import { FACT_TEXT_NAMES } from '../call/fact-operations.ts';
import type { Outcome } from '../call/outcome.ts';
import type { Json, JsonObject } from '../core/json.ts';

/**
 * Property names that contextd's daemon writes, whatever the tool. They are not scrubbed: a project's rule or a value in
 * its `.env` may match one, but it is not a secret, and the answer is unreadable without it. A core tool states its own
 * names in `answer_names` of its tool.json. A name stated nowhere is searched like any text.
 */
const DAEMON_NAMES: ReadonlySet<string> = new Set([
  ...FACT_TEXT_NAMES,
  // Parts of an outcome.
  'failure',
  'message',
  'remedy',
  'details',
  'denied',
  'quarantined',
  'warnings',
  'connections',
  'streams',
  'field',
  'text',
  // The report of a dry run.
  'dry_run',
  'allowed',
  'isolation',
  'checks',
  'check',
  'reason',
  'limit',
  'tool',
  // A failure and its details.
  'error_code',
  'error_type',
  'retryable',
  'remediation',
  'retry_after_ms',
  'faults',
  'pointer',
  'fault',
  'duration_ms',
  'timeout_ms',
  'ended_by',
  'error',
  'stderr',
  'size',
  'minimum',
  'matches',
  'max_chars',
  'column',
  'columns',
  'line',
  'lines',
  'offset',
  'start',
  'end',
  'artifact',
  'token',
  'tokens',
  'branch',
  'budget_tokens',
  'workspace',
  'project_root',
  'method',
  'grant',
  'granted',
  'where',
  'level',
  'min_isolation',
  'sha256',
  'accepted_sha256',
  'found_sha256',
  'expected_sha256',
  'caller',
  'daemon',
  'pid',
  'socket',
  'flag',
  'nearest',
]);

type IsOwn = (key: string) => boolean;

/** True for the given names and contextd's own. `content_#` stands for a numbered name, `content_1` to `content_99`. */
function isOneOf(names: readonly string[]): IsOwn {
  const known = new Set(names);
  return (key) => DAEMON_NAMES.has(key) || known.has(key) || known.has(key.replace(/_\d{1,2}$/, '_#'));
}

/** Everything that leaves a call, in the layout of the scrub step. */
export type Leaving = JsonObject & { data: JsonObject; streams: readonly { field: string; text: string }[] };

/**
 * Positions, in `collectLeaves` order, of the property names that contextd chose itself. They are not scrubbed. Keys
 * chosen by an installed tool are scrubbed, because they may contain data that the tool read.
 */
export function ownLeaves(leaving: Leaving, ownNames: Outcome['ownNames']): ReadonlySet<number> {
  const walk = new LeafWalk();
  const isOwn = isOneOf(ownNames ?? []);
  const isOwnData = ownNames === null ? (): boolean => false : isOwn;
  for (const [part, value] of Object.entries(leaving)) {
    walk.key(true);
    if (part === 'streams') for (const stream of leaving.streams) walkStream(walk, stream, isOwnData);
    else walk.value(value, part === 'data' ? isOwnData : isOwn);
  }
  return walk.own;
}

/** The value of `field` becomes a key of the answer, so it is treated like one. */
function walkStream(walk: LeafWalk, stream: Leaving['streams'][number], isOwn: IsOwn): void {
  for (const [key, value] of Object.entries(stream)) {
    walk.key(true);
    walk.key(key === 'field' && isOwn(value));
  }
}

/** Counts the strings of a value in the order of `collectLeaves`. */
class LeafWalk {
  readonly own = new Set<number>();
  #position = 0;

  key(isOwn: boolean): void {
    if (isOwn) this.own.add(this.#position);
    this.#position += 1;
  }

  value(value: Json, isOwn: IsOwn): void {
    if (typeof value === 'string') this.key(false);
    else if (Array.isArray(value)) for (const item of value) this.value(item, isOwn);
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) {
        this.key(isOwn(key));
        this.value(item, isOwn);
      }
  }
}
