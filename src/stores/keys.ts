import { createHmac, randomBytes } from 'node:crypto';
import { bytesOf, type Database } from './sqlite.ts';

/** Derives keys from the daemon's own random key, which never leaves the state database (0600). */
export interface DaemonKeys {
  /** Reads the key, or creates it on the first start. */
  start(): Promise<void>;
  /** HMAC-SHA256(daemon key, label + text), 32 bytes. The same after a restart. */
  derive(label: KeyLabel, text?: string): Buffer;
}

/** What a key is for. No label is a prefix of another, so two uses never share a key. */
export type KeyLabel =
  | 'allowed'
  | 'call'
  | 'command'
  | 'content'
  | 'cursor'
  | 'etag'
  | 'http'
  | 'secret'
  | 'session'
  | 'telemetry';

export type DeriveKey = DaemonKeys['derive'];

/** The keys that follow from `key`. */
export function deriveFrom(key: Buffer): DeriveKey {
  return (label, text = '') => createHmac('sha256', key).update(label).update(text).digest();
}

export function createDaemonKeys(deps: { database: Database }): DaemonKeys {
  let derive: DeriveKey | undefined;
  return {
    async start() {
      const [, rows] = await deps.database.write([
        { sql: `INSERT INTO meta VALUES ('daemon_key', ?) ON CONFLICT DO NOTHING`, params: [randomBytes(32)] },
        { sql: `SELECT value FROM meta WHERE name = 'daemon_key'`, params: [] },
      ]);
      derive = deriveFrom(bytesOf(rows?.[0] ?? {}, 'value'));
    },
    derive(label, text) {
      if (derive === undefined) throw new Error('the daemon key is not loaded; call start() first');
      return derive(label, text);
    },
  };
}
