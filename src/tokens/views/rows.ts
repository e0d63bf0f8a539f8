import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Row, Table } from './table.ts';
import { findAligned } from './table-aligned.ts';
import { findDelimited, findPipes } from './table-separated.ts';
import type { Viewed } from './view.ts';

/** Names that a fault lists, and UTF-16 units of each. */
const NAMES_SHOWN = 50;
const NAME_SHOWN_CHARS = 60;

export interface RowsOptions {
  /** Rows of data from 1, both ends included; Infinity: to the end. */
  first: number;
  last: number;
  /** Names of the heading in the order asked for; null: all. */
  columns: readonly string[] | null;
}

/**
 * Rows of a table under their heading, in the table's own dialect, cells as they are written. The table is the first
 * one in the text. VIEW_FAILED: no table, or a column that it does not have (the names are in `details.columns`).
 */
export function viewRows(text: string, { first, last, columns }: RowsOptions): Viewed {
  const table = findPipes(text) ?? findDelimited(text) ?? findAligned(text);
  if (table === null) throw noTable();
  const asked = columns?.map((name) => columnOf(table, name)) ?? null;
  const show = (row: Row) => (asked === null ? text.slice(row.start, row.end) : table.project(row, asked));
  const lines = table.heading.map(show);
  let rows = 0;
  let end = table.start;
  for (let row = table.rowAt(end); row !== null; row = table.rowAt(end)) {
    end = row.end;
    if (row.isData && ++rows >= first && rows <= last) lines.push(show(row));
  }
  const facts = { rows, columns: table.names.length, dialect: table.dialect, ...around(text, table, end) };
  return { kind: 'text', text: lines.join(''), facts, cut: 'head' };
}

function columnOf(table: Table, name: string): number {
  const exact = table.names.indexOf(name);
  if (exact >= 0) return exact;
  const folded = name.toLowerCase();
  const matching = table.names.flatMap((known, i) => (known.toLowerCase() === folded ? [i] : []));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const names = table.names.slice(0, NAMES_SHOWN).map((known) => known.slice(0, NAME_SHOWN_CHARS));
  throw new ContextdError('VIEW_FAILED', `the table has no column ${JSON.stringify(name)}`, {
    remedy: `Choose among its columns: ${names.map((known) => JSON.stringify(known)).join(', ')}.`,
    details: { column: name, columns: names },
  });
}

/** Lines with text that belong to no row: a title before the table, a count or another table after it. */
function around(text: string, table: Table, end: number): JsonObject {
  const before = countLines(text, 0, table.heading[0]?.start ?? 0);
  const after = countLines(text, end, text.length);
  return { ...(before > 0 ? { lines_before: before } : {}), ...(after > 0 ? { lines_after: after } : {}) };
}

function countLines(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; ) {
    const next = text.indexOf('\n', at);
    const stop = next < 0 || next > end ? end : next;
    if (text.slice(at, stop).trim() !== '') count++;
    at = stop + 1;
  }
  return count;
}

function noTable(): ContextdError {
  return new ContextdError(
    'VIEW_FAILED',
    'the output is not a table: no CSV, TSV or pipe table, and no aligned columns',
    {
      remedy: 'Look at it with the view "head", or take lines of it with {"lines":"1-50"}.',
    },
  );
}
