import { createHash, createHmac, type Hmac, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { sessionKey } from '../call/session.ts';
import { type DeriveKey, deriveFrom } from '../stores/keys.ts';
import { bytesOf, integerOf, textOf } from '../stores/sqlite.ts';

/** What a backup leaves out of the state database besides whole tables. */
export interface LeftOut {
  /** Artifacts whose session is not known any more. */
  readonly artifacts: number;
  /** MCP servers that lose the values of their variables, as `project name`. */
  readonly servers: readonly string[];
}

/** Every session that the databases know, by the tag that the daemon key gives it. */
export type SessionsByTag = ReadonlyMap<string, string>;

const SESSION_TABLES = ['sessions', 'live_sessions', 'calls', 'branches', 'checkpoints'];

/** `events`: the copy of the session database. */
export function knownSessions(state: DatabaseSync, events: DatabaseSync): SessionsByTag {
  const derive = keyOf(state);
  const rows = [
    ...SESSION_TABLES.flatMap((table) => state.prepare(`SELECT DISTINCT project, session FROM ${table}`).all()),
    ...events.prepare('SELECT project, session FROM logs').all(),
  ];
  const keys = rows.map((row) => sessionKey({ project: textOf(row, 'project'), session: textOf(row, 'session') }));
  return new Map(keys.map((key) => [tagOf(derive, key).toString('hex'), key]));
}

/**
 * Takes the codes of the daemon key out of a copy of the state database: a session tag becomes the session itself, the hash of a
 * content its number. The values of variables go too, and branches in `without` have no files any more. Runs before the tables
 * that stay are emptied.
 */
export function removeTags(state: DatabaseSync, sessions: SessionsByTag, without: ReadonlySet<string>): LeftOut {
  state.function('session_key', (tag) =>
    tag instanceof Uint8Array ? bytesOrNull(sessions.get(Buffer.from(tag).toString('hex'))) : null,
  );
  const salt = randomBytes(32);
  // Only equal commands must stay equal: which one it was cannot be found out.
  state.function('salted', (tag) =>
    tag instanceof Uint8Array ? createHash('sha256').update(salt).update(tag).digest() : null,
  );
  const artifacts = state.prepare('DELETE FROM artifacts WHERE session_key(session) IS NULL').run().changes;
  const servers = state
    .prepare(`SELECT project || ' ' || name AS name FROM upstream_servers WHERE variables <> '{}' ORDER BY 1`)
    .all();
  const discard = state.prepare(`UPDATE branches SET files_state = 'discarded' WHERE id = ?`);
  for (const branch of without) discard.run(branch);
  state.exec(`
    DELETE FROM checkpoint_pins WHERE artifact NOT IN (SELECT id FROM artifacts);
    DELETE FROM tombstones WHERE session_key(session) IS NULL;
    DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM artifacts WHERE content = contents.id);
    UPDATE artifacts SET session = session_key(session), command = salted(command);
    UPDATE tombstones SET session = session_key(session);
    UPDATE sessions SET tag = session_key(tag);
    UPDATE contents SET hash = CAST('content ' || id AS BLOB);
    UPDATE upstream_servers SET variables = '{}';
  `);
  return {
    artifacts: Number(artifacts),
    servers: servers.map((row) => textOf(row, 'name')),
  };
}

/** The contents of a state database that are in files: their numbers, hashes and sizes. */
export function contentsInFiles(state: DatabaseSync): { id: number; hash: Buffer; bytes: number }[] {
  return state
    .prepare('SELECT id, hash, bytes FROM contents WHERE in_file = 1 ORDER BY id')
    .all()
    .map((row) => ({ id: integerOf(row, 'id'), hash: bytesOf(row, 'hash'), bytes: integerOf(row, 'bytes') }));
}

/** Drops a content whose file is gone, with a tombstone for each of its artifacts, as if it had expired. */
export function dropContent(state: DatabaseSync, id: number, nowMs: number): void {
  state
    .prepare('INSERT INTO tombstones SELECT id, session, ? FROM artifacts WHERE content = ? ON CONFLICT DO NOTHING')
    .run(nowMs, id);
  state.prepare('DELETE FROM artifacts WHERE content = ?').run(id);
  state.prepare('DELETE FROM contents WHERE id = ?').run(id);
}

/**
 * Gives a restored state database a key of its own, and its sessions and small contents their codes. Returns what makes the hash of
 * a content in a file.
 */
export function setTags(state: DatabaseSync): () => Hmac {
  const key = randomBytes(32);
  const derive = deriveFrom(key);
  state.prepare(`INSERT INTO meta VALUES ('daemon_key', ?)`).run(key);
  state.function('session_tag', (session) =>
    session instanceof Uint8Array ? tagOf(derive, Buffer.from(session).toString('utf8')) : null,
  );
  state.function('tag_of', (project, session) =>
    tagOf(derive, sessionKey({ project: String(project), session: String(session) })),
  );
  state.function('content_hash', (body) =>
    body instanceof Uint8Array ? contentHash(derive).update(body).digest() : null,
  );
  state.exec(`
    UPDATE sessions SET tag = tag_of(project, session);
    UPDATE artifacts SET session = session_tag(session);
    UPDATE tombstones SET session = session_tag(session);
    UPDATE contents SET hash = (SELECT content_hash(body) FROM bodies WHERE content = contents.id) WHERE in_file = 0;
  `);
  return () => contentHash(derive);
}

function contentHash(derive: DeriveKey): Hmac {
  return createHmac('sha256', derive('content'));
}

function keyOf(state: DatabaseSync): DeriveKey {
  const row = state.prepare(`SELECT value FROM meta WHERE name = 'daemon_key'`).get();
  return deriveFrom(bytesOf(row ?? {}, 'value'));
}

function tagOf(derive: DeriveKey, key: string): Buffer {
  return derive('session', key).subarray(0, 16);
}

function bytesOrNull(text: string | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text, 'utf8');
}
