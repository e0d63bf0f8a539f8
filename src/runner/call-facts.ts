import { type ConnectionRecord, codedWarnings, type HostCallRecord, type RunFacts } from '../call/outcome.ts';
import type { Denial, SetAside, WarningCode } from '../core/envelope.ts';
import type { Json } from '../core/json.ts';
import type { CommandResult, Connection } from '../sandbox/contract/command.ts';
import { ConnectionSums } from '../sandbox/contract/connection-sums.ts';

/** Facts about a command besides its output. */
type CommandFacts = Pick<
  CommandResult,
  'quarantined' | 'searchComplete' | 'notices' | 'denied' | 'connections' | 'pipeStatus' | 'directory'
>;

const CALLS_KEPT = 100;
const DENIALS_KEPT = 100;
const WARNINGS_KEPT = 20;
const STATUSES_KEPT = 20;

/** Collects the facts of one call. */
export class FactCollector {
  readonly #calls: HostCallRecord[] = [];
  /** By id. */
  readonly #quarantined = new Map<string, SetAside>();
  readonly #denied = new Map<string, Denial>();
  readonly #connections = new ConnectionSums();
  readonly #notices = new Set<string>();
  /** Tokens handed to the tool. */
  readonly tokensHanded = new Set<string>();
  #total = 0;
  #searchComplete = true;
  #shows: string | null = null;
  #standardView: Json | null = null;
  #pipeStatus: readonly number[] = [];
  #endedIn: readonly string[] = [];
  readonly #refs = new Set<string>();
  readonly #codedWarnings: (readonly [WarningCode, string])[] = [];

  /** Records a new request. It counts as interrupted until the caller completes the record. */
  open(method: string): HostCallRecord {
    const record: HostCallRecord = { method, error_code: 'INTERRUPTED', duration_ms: 0 };
    this.#total += 1;
    if (this.#calls.length < CALLS_KEPT) this.#calls.push(record);
    return record;
  }

  /** Each search continues the earlier ones, so the last one says whether all is done. Of several commands the last one's statuses are kept. */
  ranCommand(
    { quarantined, searchComplete, notices, denied, connections, pipeStatus, directory }: CommandFacts,
    startedIn: string,
  ): void {
    this.#pipeStatus = pipeStatus.slice(0, STATUSES_KEPT);
    // Where it started is what the caller said: nothing to search for secrets, which takes time.
    this.#endedIn = directory === undefined || directory === startedIn ? [] : [directory];
    for (const setAside of quarantined) this.#quarantined.set(setAside.id, setAside);
    this.#searchComplete = searchComplete;
    for (const notice of notices) if (this.#notices.size < DENIALS_KEPT) this.#notices.add(notice);
    for (const denial of denied) {
      if (this.#denied.size < DENIALS_KEPT) this.#denied.set(JSON.stringify(denial), denial);
    }
    for (const connection of connections) this.#connections.add(connection);
  }

  /** The last call wins. */
  shows(artifactId: string, standardView: Json | null): void {
    this.#shows = artifactId;
    this.#standardView = standardView;
  }

  found(refs: readonly string[]): void {
    for (const ref of refs) this.#refs.add(ref);
  }

  warned(warnings: readonly (readonly [WarningCode, string])[]): void {
    const room = WARNINGS_KEPT - this.#codedWarnings.length;
    this.#codedWarnings.push(...warnings.slice(0, Math.max(0, room)));
  }

  read(): RunFacts {
    return {
      quarantined: [...this.#quarantined.values()],
      searchComplete: this.#searchComplete,
      warnings: [...this.#notices],
      codedWarnings: codedWarnings(this.#codedWarnings),
      denied: [...this.#denied.values()],
      connections: this.#connections.read().map(connectionRecord),
      hostCalls: { calls: this.#calls.map((record) => ({ ...record })), total: this.#total },
      fileChanges: null,
      pipeStatus: this.#pipeStatus,
      endedIn: this.#endedIn,
      shows: this.#shows,
      standardView: this.#standardView,
      refs: [...this.#refs],
      provenance: {},
      tokensHanded: [...this.tokensHanded],
    };
  }
}

export const NO_RUN_FACTS: RunFacts = new FactCollector().read();

type Recorded = Pick<Connection, 'host' | 'port' | 'via' | 'allowed' | 'rule' | 'why' | 'up' | 'down' | 'count'>;

/** A group of equal connections as an audit record field. */
export function connectionRecord({ host, port, via, allowed, rule, why, up, down, count }: Recorded): ConnectionRecord {
  return {
    host,
    port,
    via,
    verdict: allowed ? 'allowed' : 'denied',
    ...(rule === null ? {} : { rule }),
    ...(why === '' ? {} : { why }),
    up,
    down,
    ...(count === 1 ? {} : { count }),
  };
}
