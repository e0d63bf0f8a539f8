import type { Spread } from './measure.ts';
import type { Aim, Figure, Outcome, Row, Table } from './section.ts';

const NAME_WIDTH = 50;

const VALUE_WIDTH = 26;
const AIM_WIDTH = 18;

/** Renders the outcome of one section, or a part of it, as lines of text. */
export function render({ tables = [], figures = [], facts = [] }: Partial<Outcome>): string {
  return [
    ...tables.flatMap(renderTable),
    ...renderFigures(figures),
    ...facts.map(({ name, value }) => `${name.padEnd(NAME_WIDTH)} ${value ?? 'unknown'}`),
    ...(facts.length > 0 ? [''] : []),
  ].join('\n');
}

function renderFigures(figures: readonly Figure[]): string[] {
  if (figures.length === 0) return [];
  const line = (name: string, value: string, aim: string, beside: string): string =>
    `${name.padEnd(NAME_WIDTH)} ${value.padEnd(VALUE_WIDTH)} ${aim.padEnd(AIM_WIDTH)} ${beside}`.trimEnd();
  const verdict = ({ isMet }: Figure): string => (isMet === null ? '' : isMet ? ', met' : ', missed');
  return [
    line('what', 'figure', 'aim', 'beside'),
    ...figures.map((figure) => line(figure.name, figure.value, `${figure.aim}${verdict(figure)}`, figure.beside)),
    '',
  ];
}

function renderTable(table: Table): string[] {
  const base = timesOf(table, table.base);
  const head = [
    table.title.padEnd(NAME_WIDTH),
    ...['median', 'p95', 'p99', 'min'].map(cell),
    base === null ? '' : cell('÷ base'),
  ];
  return [
    head.join(' '),
    ...table.rows.map((row) => renderRow(row, base)),
    ...table.aims.map((aim) => renderAim(aim, table)),
    '',
  ];
}

function renderRow({ name, times, note }: Row, base: Spread | null): string {
  if (times === null) return `${name.padEnd(NAME_WIDTH)} ${note}`;
  const ratio = base === null ? [] : [cell(`${(times.medianMs / base.medianMs).toFixed(2)}×`)];
  const figures = [times.medianMs, times.p95Ms, times.p99Ms, times.minMs].map((ms) => cell(ms.toFixed(2)));
  return [name.padEnd(NAME_WIDTH), ...figures, ...ratio].join(' ');
}

function renderAim(aim: Aim, table: Table): string {
  const row = timesOf(table, aim.row);
  const unit = aim.times === null ? 1 : (timesOf(table, aim.times)?.medianMs ?? null);
  const limit = aim.times === null ? `${aim.atMost} ms` : `${aim.atMost} × ${aim.times}`;
  if (row === null || unit === null) return `  aim: ${aim.row} ≤ ${limit}: not measured`;
  const value = row.medianMs / unit;
  const verdict = value <= aim.atMost ? 'met' : 'missed';
  return `  aim: ${aim.row} ≤ ${limit}: ${value.toFixed(2)}, ${verdict}`;
}

function timesOf(table: Table, name: string | null): Spread | null {
  return table.rows.find((row) => row.name === name)?.times ?? null;
}

function cell(text: string): string {
  return text.padStart(9);
}
