import type { Denial } from '../../core/envelope.ts';
import { type ConnectionFact, LANES_NET, type Traffic } from '../../egress/messages.ts';
import type { Connection } from '../contract/command.ts';
import { ConnectionSums, summedConnection } from '../contract/connection-sums.ts';
import { DENIALS_MAX, refusedConnection } from '../contract/refused-connection.ts';

/** Open connections whose command is known; the proxy process holds fewer. */
const OPEN_MAX = 100_000;

/** A running command, by what its connections show. */
export interface NetworkUser {
  readonly namespace: string;
  /** The address at which its proxy variables lead to the proxy. */
  readonly lane: string;
  /** As `EgressSink.onEvent` names it. */
  readonly run: number;
}

/** What the network of one command did. */
export interface NetworkUse {
  readonly connections: readonly Connection[];
  readonly denied: readonly Denial[];
}

interface Tally {
  readonly user: NetworkUser;
  readonly connections: ConnectionSums;
  /** Refused while other commands ran in the namespace: whose it was is not known. */
  readonly unowned: ConnectionSums;
  /** What the command could not have, whatever it asked for. */
  lost: Denial | null;
}

interface Open {
  readonly tally: Tally;
  readonly fact: ConnectionFact;
  readonly sum: ReturnType<ConnectionSums['add']>;
  up: number;
  down: number;
}

/**
 * Finds out whose a connection is. The lane is a hint, because another command of the namespace can use it too. A
 * connection by an address that no running command has belongs to the only command that runs in its namespace: programs
 * choose the address, and must not be able to choose one that is on no record. If several run, only the project is known; a
 * refusal is named in the answers of all of them then, because the one that asked would fail without a word.
 */
export class Attribution {
  readonly #running = new Set<Tally>();
  readonly #open = new Map<number, Open>();

  begin(user: NetworkUser): () => NetworkUse {
    const tally: Tally = { user, connections: new ConnectionSums(), unowned: new ConnectionSums(), lost: null };
    this.#running.add(tally);
    return () => {
      this.#running.delete(tally);
      return { connections: tally.connections.read(), denied: denialsOf(tally) };
    };
  }

  /** Returns the run; null if it is not known. */
  connection(fact: ConnectionFact): number | null {
    const inside = [...this.#running].filter(({ user }) => user.namespace === fact.namespace);
    const tally = ownerOf(fact, inside);
    if (tally === null) {
      if (!fact.allowed) for (const { unowned } of inside) unowned.add(summedConnection(fact));
      return null;
    }
    const sum = tally.connections.add(summedConnection(fact));
    if (fact.allowed && this.#open.size < OPEN_MAX) this.#open.set(fact.id, { tally, fact, sum, up: 0, down: 0 });
    return tally.user.run;
  }

  /** `why`: it was refused after all. Returns the run; null if it is not known. */
  closed(traffic: Traffic, why: string): number | null {
    const open = this.#open.get(traffic.id);
    this.traffic(traffic);
    this.#open.delete(traffic.id);
    if (open === undefined) return null;
    if (why !== '') refuse(open, why);
    return open.tally.user.run;
  }

  /** The bytes of a connection until now. */
  traffic({ id, up, down }: Traffic): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.sum.up += up - open.up;
    open.sum.down += down - open.down;
    Object.assign(open, { up, down });
  }

  /** The proxy process ended: every connection is cut, and their numbers start again. */
  cut(why: Denial): void {
    for (const { tally } of this.#open.values()) tally.lost = why;
    this.#open.clear();
  }

  /** There is no proxy process, and none comes soon. */
  unavailable(why: Denial): void {
    for (const tally of this.#running) tally.lost = why;
  }
}

function ownerOf({ lane }: ConnectionFact, inside: readonly Tally[]): Tally | null {
  const named = inside.find(({ user }) => user.lane === lane);
  return named ?? (inside.length === 1 ? (inside[0] ?? null) : null);
}

const LANES_PREFIX = LANES_NET.address.split('.').slice(0, 2).join('.');

function refuse({ tally, fact }: Open, why: string): void {
  tally.connections.add(summedConnection({ ...fact, allowed: false, why, isAllowable: false }));
}

/** One for each host and port; of a host that was only looked up, the look-up. */
function denialsOf({ connections, unowned, lost }: Tally): Denial[] {
  const refused = [
    ...connections.refused.map((one) => ({ one, denial: refusedConnection(one) })),
    ...unowned.refused.map((one) => ({ one, denial: besideOthers(refusedConnection(one)) })),
  ];
  const asked = new Set(refused.flatMap(({ one: { host, port } }) => (port === 0 ? [] : [host])));
  const found = new Map<string, Denial>();
  for (const { one, denial } of refused) {
    if (one.port === 0 && asked.has(one.host)) continue;
    const key = `${one.host} ${one.port}`;
    if (!found.has(key)) found.set(key, denial);
  }
  return [...(lost === null ? [] : [lost]), ...found.values()].slice(0, DENIALS_MAX);
}

function besideOthers(denial: Denial): Denial {
  return { ...denial, rule: `${denial.rule} (asked for by this command or one that ran beside it, such as a job)` };
}

/** Addresses for the proxy variables of the sandboxes of one namespace. An address is used again as late as possible. */
export class Lanes {
  readonly #used = new Set<number>();
  #last = 0;

  /** Null if all are in use. */
  take(): { readonly address: string; release(): void } | null {
    for (let tried = 0; tried < LANES_COUNT; tried++) {
      this.#last = (this.#last % LANES_COUNT) + 1;
      const number = this.#last;
      if (this.#used.has(number)) continue;
      this.#used.add(number);
      return {
        address: `${LANES_PREFIX}.${number >> 8}.${number & 255}`,
        release: () => void this.#used.delete(number),
      };
    }
    return null;
  }
}

/** All addresses of the net but its first and its last. */
const LANES_COUNT = 65_534;
