import type { Writable } from 'node:stream';
import { type ContextdError, ERROR_TABLE, withRemedy } from '../core/errors.ts';

/** How data is shown to a person. `--json` prints the data itself. */
export type View =
  | { kind: 'lines'; lines: readonly string[] }
  | Table
  | { kind: 'pairs'; pairs: readonly (readonly [string, string])[] }
  | { kind: 'checks'; checks: readonly Check[] }
  /** Shown on a terminal only. */
  | { kind: 'chart'; chart: BarChart }
  /** Several views below each other; empty ones are left out. */
  | { kind: 'stack'; views: readonly View[] }
  /** What a person at a terminal sees, and what a program that reads the output gets. */
  | { kind: 'either'; terminal: View; piped: View }
  /** Text for a program, written as it is. */
  | { kind: 'raw'; text: string };

interface Table {
  kind: 'table';
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  /** Said if there are no rows; "": only the header is shown. */
  empty: string;
  /** Indices of number columns, which are right-aligned on a terminal. */
  numbers?: readonly number[];
  /** A last row, shown on a terminal only. */
  totals?: readonly string[];
}

/** One line of `ctxd doctor` and of `ctxd tool verify`. */
export interface Check {
  name: string;
  status: CheckStatus;
  detail: string;
  /** What to do about it; "" if the status is ok. */
  remedy: string;
}

type CheckStatus = 'ok' | 'warn' | 'fail';

interface Style {
  /** The output is a terminal, so columns are aligned and have headings. */
  terminal: boolean;
  colour: boolean;
  /** Width of the terminal in columns. Default: 80. */
  columns?: number;
}

const COLUMNS_UNKNOWN = 80;

/** The text of a view with a line end, or "" if the view is empty. */
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
    case 'either':
      return renderView(style.terminal ? view.terminal : view.piped, style);
    case 'chart':
      return style.terminal ? joinLines(chartLines(view.chart, style)) : '';
    case 'stack':
      return view.views
        .map((one) => renderView(one, style))
        .filter((text) => text !== '')
        .join('\n');
  }
}

/** For standard error: one line with what failed and what to do, and a line for each form that an argument can have. */
export function renderError(error: ContextdError): string {
  const { forms } = error.details;
  const lines = [withRemedy(error).replaceAll(/\s*\n\s*/g, ' '), ...(Array.isArray(forms) ? forms : []).map(String)];
  return lines.map((line, index) => `${index === 0 ? 'ctxd: ' : '  '}${printable(line)}\n`).join('');
}

/** The same for `--json`, for standard output. */
export function jsonOfError({ code, message, remedy = '', details }: ContextdError): string {
  return `${JSON.stringify({ error: { code, message, remedy, details } })}\n`;
}

/** 1 failed, 2 usage, 69 no daemon, 130 ended by the person. */
export function exitCodeFor({ code, details }: ContextdError): 1 | 2 | 69 | 130 {
  const { exitCode } = ERROR_TABLE[code];
  if (exitCode === 130 && details.interrupted === true) return exitCode;
  return exitCode === 2 || exitCode === 69 ? exitCode : 1;
}

export async function write(stream: Writable, text: string): Promise<void> {
  if (text === '') return;
  await new Promise<void>((done, failed) => stream.write(text, (error) => (error ? failed(error) : done())));
}

/**
 * One line: control characters but tabs, line breaks and characters without ink become visible, so that text from elsewhere
 * can neither control the terminal nor look like a line of contextd or like another name.
 */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, escapeCharacter).replaceAll(INKLESS, escapeCharacter);
}

const CONTROLS = /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
/** Except where they belong to what is before them: parts of an emoji, and joiners of scripts that are written with them. */
const INKLESS =
  /(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}])[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

function escapeCharacter(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}

function renderPairs(pairs: readonly (readonly [string, string])[], style: Style): string {
  const width = style.terminal ? Math.max(0, ...pairs.map(([name]) => name.length)) : 0;
  return joinLines(pairs.map(([name, value]) => `${name.padEnd(width)}${style.terminal ? '  ' : '\t'}${cell(value)}`));
}

function renderTable(view: Table, style: Style): string {
  if (view.rows.length === 0 && view.empty !== '') return `${view.empty}\n`;
  if (!style.terminal) return joinLines([view.columns, ...view.rows].map((row) => row.map(cell).join('\t')));
  const totals = view.totals === undefined ? [] : [view.totals];
  const rows = [view.columns, ...[...view.rows, ...totals].map((row) => row.map(cell))];
  const widths = view.columns.map((_, column) =>
    rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0),
  );
  const place = (text: string, column: number): string =>
    view.numbers?.includes(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  const lines = rows.map((row) => row.map(place).join('  ').trimEnd());
  const bold = new Set([0, view.totals === undefined ? 0 : lines.length - 1]);
  return joinLines(lines.map((line, index) => (bold.has(index) ? paint(line, 'bold', style) : line)));
}

function chartLines({ title, groups }: BarChart, style: Style): string[] {
  const chart = { title, groups: groups.map((group) => ({ ...group, label: cell(group.label) })) };
  const [heading = '', ...lines] = renderBarChart(chart, style.columns || COLUMNS_UNKNOWN);
  return [paint(heading, 'bold', style), ...lines];
}

const STATUS_COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function renderCheck(check: Check, style: Style): string[] {
  const status = paint(check.status.padEnd(4), STATUS_COLOURS[check.status], style);
  const line = `${status}  ${cell(check.name)}${check.detail === '' ? '' : `: ${cell(check.detail)}`}`;
  return check.remedy === '' ? [line] : [line, `      ${cell(check.remedy)}`];
}

const PAINTS = { bold: '1', green: '32', yellow: '33', red: '31' } as const;

function paint(text: string, how: keyof typeof PAINTS, style: Style): string {
  return style.colour ? `\u001b[${PAINTS[how]}m${text}\u001b[0m` : text;
}

/** A value without the tabs and line breaks that would leave its line or column. */
function cell(text: string): string {
  return printable(text.replaceAll(/[\t\n]+/g, ' '));
}

function joinLines(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Groups of bars that share one scale. */
interface BarChart {
  title: string;
  groups: readonly BarGroup[];
}

interface BarGroup {
  label: string;
  /** Amounts of 0 or more. `text` is shown before the bar. */
  bars: readonly { name: string; amount: number; text: string }[];
}

const WIDTH_MAX = 80;
const LABEL_MAX = 24;
/** Groups that are drawn. The number of the others is printed. */
const GROUPS_MAX = 20;
const GAP = '  ';

/** A full block, and one to seven eighths of it. */
const BLOCK = '█';
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** The title and one line for each bar. No line is wider than the terminal or 80 columns. */
export function renderBarChart(chart: BarChart, columns: number): string[] {
  const groups = chart.groups.slice(0, GROUPS_MAX);
  const bars = groups.flatMap((group) => group.bars);
  const widths = {
    label: widest(groups.map((group) => shorten(group.label))),
    name: widest(bars.map((bar) => bar.name)),
    text: widest(bars.map((bar) => bar.text)),
  };
  const taken = widths.label + widths.name + widths.text + 3 * GAP.length;
  const room = Math.max(0, Math.min(columns, WIDTH_MAX) - taken);
  const most = Math.max(1, ...bars.map((bar) => bar.amount));
  const more = chart.groups.length - groups.length;
  return [
    chart.title,
    ...groups.flatMap((group) => groupLines(group, widths, (amount) => barOf(amount / most, room))),
    ...(more > 0 ? [`… and ${more} more`] : []),
  ];
}

interface Widths {
  label: number;
  name: number;
  text: number;
}

function groupLines(group: BarGroup, widths: Widths, draw: (amount: number) => string): string[] {
  return group.bars.map(({ name, amount, text }, index) => {
    const label = (index === 0 ? shorten(group.label) : '').padEnd(widths.label);
    return [label, name.padEnd(widths.name), text.padStart(widths.text), draw(amount)].join(GAP).trimEnd();
  });
}

/** An amount above 0 is always visible. */
function barOf(share: number, room: number): string {
  const eighths = share > 0 && room > 0 ? Math.max(1, Math.round(share * room * EIGHTHS.length)) : 0;
  return BLOCK.repeat(Math.floor(eighths / EIGHTHS.length)) + (EIGHTHS[eighths % EIGHTHS.length] ?? '');
}

/** `1 file`, `2 files`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function shorten(label: string): string {
  return label.length <= LABEL_MAX ? label : `${label.slice(0, LABEL_MAX - 1)}…`;
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}
