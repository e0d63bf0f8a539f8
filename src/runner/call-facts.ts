import type { CallFacts, ConnectionRecord, HostCallRecord, Outcome } from '../call/outcome.ts';
import type { Denial, SetAside } from '../core/envelope.ts';
import type { Json } from '../core/json.ts';
import { ConnectionSums } from '../sandbox/egress/connection-sums.ts';
import type { CommandResult, Connection } from '../sandbox/sandbox.ts';

/** What the host did for one call, whether or not the call succeeded. */
export type RunFacts = Pick<Outcome, 'quarantined' | 'denied' | 'connections' | 'warnings' | 'fileChanges'> &
  Pick<CallFacts, 'searchComplete' | 'hostCalls' | 'shows' | 'standardView'>;

/** What a command did besides its output. */
type CommandFacts = Pick<CommandResult, 'quarantined' | 'searchComplete' | 'notices' | 'denied' | 'connections'>;

const CALLS_KEPT = 100;
const DENIALS_KEPT = 100;

/** Collects the facts of one call. */
export class FactCollector {
  readonly #calls: HostCallRecord[] = [];
  /** By id. */
  readonly #quarantined = new Map<string, SetAside>();
  readonly #denied = new Map<string, Denial>();
  readonly #connections = new ConnectionSums();
  readonly #notices = new Set<string>();
  #total = 0;
  #searchComplete = true;
  #shows: string | null = null;
  #standardView: Json | null = null;

  /** A request has arrived: its record counts as interrupted until the caller completes it. */
  open(method: string): HostCallRecord {
    const record: HostCallRecord = { method, error_code: 'INTERRUPTED', duration_ms: 0 };
    this.#total += 1;
    if (this.#calls.length < CALLS_KEPT) this.#calls.push(record);
    return record;
  }

  /** A search continues the ones before it, so the last one says whether all is done. */
  ranCommand({ quarantined, searchComplete, notices, denied, connections }: CommandFacts): void {
    for (const setAside of quarantined) this.#quarantined.set(setAside.id, setAside);
    this.#searchComplete = searchComplete;
    for (const notice of notices) if (this.#notices.size < DENIALS_KEPT) this.#notices.add(notice);
    for (const denial of denied) {
      if (this.#denied.size < DENIALS_KEPT) this.#denied.set(JSON.stringify(denial), denial);
    }
    for (const connection of connections) this.#connections.add(connection);
  }

  /** The last one counts. */
  shows(artifactId: string, standardView: Json | null): void {
    this.#shows = artifactId;
    this.#standardView = standardView;
  }

  read(): RunFacts {
    return {
      quarantined: [...this.#quarantined.values()],
      searchComplete: this.#searchComplete,
      warnings: [...this.#notices],
      denied: [...this.#denied.values()],
      connections: this.#connections.read().map(connectionRecord),
      hostCalls: { calls: this.#calls.map((record) => ({ ...record })), total: this.#total },
      fileChanges: null,
      shows: this.#shows,
      standardView: this.#standardView,
    };
  }
}

type Recorded = Pick<Connection, 'host' | 'port' | 'via' | 'allowed' | 'rule' | 'why' | 'up' | 'down' | 'count'>;

/** What the audit record says of equal connections. */
export function connectionRecord({ host, port, via, allowed, rule, why, up, down, count }: Recorded): ConnectionRecord {
  return {
    ...{ host, port, via, verdict: allowed ? 'allowed' : 'denied' },
    ...(rule === null ? {} : { rule }),
    ...(why === '' ? {} : { why }),
    ...{ up, down },
    ...(count === 1 ? {} : { count }),
  };
}
