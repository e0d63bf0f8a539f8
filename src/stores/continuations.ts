import { type SessionRef, sessionKey } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { DaemonKeys } from './keys.ts';
import { type Database, integerOf, textOf } from './sqlite.ts';

/** The short numbers that stand for cursors in text answers: 1, 2, … in each session, the same after a restart. */
export interface Continuations {
  /** Takes the next number of the session. It is never given twice. */
  reserve(session: SessionRef): Promise<number>;
  /** Makes `number` stand for a cursor. */
  keep(session: SessionRef, number: number, cursor: string): Promise<void>;
  /** The cursor of a number; null if the session has no such number. */
  find(session: SessionRef, number: number): Promise<string | null>;
}

export function createContinuations(deps: { database: Database; keys: DaemonKeys; clock: Clock }): Continuations {
  const { database, keys, clock } = deps;
  const tagOf = (session: SessionRef): Buffer => keys.derive('session', sessionKey(session)).subarray(0, 16);
  return {
    async reserve(session) {
      const sql = `INSERT INTO continuation_counters (session, last) VALUES (?, 1)
                   ON CONFLICT (session) DO UPDATE SET last = last + 1 RETURNING last`;
      const [rows] = await database.write([{ sql, params: [tagOf(session)] }]);
      return integerOf(rows?.[0] ?? {}, 'last');
    },
    async keep(session, number, cursor) {
      const sql = 'INSERT INTO continuations (session, number, cursor, made_ms) VALUES (?, ?, ?, ?)';
      await database.write([{ sql, params: [tagOf(session), number, cursor, clock.now()] }]);
    },
    async find(session, number) {
      const sql = 'SELECT cursor FROM continuations WHERE session = ? AND number = ?';
      const [row] = await database.read(sql, tagOf(session), number);
      return row === undefined ? null : textOf(row, 'cursor');
    },
  };
}

/** Cursors and ids of artifacts are longer. */
const NUMBER = /^[1-9]\d{0,8}$/;

export function isContinuationNumber(text: string): boolean {
  return NUMBER.test(text);
}

/** The cursor that a number stands for. Throws CURSOR_INVALID for a number unknown to this session. */
export async function cursorOfNumber(
  session: SessionRef,
  number: string,
  continuations: Pick<Continuations, 'find'>,
): Promise<string> {
  const cursor = await continuations.find(session, Number(number));
  if (cursor !== null) return cursor;
  throw new ContextdError('CURSOR_INVALID', `this session has no continuation ${number}`, {
    remedy: 'Pass the number of an answer of this session, or run the command again.',
  });
}
