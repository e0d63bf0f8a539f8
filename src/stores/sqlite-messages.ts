import type { ErrorCode } from '../core/errors.ts';

/** A value as SQLite stores it. */
export type SqlValue = null | number | string | Uint8Array;
export type Row = Readonly<Record<string, unknown>>;

/** One SQL text (prepared once, kept by its text) and its positional parameters. */
export interface Statement {
  sql: string;
  params: readonly SqlValue[];
}

/** What goes to the worker. The statements of one `write` are carried out together or not at all. */
export type DatabaseRequest =
  | { kind: 'open'; file: string }
  | { kind: 'read' | 'write'; statements: readonly Statement[] }
  | { kind: 'close' };

/** Rows of each statement of the request, in order. */
export type DatabaseResult = readonly Row[][];

/** A ContextdError as it crosses a thread. */
export interface Fault {
  code: ErrorCode;
  message: string;
  remedy: string | undefined;
  /** For the log only. */
  cause: string | undefined;
}

export interface Envelope<Body> {
  id: number;
  body: Body;
}

export type Reply<Result> = { id: number; result: Result } | { id: number; fault: Fault };
