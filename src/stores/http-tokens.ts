import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { PERMISSIONS, type TokenGrant } from '../core/permissions.ts';
import { compareText } from './consents.ts';
import { type Database, integerOf, textOf } from './sqlite.ts';

/** A token of the HTTP door. The token itself is not kept. */
export interface StoredToken extends TokenGrant {
  /** SHA-256 of the token, hexadecimal. */
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly madeMs: number;
  /** Milliseconds since the epoch; null: it does not expire. */
  readonly expiresMs: number | null;
}

/** Kept in memory too, because every request asks. */
export interface HttpTokens {
  start(): Promise<void>;
  /** By name. Expired ones too. */
  list(): readonly StoredToken[];
  /** What a token grants, compared in constant time. Null for a token that is unknown or has expired. */
  find(token: string): TokenGrant | null;
  /** False once the token was revoked or replaced, or has expired. */
  isValid(grant: TokenGrant): boolean;
  /** Replaces the one of the same name. */
  put(token: Omit<StoredToken, 'madeMs'>): Promise<StoredToken>;
  remove(name: string): Promise<void>;
  /** Removes the tokens for a project. */
  forget(project: string): Promise<void>;
}

export function createHttpTokens({ database, clock }: { database: Database; clock: Clock }): HttpTokens {
  let held: readonly StoredToken[] = [];
  const keep = (tokens: readonly StoredToken[]): void => {
    held = tokens.toSorted((a, b) => compareText(a.name, b.name));
  };
  const isCurrent = ({ expiresMs }: StoredToken): boolean => expiresMs === null || clock.now() < expiresMs;
  return {
    async start() {
      keep(
        (await database.read('SELECT * FROM http_tokens')).map((row) => {
          const permissions = textOf(row, 'permissions').split(' ');
          return {
            name: textOf(row, 'name'),
            sha256: textOf(row, 'sha256'),
            scope: textOf(row, 'scope'),
            permissions: PERMISSIONS.filter((one) => permissions.includes(one)),
            madeMs: integerOf(row, 'made_ms'),
            expiresMs: row.expires_ms === null ? null : integerOf(row, 'expires_ms'),
          };
        }),
      );
    },
    list: () => held,
    find(token) {
      const hash = createHash('sha256').update(token).digest();
      // Compares with every one, so that the time says nothing about which one it is.
      const equal = held.filter(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), hash));
      return equal.find(isCurrent) ?? null;
    },
    isValid: (grant) => held.some((one) => one === grant && isCurrent(one)),
    async put(token) {
      const made = { ...token, madeMs: clock.now() };
      await database.write([
        {
          sql: `INSERT OR REPLACE INTO http_tokens (name, sha256, scope, permissions, made_ms, expires_ms)
                VALUES (?, ?, ?, ?, ?, ?)`,
          params: [made.name, made.sha256, made.scope, made.permissions.join(' '), made.madeMs, made.expiresMs],
        },
      ]);
      keep([...held.filter(({ name }) => name !== made.name), made]);
      return made;
    },
    async remove(name) {
      await database.write([{ sql: 'DELETE FROM http_tokens WHERE name = ?', params: [name] }]);
      keep(held.filter((one) => one.name !== name));
    },
    async forget(project) {
      if (project === '') return;
      await database.write([{ sql: 'DELETE FROM http_tokens WHERE scope = ?', params: [project] }]);
      keep(held.filter(({ scope }) => scope !== project));
    },
  };
}
