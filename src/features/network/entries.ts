import { Meter } from '../../egress/meter.ts';
import { otherRefusals } from '../../sandbox/contract/connection-sums.ts';
import type { LoggedConnection } from '../../stores/network-log.ts';

/** Equal connections that begin within this many milliseconds share an entry. */
export const SAME_MS = 60_000;
/** Entries of a project that others may still join. */
const SAME_MAX = 1_000;
/** New entries of a project: at once, and per second afterwards. */
const ENTRIES_AT_ONCE = 1_000;
const ENTRIES_PER_SECOND = 20;

/** One connection, as the log says it. */
export type Seen = Omit<LoggedConnection, 'id' | 'up' | 'down' | 'durationMs' | 'repeats'>;

/** An entry of the log, for one connection or for equal ones. */
export interface Entry {
  row: LoggedConnection;
  /** Connections that have not ended. */
  open: number;
  /** True if an audit record of its own has it. */
  isRecorded: boolean;
}

/**
 * The entries of one project. Equal connections share one; a project with more different ones than the limit gets one for
 * each rule, and one for everything that was refused. So no project fills the log of all.
 */
export class ProjectEntries {
  readonly #nextId: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #meter = new Meter(ENTRIES_AT_ONCE, ENTRIES_PER_SECOND);

  constructor(nextId: () => number) {
    this.#nextId = nextId;
  }

  /** Counts connections, in an entry that is there or in a new one. */
  count(seen: Seen, nowMs: number, count = 1): Entry {
    const known = this.#find(seen);
    if (known !== null) return repeated(known, count);
    if (this.#meter.take(nowMs)) return this.#add(seen, count);
    const merged = mergedOf(seen);
    const others = this.#find(merged);
    return others === null ? this.#add(merged, count) : repeated(others, count);
  }

  /** Takes one connection out of an entry of several, because it ended in its own way. */
  leave(entry: Entry): void {
    entry.row = { ...entry.row, repeats: entry.row.repeats - 1 };
  }

  /** No other connection joins the entry. */
  close(entry: Entry): void {
    const key = keyOf(entry.row);
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  #find(seen: Seen): Entry | null {
    const known = this.#entries.get(keyOf(seen));
    return known !== undefined && seen.atMs - known.row.atMs < SAME_MS ? known : null;
  }

  #add(seen: Seen, count: number): Entry {
    const row = { ...seen, id: this.#nextId(), up: 0, down: 0, durationMs: 0, repeats: count };
    const entry = { row, open: 0, isRecorded: false };
    const key = keyOf(seen);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined && this.#entries.size > SAME_MAX) this.#entries.delete(oldest);
    return entry;
  }
}

function repeated(entry: Entry, count: number): Entry {
  entry.row = { ...entry.row, repeats: entry.row.repeats + count };
  return entry;
}

/** The names that programs choose are left out; what a person wrote stays. */
function mergedOf(seen: Seen): Seen {
  const { host, port, via, why } = otherRefusals(1);
  if (seen.isAllowed) return { ...seen, host: seen.rule, why: seen.why === '' ? '' : why };
  return { ...seen, host, port, via, why, rule: '' };
}

function keyOf({ tool, session, requestId, host, port, via, isAllowed, rule, why }: Seen): string {
  return JSON.stringify([tool, session, requestId, host, port, via, isAllowed, rule, why]);
}
