import type { ConnectionFact } from '../../egress/messages.ts';
import type { Connection } from './command.ts';

/** Connections that one record lists. */
export const CONNECTIONS_LISTED = 100;

type Sum = { -readonly [Key in keyof Connection]: Connection[Key] };

/**
 * Connections for a record of bounded size. Equal ones (host, port, verdict, rule) are one entry with a count and the bytes
 * of all. Nothing that a program asks for in vain displaces what it reached: allowed ones come first. Those without an
 * entry of their own are together in a last one for each verdict, with the host `*`, so that none is missing.
 */
export class ConnectionSums {
  readonly #allowed = new Sums();
  readonly #refused = new Sums();

  /** Returns the entry that counts it: its bytes may be added there later. */
  add(connection: Connection): Sum {
    return (connection.allowed ? this.#allowed : this.#refused).add(connection);
  }

  get refused(): readonly Connection[] {
    return this.#refused.listed(CONNECTIONS_LISTED);
  }

  /** At most `CONNECTIONS_LISTED` entries, and one for the others of each verdict. */
  read(): readonly Connection[] {
    const allowed = this.#allowed.listed(CONNECTIONS_LISTED);
    const refused = this.#refused.listed(CONNECTIONS_LISTED - allowed.length);
    return [...allowed, ...refused, ...this.#allowed.others(allowed.length), ...this.#refused.others(refused.length)];
  }
}

/** One connection, as `ConnectionSums` takes it. */
export function summedConnection(fact: ConnectionFact): Connection {
  const { host, port, via, allowed, rule, why, isAllowable, isBindable = false } = fact;
  const asked = { host, port, via, allowed, rule, why, isAllowable, ...(isBindable ? { isBindable } : {}) };
  return { ...asked, count: 1, up: 0, down: 0 };
}

/** Refusals of which nothing but their number is known. */
export function otherRefusals(count: number): Connection {
  return { ...OTHERS, allowed: false, count, up: 0, down: 0 };
}

/** Those of one verdict. */
class Sums {
  readonly #entries = new Map<string, Sum>();
  #others: Sum | null = null;

  add(connection: Connection): Sum {
    const { host, port, rule } = connection;
    const isOthers = host === OTHERS.host && connection.why === OTHERS.why;
    const key = JSON.stringify([host, port, rule]);
    const known = isOthers ? this.#others : this.#entries.get(key);
    if (known !== null && known !== undefined) {
      if (known.via !== connection.via) known.via = 'several';
      return include(known, connection);
    }
    if (isOthers || this.#entries.size >= CONNECTIONS_LISTED) {
      this.#others ??= othersOf(connection);
      return include(this.#others, connection);
    }
    const entry = { ...connection };
    this.#entries.set(key, entry);
    return entry;
  }

  listed(max: number): Connection[] {
    return [...this.#entries.values()].slice(0, max).map((entry) => ({ ...entry }));
  }

  /** Those that are not among the first `listed`, as one; empty if all are. */
  others(listed: number): Connection[] {
    const unlisted = [...this.#entries.values()].slice(listed);
    if (this.#others !== null) unlisted.push(this.#others);
    const [first] = unlisted;
    return first === undefined ? [] : [unlisted.reduce(include, othersOf(first))];
  }
}

const OTHERS = {
  host: '*',
  port: 0,
  via: 'several',
  rule: null,
  why: 'further connections, which the record does not list one by one',
  isAllowable: false,
} as const;

function othersOf({ allowed }: Connection): Sum {
  return { ...OTHERS, allowed, count: 0, up: 0, down: 0 };
}

function include(sum: Sum, { count, up, down }: Connection): Sum {
  sum.count += count;
  sum.up += up;
  sum.down += down;
  return sum;
}
