export const DIALECTS = ['csv', 'semicolons', 'tsv', 'pipes', 'aligned'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** A table in a text. Offsets are UTF-16; a row's end is after its line end. */
export interface Table {
  dialect: Dialect;
  /** As they stand in the heading, without quotes and blanks around them. */
  names: readonly string[];
  /** The heading, with the rule lines of a pipe table around it. */
  heading: readonly Row[];
  /** Where the first row of data begins. */
  start: number;
  /** The row at `at`, null where the table ends. */
  rowAt(at: number): Row | null;
  /** One line of the asked columns, line end included. */
  project(row: Row, columns: readonly number[]): string;
}

export interface Row {
  start: number;
  end: number;
  /** False: a rule between rows, which is shown but is no row. */
  isData: boolean;
}

/** The line at `at`; its end is after the line end. */
export function lineAt(text: string, at: number): Row | null {
  if (at >= text.length) return null;
  const end = text.indexOf('\n', at);
  return { start: at, end: end < 0 ? text.length : end + 1, isData: true };
}

/** The line end that a row has: CRLF, LF or none. */
export function lineEndOf(row: string): string {
  return row.endsWith('\r\n') ? '\r\n' : row.endsWith('\n') ? '\n' : '';
}
