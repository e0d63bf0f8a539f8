import type { AuditLog } from '../../audit/log.ts';
import { NO_END } from '../../audit/record.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { newRequestId } from '../../core/ids.ts';
import { Lock } from '../../core/lock.ts';
import type { Logger } from '../../core/log.ts';
import type { ConnectionFact, EgressEvent, NetworkScope, Traffic } from '../../egress/messages.ts';
import { connectionRecord } from '../../runner/call-facts.ts';
import type { Connection, RunRef } from '../../sandbox/contract/command.ts';
import { ConnectionSums, otherRefusals, summedConnection } from '../../sandbox/contract/connection-sums.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { LoggedConnection, NetworkLog } from '../../stores/network-log.ts';
import { type Entry, ProjectEntries, SAME_MS, type Seen } from './entries.ts';

/** Milliseconds that entries wait for others, so that many share one write. */
const FLUSH_MS = 200;
/** Names of which the masked form is known. */
const MASKS_MAX = 1_000;

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

/** Whose a connection is, as far as it is known. */
export interface Owner {
  readonly scope: NetworkScope;
  /** Null: of no known call. */
  readonly run: RunRef | null;
  /** The calls and jobs of the project that run. */
  readonly running: readonly RunRef[];
}

/** A connection that has not ended. */
interface Open {
  readonly entry: Entry;
  readonly seen: Seen;
  /** As an audit record of its own says it; null if it is in the record of its call. */
  readonly recorded: Connection | null;
}

/** Connections of no known call that wait for their audit record. */
interface Unrecorded {
  readonly owner: Pick<Seen, 'project' | 'tool' | 'session'>;
  readonly sums: ConnectionSums;
  readonly sinceMs: number;
  /** False: the same are in an earlier record, and these may wait for more of them. */
  isNew: boolean;
}

/**
 * Writes down who talked to whom. Connections of a call are in the audit record of the call too; those of which only the
 * project or the session is known get an audit record of their own.
 */
export class NetworkJournal {
  readonly #deps: NetworkJournalDeps;
  readonly #projects = new Map<string, ProjectEntries>();
  /** By the id that the proxy process gave them. */
  readonly #open = new Map<number, Open>();
  readonly #masks = new Map<string, string>();
  readonly #waiting = new Map<number, LoggedConnection>();
  readonly #unrecorded = new Map<string, Unrecorded>();
  #lastId = 0;
  #isStopped = false;
  #cancelFlush: (() => void) | null = null;
  #cancelLate: (() => void) | null = null;
  readonly #writes = new Lock();

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
    for (const unrecorded of this.#unrecorded.values()) unrecorded.isNew = true;
    await this.flush();
    this.#cancelLate?.();
  }

  connection(fact: ConnectionFact, owner: Owner): void {
    // Of a name that may be reached, the connection is what counts.
    if (fact.via === 'dns' && fact.allowed) return;
    const seen = this.#seenOf(fact, owner);
    const entry = this.#count(seen);
    const { host, why } = seen;
    const recorded = owner.run === null ? { ...summedConnection(fact), host, why } : null;
    if (fact.allowed) {
      entry.open += 1;
      entry.row = { ...entry.row, durationMs: null };
      this.#open.set(fact.id, { entry, seen, recorded });
    } else if (recorded !== null) this.#record(seen, recorded, entry);
    this.#put(entry.row);
  }

  closed({ traffic, why }: Extract<EgressEvent, { ev: 'closed' }>): void {
    const open = this.#open.get(traffic.id);
    if (open === undefined) return;
    this.#open.delete(traffic.id);
    this.#end(open, traffic, why === '' ? '' : this.#deps.mask(why));
  }

  /** Refusals of which the proxy process reported nothing but their number. */
  unreported(count: number, owner: Owner): void {
    const others = otherRefusals(count);
    const { host, port, via, why } = others;
    const asked = { host, port, via, why, rule: '', isAllowed: false };
    const seen = { atMs: this.#deps.clock.now(), ...this.#namesOf(owner), ...asked };
    const entry = this.#count(seen, count);
    this.#record(seen, others, entry);
    this.#put(entry.row);
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
    this.#waiting.clear();
    const due = this.#takeDue();
    return this.#writes.run(() => this.#write(rows, due));
  }

  async #write(rows: readonly LoggedConnection[], due: readonly Unrecorded[]): Promise<void> {
    const { log, logger } = this.#deps;
    try {
      await log.put(rows);
      for (const unrecorded of due) await this.#append(unrecorded);
    } catch (cause) {
      logger.error('network.log_failed', { entries: rows.length }, cause);
    }
  }

  async #append({ owner, sums }: Unrecorded): Promise<void> {
    const { auditLog, clock } = this.#deps;
    await auditLog.append({
      time: new Date(clock.now()).toISOString(),
      request_id: newRequestId(clock.now()),
      ...owner,
      door: 'network',
      kind: 'connections',
      input: null,
      connections: sums.read().map((one) => ({ ...connectionRecord(one) })),
      ...NO_END,
    });
  }

  /** What is new, and what has waited for as long as equal connections share an entry. */
  #takeDue(): Unrecorded[] {
    const now = this.#deps.clock.now();
    const due = [...this.#unrecorded].filter(([, { isNew, sinceMs }]) => isNew || now - sinceMs >= SAME_MS);
    for (const [key] of due) this.#unrecorded.delete(key);
    return due.map(([, unrecorded]) => unrecorded);
  }

  #record(seen: Seen, connection: Connection, entry: Entry): void {
    const { project, tool, session } = seen;
    const key = JSON.stringify([project, tool, session]);
    const known = this.#unrecorded.get(key);
    const owner = { project, tool, session };
    const unrecorded = known ?? { owner, sums: new ConnectionSums(), sinceMs: this.#deps.clock.now(), isNew: false };
    this.#unrecorded.set(key, unrecorded);
    unrecorded.sums.add(connection);
    unrecorded.isNew ||= !entry.isRecorded;
    entry.isRecorded = true;
    this.#cancelLate ??= this.#deps.timer.after(SAME_MS, () => {
      this.#cancelLate = null;
      void this.flush();
    });
  }

  #seenOf(fact: ConnectionFact, owner: Owner): Seen {
    // A name that a rule spells out is the person's.
    const host = fact.allowed && fact.rule?.includes('*') === false ? fact.host : this.#masked(fact.host);
    return {
      atMs: fact.atMs,
      ...this.#namesOf(owner),
      host,
      port: fact.port,
      via: fact.via,
      isAllowed: fact.allowed,
      rule: fact.rule ?? '',
      why: host === fact.host ? fact.why : this.#deps.mask(fact.why),
    };
  }

  #namesOf({ scope: { project, tool }, run, running }: Owner) {
    const session = run?.session ?? this.#onlySession(project, running);
    const masked = session === '' ? '' : this.#deps.mask(session);
    return { project, tool: tool ?? '', session: masked, requestId: run?.requestId ?? '' };
  }

  /** The session of all calls that run, or of all that may; '' if there are several. */
  #onlySession(project: string, running: readonly RunRef[]): string {
    const found = running.length > 0 ? running : this.#deps.liveSessions.list(project);
    const sessions = new Set(found.map(({ session }) => session));
    const [only = ''] = sessions;
    return sessions.size === 1 ? only : '';
  }

  #masked(host: string): string {
    const known = this.#masks.get(host);
    if (known !== undefined) return known;
    if (this.#masks.size >= MASKS_MAX) this.#masks.clear();
    const masked = this.#deps.mask(host);
    this.#masks.set(host, masked);
    return masked;
  }

  #endOpen(why: string): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const one of open) this.#end(one, null, why);
  }

  /** `traffic` null: not known. */
  #end({ entry, seen, recorded }: Open, traffic: Traffic | null, why: string): void {
    const bytes = { up: traffic?.up ?? 0, down: traffic?.down ?? 0 };
    entry.open -= 1;
    const own = this.#ownEntry(entry, seen, why);
    const { up, down, atMs } = own.row;
    const durationMs = own.open > 0 ? null : Math.max(0, this.#deps.clock.now() - atMs);
    own.row = { ...own.row, up: up + bytes.up, down: down + bytes.down, durationMs };
    for (const { row } of new Set([own, entry])) this.#put(row);
    if (recorded === null) return;
    this.#record(seen, { ...recorded, ...bytes }, entry);
    if (why !== '') this.#record(seen, { ...recorded, allowed: false, why, isAllowable: false }, own);
  }

  /** A connection that was cut has another entry than those that ended by themselves. */
  #ownEntry(entry: Entry, seen: Seen, why: string): Entry {
    if (why === '') return entry;
    const entries = this.#entriesOf(seen.project);
    if (entry.row.repeats > 1) {
      entries.leave(entry);
      return this.#count({ ...seen, why });
    }
    entries.close(entry);
    entry.row = { ...entry.row, why };
    return entry;
  }

  #count(seen: Seen, count = 1): Entry {
    return this.#entriesOf(seen.project).count(seen, this.#deps.clock.now(), count);
  }

  #entriesOf(project: string): ProjectEntries {
    const known = this.#projects.get(project);
    const entries = known ?? new ProjectEntries(() => (this.#lastId += 1));
    if (known === undefined) this.#projects.set(project, entries);
    return entries;
  }

  #put(row: LoggedConnection): void {
    if (this.#isStopped) return;
    this.#waiting.set(row.id, row);
    this.#cancelFlush ??= this.#deps.timer.after(FLUSH_MS, () => void this.flush());
  }
}
