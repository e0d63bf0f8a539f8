import type { Denial } from '../../core/envelope.ts';
import { type ConnectionFact, LANES_NET, type Traffic } from '../../egress/messages.ts';
import { DENIALS_MAX } from '../denials/merge.ts';
import { refusedConnection } from '../denials/rules.ts';
import type { Connection } from '../sandbox.ts';

/** Connections of one command that are kept; those that differ in nothing but their bytes count as one. */
const CONNECTIONS_MAX = 200;
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
  readonly connections: Map<string, { -readonly [Key in keyof Connection]: Connection[Key] }>;
  /** What the command could not have, whatever it asked for. */
  lost: Denial | null;
}

interface Open {
  readonly tally: Tally;
  readonly key: string;
  up: number;
  down: number;
}

/**
 * Finds out whose a connection is. The lane is a hint, because another command of the namespace can use it too; a
 * connection without one belongs to the only command that runs in its namespace, or to nobody.
 */
export class Attribution {
  readonly #running = new Set<Tally>();
  readonly #open = new Map<number, Open>();

  begin(user: NetworkUser): () => NetworkUse {
    const tally: Tally = { user, connections: new Map(), lost: null };
    this.#running.add(tally);
    return () => {
      this.#running.delete(tally);
      return { connections: [...tally.connections.values()], denied: denialsOf(tally) };
    };
  }

  /** Returns the run; null if it is not known. */
  connection(fact: ConnectionFact): number | null {
    const tally = this.#find(fact);
    if (tally === null) return null;
    const key = keyOf(fact);
    if (!tally.connections.has(key) && tally.connections.size < CONNECTIONS_MAX) {
      tally.connections.set(key, { ...fact, up: 0, down: 0 });
    }
    if (fact.allowed && this.#open.size < OPEN_MAX) this.#open.set(fact.id, { tally, key, up: 0, down: 0 });
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
    const sum = open?.tally.connections.get(open.key);
    if (open === undefined || sum === undefined) return;
    sum.up += up - open.up;
    sum.down += down - open.down;
    Object.assign(open, { up, down });
  }

  /** There is no proxy process now: every connection is cut, and its numbers start again. */
  lost(why: Denial): void {
    this.#open.clear();
    for (const tally of this.#running) tally.lost = why;
  }

  #find({ namespace, lane }: ConnectionFact): Tally | null {
    const inside = [...this.#running].filter(({ user }) => user.namespace === namespace);
    const named = inside.find(({ user }) => user.lane === lane);
    if (named !== undefined) return named;
    // A lane that nobody has: of a command that ended, or of a sandbox that waits.
    if (lane !== null && isLane(lane)) return null;
    return inside.length === 1 ? (inside[0] ?? null) : null;
  }
}

const LANES_PREFIX = LANES_NET.address.split('.').slice(0, 2).join('.');

function isLane(address: string): boolean {
  return address.startsWith(`${LANES_PREFIX}.`);
}

function refuse({ tally, key }: Open, why: string): void {
  const fact = tally.connections.get(key);
  if (fact === undefined) return;
  const refused = { ...fact, allowed: false, why, isAllowable: false };
  if (!tally.connections.has(keyOf(refused))) tally.connections.set(keyOf(refused), { ...refused, up: 0, down: 0 });
}

function keyOf({ host, port, via, allowed, rule, why }: ConnectionFact): string {
  return JSON.stringify([host, port, via, allowed, rule, why]);
}

/** One for each host and port; of a host that was only looked up, the look-up. */
function denialsOf({ connections, lost }: Tally): Denial[] {
  const refused = [...connections.values()].filter(({ allowed }) => !allowed);
  const asked = new Set(refused.flatMap(({ host, port }) => (port === 0 ? [] : [host])));
  const found = new Map<string, Denial>();
  for (const one of refused) {
    if (one.port === 0 && asked.has(one.host)) continue;
    const key = `${one.host} ${one.port}`;
    if (!found.has(key)) found.set(key, refusedConnection(one));
  }
  return [...(lost === null ? [] : [lost]), ...found.values()].slice(0, DENIALS_MAX);
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
