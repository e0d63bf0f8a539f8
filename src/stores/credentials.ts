import { ContextdError } from '../core/errors.ts';
import { type Database, integerOf, type Row, textOf } from './sqlite.ts';

export const SCHEMES = ['bearer', 'token', 'basic', 'plain'] as const;
export type Scheme = (typeof SCHEMES)[number];

/** A secret that a person bound to a host. */
export interface StoredCredential {
  /** A project root, or '' for the machine. */
  readonly scope: string;
  readonly host: string;
  readonly port: number;
  /** Globs over the path; empty: every path. */
  readonly paths: readonly string[];
  /** In lower case. */
  readonly header: string;
  readonly scheme: Scheme;
  readonly user: string;
  readonly secret: string;
  /** `gh`, `env:NAME` or `file:PATH`. */
  readonly source: string;
  readonly methods: readonly string[];
  /** Variables that hold a placeholder in commands. */
  readonly placeholders: readonly string[];
  /** Milliseconds after which the secret is read again; 0: never. */
  readonly refreshMs: number;
  /** When the secret was read, milliseconds since the epoch. */
  readonly readMs: number;
  /** The account that bound it, as ctxd named it. */
  readonly givenBy: string;
}

/**
 * Secrets bound to hosts. They are in the daemon's state database, whose file and directory nobody but the daemon's own user
 * can read and which no sandbox contains. What is removed is overwritten there, at the latest when the daemon stops.
 */
export interface CredentialStore {
  /** Throws INTERNAL_ERROR for a row that cannot be read. */
  start(): Promise<void>;
  list(): readonly StoredCredential[];
  /** Replaces the one of the same scope, host, port and paths. */
  set(credential: StoredCredential): Promise<void>;
  remove(credentials: readonly StoredCredential[]): Promise<void>;
}

export function createCredentialStore({ database }: { database: Database }): CredentialStore {
  let held: readonly StoredCredential[] = [];
  const without = (gone: readonly StoredCredential[]): StoredCredential[] => {
    const keys = new Set(gone.map(keyOf));
    return held.filter((one) => !keys.has(keyOf(one)));
  };
  return {
    async start() {
      held = (await database.read('SELECT * FROM network_credentials')).map(toCredential);
    },
    list: () => held,
    async set(credential) {
      const columns = 'scope, host, port, paths, header, scheme, user, secret, source, methods, placeholders';
      await database.write([
        {
          sql: `INSERT OR REPLACE INTO network_credentials (${columns}, refresh_ms, read_ms, given_by) VALUES (${Array(14).fill('?').join(', ')})`,
          params: [
            credential.scope,
            credential.host,
            credential.port,
            JSON.stringify(credential.paths),
            credential.header,
            credential.scheme,
            credential.user,
            credential.secret,
            credential.source,
            JSON.stringify(credential.methods),
            JSON.stringify(credential.placeholders),
            credential.refreshMs,
            credential.readMs,
            credential.givenBy,
          ],
        },
      ]);
      held = [...without([credential]), credential];
    },
    async remove(credentials) {
      await database.write(
        credentials.map(({ scope, host, port, paths }) => ({
          sql: 'DELETE FROM network_credentials WHERE scope = ? AND host = ? AND port = ? AND paths = ?',
          params: [scope, host, port, JSON.stringify(paths)],
        })),
      );
      held = without(credentials);
    },
  };
}

/** The same for a credential and the one that replaces it. */
export function keyOf({
  scope,
  host,
  port,
  paths,
}: Pick<StoredCredential, 'scope' | 'host' | 'port' | 'paths'>): string {
  return JSON.stringify([scope, host, port, paths]);
}

function toCredential(row: Row): StoredCredential {
  const scheme = SCHEMES.find((one) => one === row.scheme);
  if (scheme === undefined) throw damaged(row);
  return {
    scope: textOf(row, 'scope'),
    host: textOf(row, 'host'),
    port: integerOf(row, 'port'),
    paths: listOf(row, 'paths'),
    header: textOf(row, 'header'),
    scheme,
    user: textOf(row, 'user'),
    secret: textOf(row, 'secret'),
    source: textOf(row, 'source'),
    methods: listOf(row, 'methods'),
    placeholders: listOf(row, 'placeholders'),
    refreshMs: integerOf(row, 'refresh_ms'),
    readMs: integerOf(row, 'read_ms'),
    givenBy: textOf(row, 'given_by'),
  };
}

function listOf(row: Row, column: string): string[] {
  const value: unknown = JSON.parse(textOf(row, column));
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw damaged(row);
}

function damaged(row: Row): ContextdError {
  return new ContextdError('INTERNAL_ERROR', `the state database holds a damaged credential for ${String(row.host)}`, {
    remedy: 'Run `ctxd doctor`.',
  });
}
