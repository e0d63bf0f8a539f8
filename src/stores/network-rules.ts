import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { type Database, integerOf, type Row, type Statement, textOf } from './sqlite.ts';

/** The scope of rules that hold for every project. */
export const MACHINE = '';

/** One name that a person allowed or denied. */
export interface StoredRule {
  /** A project root, or MACHINE. */
  readonly scope: string;
  /** In its normal form, such as `*.corp.example:8443`. */
  readonly pattern: string;
  /** The group that the person named; null if they named the pattern itself. */
  readonly group: string | null;
  readonly verdict: 'allow' | 'deny';
  readonly privateAddresses: readonly string[];
  readonly anyPrivate: boolean;
  /** True if the first call that uses the rule uses it up. */
  readonly once: boolean;
  /** Milliseconds since the epoch; null: no end. */
  readonly expiresMs: number | null;
  readonly givenMs: number;
  /** The account that gave it, as ctxd named it. */
  readonly givenBy: string;
}

export type NewRule = Omit<StoredRule, 'scope' | 'givenMs'>;

/** What a rule is known by in its scope. A permission and a denial of the same name can both be there: the denial wins. */
type RuleKey = Pick<StoredRule, 'pattern' | 'group' | 'verdict'>;

/**
 * What people decided about the network, in the daemon's own database: no file of a project is read. Kept in memory too,
 * because every command asks.
 */
export interface NetworkRules {
  /** Throws INTERNAL_ERROR for a row that cannot be read, because guessing could widen what a person allowed. */
  start(): Promise<void>;
  /** Sorted by pattern; rules that have expired are left out. */
  list(scope: string): readonly StoredRule[];
  /** A rule replaces the earlier one of the same pattern, group and verdict. */
  set(scope: string, rules: readonly NewRule[]): Promise<void>;
  remove(scope: string, rules: readonly RuleKey[]): Promise<void>;
  /** Uses up rules of one scope: they are gone when this returns, and from the database when the promise settles. */
  use(rules: readonly StoredRule[]): Promise<void>;
  /** Null if nobody decided for this project. */
  isOn(project: string): boolean | null;
  setOn(project: string, isOn: boolean): Promise<void>;
  /** Removes the rules that have expired, and returns their scopes. */
  expire(): Promise<readonly string[]>;
  /** Forgets everything about a project. */
  forget(project: string): Promise<void>;
}

export function createNetworkRules(deps: { database: Database; clock: Clock }): NetworkRules {
  return new RuleStore(deps);
}

class RuleStore implements NetworkRules {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #scopes = new Map<string, readonly StoredRule[]>();
  readonly #modes = new Map<string, boolean>();

  constructor({ database, clock }: { database: Database; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    const rules = (await this.#database.read('SELECT * FROM network_rules')).map(toRule);
    for (const scope of new Set(rules.map((rule) => rule.scope))) {
      this.#keep(
        scope,
        rules.filter((rule) => rule.scope === scope),
      );
    }
    for (const row of await this.#database.read('SELECT project, is_on FROM network_modes'))
      this.#modes.set(textOf(row, 'project'), integerOf(row, 'is_on') !== 0);
  }

  list(scope: string): readonly StoredRule[] {
    const now = this.#clock.now();
    return (this.#scopes.get(scope) ?? []).filter(({ expiresMs }) => expiresMs === null || expiresMs > now);
  }

  async set(scope: string, rules: readonly NewRule[]): Promise<void> {
    const given = rules.map((rule) => ({ ...rule, scope, givenMs: this.#clock.now() }));
    await this.#database.write(given.map(insertion));
    const replaced = new Set(given.map(keyOf));
    const others = (this.#scopes.get(scope) ?? []).filter((rule) => !replaced.has(keyOf(rule)));
    this.#keep(scope, [...others, ...given]);
  }

  async remove(scope: string, rules: readonly RuleKey[]): Promise<void> {
    await this.#database.write(rules.map((rule) => deletion(scope, rule)));
    this.#drop(scope, rules);
  }

  async use(rules: readonly StoredRule[]): Promise<void> {
    for (const rule of rules) this.#drop(rule.scope, [rule]);
    await this.#database.write(rules.map((rule) => deletion(rule.scope, rule)));
  }

  isOn(project: string): boolean | null {
    return this.#modes.get(project) ?? null;
  }

  async setOn(project: string, isOn: boolean): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO network_modes (project, is_on) VALUES (?, ?)';
    await this.#database.write([{ sql, params: [project, isOn ? 1 : 0] }]);
    this.#modes.set(project, isOn);
  }

  async expire(): Promise<readonly string[]> {
    const now = this.#clock.now();
    const expired = [...this.#scopes].flatMap(([scope, rules]) => {
      const over = rules.filter(({ expiresMs }) => expiresMs !== null && expiresMs <= now);
      return over.length === 0 ? [] : [{ scope, over }];
    });
    for (const { scope, over } of expired) await this.remove(scope, over);
    return expired.map(({ scope }) => scope);
  }

  async forget(project: string): Promise<void> {
    await this.#database.write([
      { sql: 'DELETE FROM network_rules WHERE scope = ?', params: [project] },
      { sql: 'DELETE FROM network_modes WHERE project = ?', params: [project] },
    ]);
    this.#scopes.delete(project);
    this.#modes.delete(project);
  }

  #drop(scope: string, rules: readonly RuleKey[]): void {
    const gone = new Set(rules.map(keyOf));
    const held = this.#scopes.get(scope) ?? [];
    this.#keep(
      scope,
      held.filter((rule) => !gone.has(keyOf(rule))),
    );
  }

  #keep(scope: string, rules: readonly StoredRule[]): void {
    this.#scopes.set(
      scope,
      rules.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    );
  }
}

function keyOf({ pattern, group, verdict }: RuleKey): string {
  return `${pattern}\0${group ?? ''}\0${verdict}`;
}

/** How `private` says that every private address is allowed. */
const ANY = '"any"';

function insertion(rule: StoredRule): Statement {
  const columns = 'scope, pattern, source, verdict, private, once, expires_ms, given_ms, given_by';
  const addresses = rule.anyPrivate ? ANY : JSON.stringify(rule.privateAddresses);
  return {
    sql: `INSERT OR REPLACE INTO network_rules (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    params: [
      rule.scope,
      rule.pattern,
      rule.group ?? '',
      rule.verdict,
      addresses,
      rule.once ? 1 : 0,
      rule.expiresMs,
      rule.givenMs,
      rule.givenBy,
    ],
  };
}

function deletion(scope: string, { pattern, group, verdict }: RuleKey): Statement {
  return {
    sql: 'DELETE FROM network_rules WHERE scope = ? AND pattern = ? AND source = ? AND verdict = ?',
    params: [scope, pattern, group ?? '', verdict],
  };
}

function toRule(row: Row): StoredRule {
  const verdict = textOf(row, 'verdict');
  const source = textOf(row, 'source');
  const addresses = textOf(row, 'private');
  if (verdict !== 'allow' && verdict !== 'deny') throw damaged(row);
  return {
    scope: textOf(row, 'scope'),
    pattern: textOf(row, 'pattern'),
    group: source === '' ? null : source,
    verdict,
    privateAddresses: addresses === ANY ? [] : addressesOf(addresses, row),
    anyPrivate: addresses === ANY,
    once: integerOf(row, 'once') !== 0,
    expiresMs: row.expires_ms === null ? null : integerOf(row, 'expires_ms'),
    givenMs: integerOf(row, 'given_ms'),
    givenBy: textOf(row, 'given_by'),
  };
}

function addressesOf(text: string, row: Row): string[] {
  const value: Json = JSON.parse(text);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw damaged(row);
}

function damaged(row: Row): ContextdError {
  const shown = JSON.stringify(row.pattern)?.slice(0, 200);
  return new ContextdError('INTERNAL_ERROR', `the state database holds a damaged network rule: ${shown}`, {
    remedy: 'Run `ctxd doctor`.',
  });
}
