import type { Clock, Timer } from '../core/clock.ts';
import { newRequestId } from '../core/ids.ts';
import type { Json } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import type { ConnectionFact, EgressEvent, NetworkScope } from '../egress/messages.ts';
import type { RunRef } from '../sandbox/sandbox.ts';
import type { AuditLog } from '../stores/audit.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { LoggedConnection, NetworkLog } from '../stores/network-log.ts';

/** Milliseconds that entries wait for others, so that many share one write. */
const FLUSH_MS = 200;
/** Entries that wait; further ones are counted and not kept. */
const WAITING_MAX = 5_000;
/** Refusals within this many milliseconds share an entry if they are the same. */
const SAME_MS = 60_000;
const SAME_MAX = 1_000;
/** Connections that one audit record lists. */
const RECORDED_MAX = 100;

export interface NetworkJournalDeps {
  log: NetworkLog;
  auditLog: Pick<AuditLog, 'append'>;
  liveSessions: Pick<LiveSessions, 'list'>;
  /** Masks secrets: a program chooses the names that it asks for. */
  mask(text: string): string;
  clock: Clock;
  timer: Timer;
  logger: Logger;
}

interface Entry {
  row: LoggedConnection;
  readonly isAttributed: boolean;
}

/**
 * Writes down who talked to whom. Connections of a call are in the audit record of the call too; those of which only the
 * project is known get an audit record of their own.
 */
export class NetworkJournal {
  readonly #deps: NetworkJournalDeps;
  /** Open connections by the id that the proxy process gave them. */
  readonly #open = new Map<number, Entry>();
  /** By what was refused to whom. */
  readonly #refused = new Map<string, Entry>();
  readonly #masks = new Map<string, string>();
  readonly #waiting = new Map<number, LoggedConnection>();
  #unattributed: LoggedConnection[] = [];
  #lastId = 0;
  #dropped = 0;
  #isStopped = false;
  #cancelFlush: (() => void) | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: NetworkJournalDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#isStopped = false;
    this.#lastId = await this.#deps.log.lastId();
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    this.#endOpen('contextd stopped');
    this.#isStopped = true;
    await this.flush();
  }

  connection(fact: ConnectionFact, scope: NetworkScope, run: RunRef | null): void {
    // Of a name that may be reached, the connection is what counts.
    if (fact.via === 'dns' && fact.allowed) return;
    const key = JSON.stringify([scope.project, scope.tool, run, fact.host, fact.port, fact.via, fact.why]);
    const same = fact.allowed ? undefined : this.#refused.get(key);
    if (same !== undefined && fact.atMs - same.row.atMs < SAME_MS) {
      same.row = { ...same.row, repeats: same.row.repeats + 1 };
      this.#put(same.row);
      return;
    }
    const entry: Entry = { row: this.#rowOf(fact, scope, run), isAttributed: run !== null };
    if (fact.allowed) this.#open.set(fact.id, entry);
    else {
      if (this.#refused.size >= SAME_MAX) this.#refused.clear();
      this.#refused.set(key, entry);
      this.#finished(entry);
    }
    this.#put(entry.row);
  }

  closed({ traffic, why }: Extract<EgressEvent, { ev: 'closed' }>): void {
    const entry = this.#open.get(traffic.id);
    if (entry === undefined) return;
    this.#open.delete(traffic.id);
    this.#end(entry, { up: traffic.up, down: traffic.down, why });
  }

  /** The proxy process started: what was open before is not any more. */
  restarted(): void {
    this.#endOpen('the proxy ended');
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    this.#cancelFlush?.();
    this.#cancelFlush = null;
    const rows = [...this.#waiting.values()];
    const unattributed = this.#unattributed;
    this.#waiting.clear();
    this.#unattributed = [];
    this.#writing = this.#writing.then(() => this.#write(rows, unattributed));
    return this.#writing;
  }

  async #write(rows: readonly LoggedConnection[], unattributed: readonly LoggedConnection[]): Promise<void> {
    const { log, logger } = this.#deps;
    try {
      await log.put(rows);
      await this.#record(unattributed);
    } catch (cause) {
      logger.error('network.log_failed', { entries: rows.length }, cause);
    }
    if (this.#dropped > 0) logger.warn('network.log_full', { dropped: this.#dropped });
    this.#dropped = 0;
  }

  async #record(rows: readonly LoggedConnection[]): Promise<void> {
    const { auditLog, liveSessions, clock } = this.#deps;
    for (const project of new Set(rows.map((row) => row.project))) {
      const own = rows.filter((row) => row.project === project);
      // If the project has one session, it is that session's.
      const sessions = liveSessions.list(project);
      const [only] = sessions;
      await auditLog.append({
        time: new Date(clock.now()).toISOString(),
        request_id: newRequestId(clock.now()),
        session: sessions.length === 1 && only !== undefined ? this.#deps.mask(only.session) : '',
        project,
        door: 'network',
        kind: 'connections',
        tool: own[0]?.tool ?? '',
        input: null,
        connections: own.slice(0, RECORDED_MAX).map(recorded),
        ...NO_CALL,
      });
    }
  }

  #rowOf(fact: ConnectionFact, { project, tool }: NetworkScope, run: RunRef | null): LoggedConnection {
    // A name that a rule spells out is the person's.
    const host = fact.allowed && fact.rule?.includes('*') === false ? fact.host : this.#masked(fact.host);
    this.#lastId += 1;
    return {
      id: this.#lastId,
      atMs: fact.atMs,
      project,
      tool: tool ?? '',
      session: run === null ? '' : this.#deps.mask(run.session),
      requestId: run?.requestId ?? '',
      host,
      port: fact.port,
      via: fact.via,
      isAllowed: fact.allowed,
      rule: fact.rule ?? '',
      why: host === fact.host ? fact.why : this.#deps.mask(fact.why),
      up: 0,
      down: 0,
      durationMs: fact.allowed ? null : 0,
      repeats: 1,
    };
  }

  #masked(host: string): string {
    const known = this.#masks.get(host);
    if (known !== undefined) return known;
    if (this.#masks.size >= SAME_MAX) this.#masks.clear();
    const masked = this.#deps.mask(host);
    this.#masks.set(host, masked);
    return masked;
  }

  #endOpen(why: string): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const entry of open) this.#end(entry, { why });
  }

  #end(entry: Entry, found: { up?: number; down?: number; why: string }): void {
    entry.row = { ...entry.row, ...found, durationMs: Math.max(0, this.#deps.clock.now() - entry.row.atMs) };
    this.#put(entry.row);
    this.#finished(entry);
  }

  #finished({ row, isAttributed }: Entry): void {
    if (!isAttributed && this.#unattributed.length < WAITING_MAX) this.#unattributed.push(row);
  }

  #put(row: LoggedConnection): void {
    if (this.#isStopped) return;
    if (this.#waiting.size >= WAITING_MAX && !this.#waiting.has(row.id)) this.#dropped += 1;
    else this.#waiting.set(row.id, row);
    this.#cancelFlush ??= this.#deps.timer.after(FLUSH_MS, () => void this.flush());
  }
}

/** What an audit record says of a connection. */
function recorded({ host, port, via, isAllowed, rule, why, up, down }: LoggedConnection): Json {
  const cause = { ...(rule === '' ? {} : { rule }), ...(why === '' ? {} : { why }) };
  return { host, port, via, verdict: isAllowed ? 'allowed' : 'denied', ...cause, up, down };
}

const NO_CALL = {
  output_sha256: '',
  output_bytes: 0,
  duration_ms: 0,
  secrets_found: 0,
  secret_rules: [],
  exit_code: null,
  error_code: null,
} as const;
