import type { Writable } from 'node:stream';
import { type ContextdError, ERROR_TABLE } from '../core/errors.ts';

/** How data is shown to a person; `--json` shows the data itself. */
export type View =
  | { kind: 'lines'; lines: readonly string[] }
  | { kind: 'table'; columns: readonly string[]; rows: readonly (readonly string[])[]; empty: string }
  | { kind: 'pairs'; pairs: readonly (readonly [string, string])[] }
  | { kind: 'checks'; checks: readonly Check[] }
  /** Text for a program: written as it is, never for a terminal alone. */
  | { kind: 'raw'; text: string };

/** One line of `ctxd doctor`. */
export interface Check {
  name: string;
  status: CheckStatus;
  detail: string;
  /** What to do about it; "" when ok. */
  remedy: string;
}

type CheckStatus = 'ok' | 'warn' | 'fail';

export interface Style {
  /** A terminal: columns are aligned and have a heading. */
  terminal: boolean;
  colour: boolean;
}

/** The text of a view, ending in a line end, or "" when there is nothing to say. */
export function renderView(view: View, style: Style): string {
  switch (view.kind) {
    case 'raw':
      return view.text;
    case 'lines':
      return joinLines(view.lines.map(printable));
    case 'pairs':
      return renderPairs(view.pairs, style);
    case 'table':
      return renderTable(view, style);
    case 'checks':
      return joinLines(view.checks.flatMap((check) => renderCheck(check, style)));
  }
}

/** The one line for standard error: what failed and what to do. */
export function renderError(error: ContextdError): string {
  const sentence = error.remedy === undefined ? error.message : `${error.message.replace(/\.$/, '')}. ${error.remedy}`;
  return `ctxd: ${printable(sentence.replaceAll(/\s*\n\s*/g, ' '))}\n`;
}

/** 1 failed, 2 usage, 69 no daemon. */
export function exitCodeFor(error: ContextdError): 1 | 2 | 69 {
  const { exitCode } = ERROR_TABLE[error.code];
  return exitCode === 2 || exitCode === 69 ? exitCode : 1;
}

export async function write(stream: Writable, text: string): Promise<void> {
  if (text === '') return;
  await new Promise<void>((done, failed) => stream.write(text, (error) => (error ? failed(error) : done())));
}

/** Text from elsewhere must not steer the terminal: control characters become visible. */
export function printable(text: string): string {
  return text.replaceAll(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function renderPairs(pairs: readonly (readonly [string, string])[], style: Style): string {
  const width = style.terminal ? Math.max(0, ...pairs.map(([name]) => name.length)) : 0;
  return joinLines(pairs.map(([name, value]) => `${name.padEnd(width)}${style.terminal ? '  ' : '\t'}${cell(value)}`));
}

function renderTable(view: Extract<View, { kind: 'table' }>, style: Style): string {
  if (!style.terminal) return joinLines(view.rows.map((row) => row.map(cell).join('\t')));
  if (view.rows.length === 0) return `${view.empty}\n`;
  const rows = [view.columns, ...view.rows.map((row) => row.map(cell))];
  const widths = view.columns.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return joinLines([paint(lines[0] ?? '', 'bold', style), ...lines.slice(1)]);
}

const STATUS_COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function renderCheck(check: Check, style: Style): string[] {
  const status = paint(check.status.padEnd(4), STATUS_COLOURS[check.status], style);
  const line = `${status}  ${check.name}${check.detail === '' ? '' : `: ${cell(check.detail)}`}`;
  return check.remedy === '' ? [line] : [line, `      ${cell(check.remedy)}`];
}

const PAINTS = { bold: '1', green: '32', yellow: '33', red: '31' } as const;

function paint(text: string, how: keyof typeof PAINTS, style: Style): string {
  return style.colour ? `\u001b[${PAINTS[how]}m${text}\u001b[0m` : text;
}

/** A value that stays on its line and in its column. */
function cell(text: string): string {
  return printable(text).replaceAll(/[\t\n]+/g, ' ');
}

function joinLines(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
