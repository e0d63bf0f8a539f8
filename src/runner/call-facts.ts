import type { Denial } from '../core/envelope.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { EndedBy } from '../protocol/host-messages.ts';
import type { SetAside } from '../sandbox/quarantine.ts';
import type { CommandResult } from '../sandbox/sandbox.ts';

/** One request of a tool to ToolHost, for the audit record. */
export interface HostCallRecord {
  /** The name in host.proto. */
  method: string;
  /** Null if the request succeeded. */
  error_code: ErrorCode | null;
  duration_ms: number;
  /** Only for Exec. */
  exit_code?: number | null;
  ended_by?: EndedBy;
}

/** What the host did for one call, whatever became of the call. */
export interface CallFacts {
  /** Protected paths that commands created and that were renamed. */
  quarantined: readonly SetAside[];
  /** False if the search for them goes on; a later call reports what it still finds. */
  searchComplete: boolean;
  /** What the sandbox refused to commands, each refusal once. */
  denied: readonly Denial[];
  /** In the order of the requests; the first 100 of `total`. */
  hostCalls: { calls: readonly HostCallRecord[]; total: number };
  /** The stored output that the call shows; null: what the tool itself returned. */
  shows: string | null;
}

export const NO_FACTS: CallFacts = {
  quarantined: [],
  searchComplete: true,
  denied: [],
  hostCalls: { calls: [], total: 0 },
  shows: null,
};

/** What a command did besides its output. */
type CommandFacts = Pick<CommandResult, 'quarantined' | 'searchComplete' | 'denied'>;

const CALLS_KEPT = 100;
const DENIALS_KEPT = 100;

/** Collects the facts of one call. */
export class FactCollector {
  readonly #calls: HostCallRecord[] = [];
  /** By id. */
  readonly #quarantined = new Map<string, SetAside>();
  readonly #denied = new Map<string, Denial>();
  #total = 0;
  #searchComplete = true;
  #shows: string | null = null;

  /** A request has arrived: its record counts as interrupted until the caller completes it. */
  open(method: string): HostCallRecord {
    const record: HostCallRecord = { method, error_code: 'INTERRUPTED', duration_ms: 0 };
    this.#total += 1;
    if (this.#calls.length < CALLS_KEPT) this.#calls.push(record);
    return record;
  }

  /** A search continues the ones before it, so the last one says whether all is done. */
  ranCommand({ quarantined, searchComplete, denied }: CommandFacts): void {
    for (const setAside of quarantined) this.#quarantined.set(setAside.id, setAside);
    this.#searchComplete = searchComplete;
    for (const denial of denied) {
      if (this.#denied.size < DENIALS_KEPT) this.#denied.set(JSON.stringify(denial), denial);
    }
  }

  /** The last one counts. */
  shows(artifactId: string): void {
    this.#shows = artifactId;
  }

  read(): CallFacts {
    return {
      quarantined: [...this.#quarantined.values()],
      searchComplete: this.#searchComplete,
      denied: [...this.#denied.values()],
      hostCalls: { calls: this.#calls.map((record) => ({ ...record })), total: this.#total },
      shows: this.#shows,
    };
  }
}
