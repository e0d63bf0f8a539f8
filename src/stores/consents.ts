import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { type Database, integerOf, type Statement, textOf } from './sqlite.ts';

/** A person's consent to exactly these bytes (or this version) of `subject`, within `scope`. */
export interface Consent {
  /** The project root in which the consent holds. */
  scope: string;
  subject: ConsentSubject;
  /** SHA-256 of the content, hex. Another hash needs another consent. */
  hash: string;
  /** Milliseconds since the epoch. */
  givenMs: number;
  /** Milliseconds since the epoch; null: no end. An expired consent counts as none. */
  expiresMs: number | null;
}

/**
 * The subject of a consent: `rules` for the project's `.gitleaks.toml`, `tool:<origin>:<name>`, `grant:<tool
 * name>:<grant>` with the hash of the tool's bundle, `path:<directory>` with the hash of the path, for a directory outside
 * the project that commands may write, or `approval:<allow|never>:<rule id>` with the hash of the rule, for a person's answer
 * to a rule that asks.
 */
export type ConsentSubject =
  | 'rules'
  | `tool:${ToolOrigin}:${string}`
  | `grant:${string}:${string}`
  | `path:${string}`
  | `approval:${ApprovalVerdict}:${string}`;

/** A person's answer that is kept: calls about which the rule asks are allowed, or refused without asking. */
export type ApprovalVerdict = 'allow' | 'never';

export type ToolOrigin = 'core' | 'installed';

export interface NewConsent extends Pick<Consent, 'subject' | 'hash'> {
  /** Default: null. */
  expiresMs?: number | null;
}

export interface ConsentChange {
  withdraw?: readonly ConsentSubject[];
  give?: readonly NewConsent[];
}

/**
 * All consents of a project, in one table. The project must be registered; its consents are removed with it. Cached in
 * memory, because every call reads some. Consents to quarantined files stay in the spawner's ledger
 * (docs/decisions/0021-consents.md).
 */
export interface Consents {
  /** Errors: INTERNAL_ERROR for a row that cannot be read, because guessing could widen a consent. */
  start(): Promise<void>;
  /** True if a person consented to exactly this hash. */
  has(scope: string, subject: ConsentSubject, hash: string): boolean;
  /** Sorted by subject, expired ones too. Returns the same array until a consent of the scope changes. */
  list(scope: string): readonly Consent[];
  /** The scopes with consents. */
  scopes(): readonly string[];
  /** Replaces any earlier consent for the same subject. */
  give(scope: string, subject: ConsentSubject, hash: string): Promise<void>;
  /** Returns false if there was no such consent. */
  withdraw(scope: string, subject: ConsentSubject): Promise<boolean>;
  /** Makes all changes of a scope and executes the statements in `also`, or does nothing. */
  change(scope: string, change: ConsentChange, also?: readonly Statement[]): Promise<void>;
}

const NO_CONSENTS: readonly Consent[] = [];

export function createConsents(deps: { database: Database; clock: Clock }): Consents {
  return new ConsentStore(deps);
}

class ConsentStore implements Consents {
  readonly #database: Database;
  readonly #clock: Clock;
  /** By scope. Each list is sorted and replaced as a whole. */
  readonly #scopes = new Map<string, readonly Consent[]>();

  constructor({ database, clock }: { database: Database; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    const expired = 'DELETE FROM consents WHERE expires_ms <= ?';
    await this.#database.write([{ sql: expired, params: [this.#clock.now()] }]);
    const rows = await this.#database.read('SELECT scope, subject, hash, given_ms, expires_ms FROM consents');
    const consents = rows.map((row) => ({
      scope: textOf(row, 'scope'),
      subject: parseSubject(textOf(row, 'subject')),
      hash: textOf(row, 'hash'),
      givenMs: integerOf(row, 'given_ms'),
      expiresMs: row.expires_ms === null ? null : integerOf(row, 'expires_ms'),
    }));
    for (const scope of new Set(consents.map((consent) => consent.scope)))
      this.#keep(
        scope,
        consents.filter((consent) => consent.scope === scope),
      );
  }

  has(scope: string, subject: ConsentSubject, hash: string): boolean {
    const isMeant = (consent: Consent): boolean => consent.subject === subject && consent.hash === hash;
    return this.list(scope).some((consent) => isMeant(consent) && !this.#isExpired(consent));
  }

  scopes(): readonly string[] {
    return [...this.#scopes.keys()];
  }

  #isExpired({ expiresMs }: Consent): boolean {
    return expiresMs !== null && expiresMs <= this.#clock.now();
  }

  list(scope: string): readonly Consent[] {
    return this.#scopes.get(scope) ?? NO_CONSENTS;
  }

  give(scope: string, subject: ConsentSubject, hash: string): Promise<void> {
    return this.change(scope, { give: [{ subject, hash }] });
  }

  async withdraw(scope: string, subject: ConsentSubject): Promise<boolean> {
    const wasGiven = this.list(scope).some((consent) => consent.subject === subject);
    await this.change(scope, { withdraw: [subject] });
    return wasGiven;
  }

  async change(
    scope: string,
    { withdraw = [], give = [] }: ConsentChange,
    also: readonly Statement[] = [],
  ): Promise<void> {
    const given = give.map((consent) => ({ expiresMs: null, ...consent, scope, givenMs: this.#clock.now() }));
    await this.#database.write([
      ...also,
      ...withdraw.map((subject) => ({
        sql: 'DELETE FROM consents WHERE scope = ? AND subject = ?',
        params: [scope, subject],
      })),
      ...given.map(({ subject, hash, givenMs, expiresMs }) => ({
        sql: 'INSERT OR REPLACE INTO consents (scope, subject, hash, given_ms, expires_ms) VALUES (?, ?, ?, ?, ?)',
        params: [scope, subject, hash, givenMs, expiresMs],
      })),
    ]);
    const gone = new Set([...withdraw, ...give.map(({ subject }) => subject)]);
    this.#keep(scope, [...this.list(scope).filter(({ subject }) => !gone.has(subject)), ...given]);
  }

  #keep(scope: string, consents: readonly Consent[]): void {
    this.#scopes.set(
      scope,
      consents.toSorted((a, b) => compareText(a.subject, b.subject)),
    );
  }
}

/** The subject of a grant to the accepted tool `tool`. */
export function grantSubject(tool: string, grant: string): ConsentSubject {
  return `grant:${tool}:${grant}`;
}

const PATH_SUBJECT = 'path:';

/** The subject of a directory outside the project. */
export function pathSubject(path: string): ConsentSubject {
  return `${PATH_SUBJECT}${path}`;
}

/** The directory of a subject from `pathSubject`; null for any other subject. */
export function pathOfSubject(subject: ConsentSubject): string | null {
  return subject.startsWith(PATH_SUBJECT) ? subject.slice(PATH_SUBJECT.length) : null;
}

/** The subject of a person's answer to the rule. */
export function approvalSubject(verdict: ApprovalVerdict, rule: string): ConsentSubject {
  return `approval:${verdict}:${rule}`;
}

/** The answer of a subject from `approvalSubject`; null for any other subject. */
export function approvalOfSubject(subject: ConsentSubject): { verdict: ApprovalVerdict; rule: string } | null {
  const [kind, verdict, rule] = splitSubject(subject);
  return kind === 'approval' && (verdict === 'allow' || verdict === 'never') ? { verdict, rule } : null;
}

function parseSubject(text: string): ConsentSubject {
  const [kind, first, rest] = splitSubject(text);
  if (text === 'rules') return text;
  if (kind === 'tool' && (first === 'core' || first === 'installed') && rest !== '') return `tool:${first}:${rest}`;
  if (kind === 'path' && text.startsWith(`${PATH_SUBJECT}/`)) return `path:${text.slice(PATH_SUBJECT.length)}`;
  if (kind === 'grant' && first !== '' && rest !== '') return `grant:${first}:${rest}`;
  if (kind === 'approval' && (first === 'allow' || first === 'never') && rest !== '')
    return `approval:${first}:${rest}`;
  throw new ContextdError('INTERNAL_ERROR', `the state database holds a consent to ${JSON.stringify(text)}`, {
    remedy: 'Run `ctxd doctor`.',
  });
}

/** Splits at the first two colons. The rest may contain colons. */
export function splitSubject(subject: string): [kind: string, first: string, rest: string] {
  const [kind = '', first = ''] = subject.split(':', 2);
  return [kind, first, subject.slice(kind.length + first.length + 2)];
}

/** Compares UTF-16 code units: the same order on every machine, and SQLite's order for ASCII. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
