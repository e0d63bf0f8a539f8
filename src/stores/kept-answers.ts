import { type Database, integerOf, type Statement, textOf } from './sqlite.ts';

/** Far more answers than calls can be on their way to their callers at once. */
const KEPT_MAX = 512;
const KEPT_MAX_BYTES = 32 * 1024 * 1024;

interface Kept {
  readonly requestId: string;
  readonly bytes: number;
}

/** The newest answers, sealed. A caller asks for one within moments of losing its connection, or never. */
export class KeptAnswers {
  readonly #database: Database;
  /** Oldest first. */
  #kept: Kept[] = [];
  #bytes = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Reads which answers the last daemon kept. */
  async start(): Promise<void> {
    const rows = await this.#database.read(
      'SELECT request_id, length(sealed) AS bytes FROM call_answers ORDER BY number',
    );
    this.#kept = rows.map((row) => ({ requestId: textOf(row, 'request_id'), bytes: integerOf(row, 'bytes') }));
    this.#bytes = this.#kept.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The statements that keep an answer, and drop the oldest beyond the limits. */
  keep(requestId: string, sealed: string): Statement[] {
    this.#kept.push({ requestId, bytes: sealed.length });
    this.#bytes += sealed.length;
    const statements: Statement[] = [
      {
        sql: 'INSERT INTO call_answers (request_id, sealed) VALUES (?, ?) ON CONFLICT DO NOTHING',
        params: [requestId, sealed],
      },
    ];
    for (let [oldest] = this.#kept; oldest !== undefined && this.#isOver(); [oldest] = this.#kept) {
      this.#kept.shift();
      this.#bytes -= oldest.bytes;
      statements.push(deletion(oldest.requestId));
    }
    return statements;
  }

  /** The statement that drops an answer. */
  drop(requestId: string): Statement {
    const dropped = this.#kept.find((kept) => kept.requestId === requestId);
    this.#kept = this.#kept.filter((kept) => kept !== dropped);
    this.#bytes -= dropped?.bytes ?? 0;
    return deletion(requestId);
  }

  #isOver(): boolean {
    return this.#kept.length > KEPT_MAX || this.#bytes > KEPT_MAX_BYTES;
  }
}

function deletion(requestId: string): Statement {
  return { sql: 'DELETE FROM call_answers WHERE request_id = ?', params: [requestId] };
}
