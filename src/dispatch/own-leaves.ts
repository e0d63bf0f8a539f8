import type { Json, JsonObject } from '../core/json.ts';

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
export type NamedBy = 'core' | 'installed';

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
