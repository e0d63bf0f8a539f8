/** Bars of one scale, some to each label. */
export interface BarChart {
  title: string;
  groups: readonly BarGroup[];
}

interface BarGroup {
  label: string;
  /** Amounts of 0 and more. `text` stands behind the bar. */
  bars: readonly { name: string; amount: number; text: string }[];
}

const WIDTH_MAX = 80;
const LABEL_MAX = 24;
/** Groups drawn; the rest is counted. */
const GROUPS_MAX = 20;
const GAP = '  ';

/** A block, and its eighths from one to seven. */
const BLOCK = '█';
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** The title and a line to each bar, none wider than the terminal or 80 columns. */
export function renderBarChart(chart: BarChart, columns: number): string[] {
  const groups = chart.groups.slice(0, GROUPS_MAX);
  const bars = groups.flatMap((group) => group.bars);
  const widths = {
    label: widest(groups.map((group) => shortened(group.label))),
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
    const label = (index === 0 ? shortened(group.label) : '').padEnd(widths.label);
    return [label, name.padEnd(widths.name), text.padStart(widths.text), draw(amount)].join(GAP).trimEnd();
  });
}

/** What is more than nothing shows, however little it is. */
function barOf(share: number, room: number): string {
  const eighths = share > 0 && room > 0 ? Math.max(1, Math.round(share * room * EIGHTHS.length)) : 0;
  return BLOCK.repeat(Math.floor(eighths / EIGHTHS.length)) + (EIGHTHS[eighths % EIGHTHS.length] ?? '');
}

function shortened(label: string): string {
  return label.length <= LABEL_MAX ? label : `${label.slice(0, LABEL_MAX - 1)}…`;
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}
