import { fairShare } from './fair-share.ts';
import { type Database, integerOf, type Row, textOf } from './sqlite.ts';

/** Equal connections that began within a minute, or one. Every text in it has been scrubbed. */
export interface LoggedConnection {
  /** Grows with every row. */
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly project: string;
  /** '' for the commands of a project. */
  readonly tool: string;
  /** '' if it is not known. */
  readonly session: string;
  /** Of the call or job; '' if it is not known. */
  readonly requestId: string;
  readonly host: string;
  readonly port: number;
  readonly via: string;
  readonly isAllowed: boolean;
  /** '' if no rule names the host. */
  readonly rule: string;
  /** Why it was refused or cut; '' otherwise. */
  readonly why: string;
  /** Bytes from and to the sandbox, of those that have ended. */
  readonly up: number;
  readonly down: number;
  /** From the begin of the first to the end of the last; null while one is open. */
  readonly durationMs: number | null;
  /** How many they are. */
  readonly repeats: number;
}

export interface LogQuery {
  /** '' for all. */
  readonly project: string;
  readonly session: string;
  readonly deniedOnly: boolean;
  /** Only rows with a greater id. */
  readonly afterId: number;
  readonly limit: number;
}

/** What a person asked to keep. */
export interface LogLimits {
  readonly maxAgeMs: number;
  readonly maxRows: number;
}

/** Who talked to whom. */
export interface NetworkLog {
  /** The id of the newest row; 0 if the log is empty. */
  lastId(): Promise<number>;
  /** Adds rows, and replaces those with the same id. */
  put(rows: readonly LoggedConnection[]): Promise<void>;
  /** The newest rows, oldest first. */
  read(query: LogQuery): Promise<readonly LoggedConnection[]>;
  /** Removes what is older or more than allowed: the oldest of the projects that have more than their share. */
  prune(limits: LogLimits, nowMs: number): Promise<void>;
}

interface NetworkLogDeps {
  database: Database;
  /** Called with rows once they are stored. Must not throw. */
  onRows?(rows: readonly LoggedConnection[]): void;
}

export function createNetworkLog({ database, onRows }: NetworkLogDeps): NetworkLog {
  return {
    async lastId() {
      const [row] = await database.read('SELECT coalesce(max(id), 0) AS id FROM network_log');
      return row === undefined ? 0 : integerOf(row, 'id');
    },
    async put(rows) {
      if (rows.length === 0) return;
      await database.write(rows.map(insertion));
      onRows?.(rows);
    },
    async read({ project, session, deniedOnly, afterId, limit }) {
      const rows = await database.read(
        `SELECT * FROM network_log WHERE id > ?1 AND (?2 = '' OR project = ?2) AND (?3 = '' OR session = ?3)
          AND (?4 = 0 OR is_allowed = 0 OR why <> '') ORDER BY id DESC LIMIT ?5`,
        afterId,
        project,
        session,
        deniedOnly ? 1 : 0,
        limit,
      );
      return rows.map(toConnection).reverse();
    },
    async prune({ maxAgeMs, maxRows }, nowMs) {
      await database.write([{ sql: 'DELETE FROM network_log WHERE at_ms < ?', params: [nowMs - maxAgeMs] }]);
      const rows = await database.read('SELECT project, count(*) AS count FROM network_log GROUP BY project');
      const counts = rows.map((row) => ({ project: textOf(row, 'project'), count: integerOf(row, 'count') }));
      const share = fairShare(
        counts.map(({ count }) => count),
        maxRows,
      );
      const over = counts.filter(({ count }) => count > share);
      if (over.length > 0) await database.write(over.map(({ project }) => ({ sql: PRUNE, params: [project, share] })));
    },
  };
}

const PRUNE = `DELETE FROM network_log WHERE project = ?1
  AND id <= (SELECT id FROM network_log WHERE project = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`;

const COLUMNS = [
  'id',
  'at_ms',
  'project',
  'tool',
  'session',
  'request_id',
  'host',
  'port',
  'via',
  'is_allowed',
  'rule',
  'why',
  'up',
  'down',
  'duration_ms',
  'repeats',
];
const INSERT = `INSERT OR REPLACE INTO network_log (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`;

function insertion(one: LoggedConnection) {
  return {
    sql: INSERT,
    params: [
      one.id,
      one.atMs,
      one.project,
      one.tool,
      one.session,
      one.requestId,
      one.host,
      one.port,
      one.via,
      one.isAllowed ? 1 : 0,
      one.rule,
      one.why,
      one.up,
      one.down,
      one.durationMs,
      one.repeats,
    ],
  };
}

function toConnection(row: Row): LoggedConnection {
  return {
    id: integerOf(row, 'id'),
    atMs: integerOf(row, 'at_ms'),
    project: textOf(row, 'project'),
    tool: textOf(row, 'tool'),
    session: textOf(row, 'session'),
    requestId: textOf(row, 'request_id'),
    host: textOf(row, 'host'),
    port: integerOf(row, 'port'),
    via: textOf(row, 'via'),
    isAllowed: integerOf(row, 'is_allowed') !== 0,
    rule: textOf(row, 'rule'),
    why: textOf(row, 'why'),
    up: integerOf(row, 'up'),
    down: integerOf(row, 'down'),
    durationMs: row.duration_ms === null ? null : integerOf(row, 'duration_ms'),
    repeats: integerOf(row, 'repeats'),
  };
}
