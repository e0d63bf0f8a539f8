import { describe, expect, it } from 'vitest';
import { exitCodeFor, printable, renderError, renderView, type View } from '#src/cli/render.js';
import { ContextdError } from '#src/core/errors.js';

const PLAIN = { terminal: false, colour: false };
const TERMINAL = { terminal: true, colour: false };
const ESCAPE = String.fromCharCode(27);

const TABLE: View = {
  kind: 'table',
  columns: ['NAME', 'X'],
  rows: [
    ['a', 'b\tc'],
    ['longer', 'd'],
  ],
  empty: 'none',
};

describe('printed output', () => {
  it('is a table with a heading, aligned on a terminal and separated by tabs elsewhere', () => {
    expect(renderView(TABLE, TERMINAL)).toBe('NAME    X\na       b c\nlonger  d\n');
    expect(renderView(TABLE, PLAIN)).toBe('NAME\tX\na\tb c\nlonger\td\n');
    expect(renderView({ ...TABLE, rows: [] }, TERMINAL)).toBe('none\n');
    expect(renderView({ ...TABLE, rows: [] }, PLAIN)).toBe('none\n');
    expect(renderView({ ...TABLE, rows: [], empty: '' }, PLAIN)).toBe('NAME\tX\n');
  });

  it('aligns numbers to the right and adds a total on a terminal', () => {
    const table: View = {
      ...TABLE,
      rows: [
        ['a', '10'],
        ['b', '-2'],
      ],
      numbers: [1],
      totals: ['all', '8'],
    };
    expect(renderView(table, TERMINAL)).toBe('NAME   X\na     10\nb     -2\nall    8\n');
    expect(renderView(table, PLAIN)).toBe('NAME\tX\na\t10\nb\t-2\n');
    expect(renderView({ ...table, rows: [] }, TERMINAL)).toBe('none\n');
    expect(renderView(table, { terminal: true, colour: true })).toBe(
      `${ESCAPE}[1mNAME   X${ESCAPE}[0m\na     10\nb     -2\n${ESCAPE}[1mall    8${ESCAPE}[0m\n`,
    );
  });

  it('draws a chart as wide as the terminal, only on a terminal', () => {
    const bars = [{ name: 'run', amount: 3, text: '3' }];
    const chart: View = { kind: 'chart', chart: { title: 'T', groups: [{ label: 'a\u001b', bars }] } };
    const stack: View = { kind: 'stack', views: [TABLE, chart] };
    expect(renderView(stack, { ...TERMINAL, columns: 20 })).toBe(
      'NAME    X\na       b c\nlonger  d\n\nT\na\\u001b  run  3  ███\n',
    );
    for (const columns of [0, undefined])
      expect(renderView(chart, { ...TERMINAL, ...(columns === undefined ? {} : { columns }) })).toContain(
        '█'.repeat(63),
      );
    expect(renderView(stack, PLAIN)).toBe('NAME\tX\na\tb c\nlonger\td\n');
  });

  it('has colour only if the style asks for it', () => {
    const checks: View = { kind: 'checks', checks: [{ name: 'n', status: 'fail', detail: 'd', remedy: 'r' }] };
    expect(renderView(checks, PLAIN)).toBe('fail  n: d\n      r\n');
    expect(renderView(checks, { terminal: true, colour: true })).toBe(`${ESCAPE}[31mfail${ESCAPE}[0m  n: d\n      r\n`);
  });

  it('aligns pairs on a terminal', () => {
    const pairs: View = {
      kind: 'pairs',
      pairs: [
        ['pid', '1'],
        ['version', '2'],
      ],
    };
    expect(renderView(pairs, TERMINAL)).toBe('pid      1\nversion  2\n');
    expect(renderView(pairs, PLAIN)).toBe('pid\t1\nversion\t2\n');
  });

  it('never controls the terminal', () => {
    expect(printable(`${ESCAPE}]0;title\u0007\u009b31m\u202e\r`)).toBe(
      '\\u001b]0;title\\u0007\\u009b31m\\u202e\\u000d',
    );
    expect(renderView({ kind: 'lines', lines: [`${ESCAPE}[2J`] }, TERMINAL)).toBe('\\u001b[2J\n');
  });

  it('shows each character without ink, so that two names never look the same, and keeps what emoji and scripts need', () => {
    const inkless = [0xad, 0x34f, 0x61c, 0x180e, 0x200b, 0x200d, 0x2060, 0xfe0f, 0xfeff, 0xe0061];
    for (const code of inkless)
      expect(printable(`cr${String.fromCodePoint(code)}eate`)).toMatch(/^cr\\u(?:[0-9a-f]{4}|\{e0061\})eate$/);
    const kept = ['\u2764\ufe0f', '\u{1f469}\u200d\u{1f467}', '\u0645\u06cc\u200c\u062e', '\u0915\u094d\u200d\u0937'];
    expect(kept.map(printable)).toEqual(kept);
  });

  it('is as many lines as a command gives, whatever a name in them holds', () => {
    const names = ['\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029'].map((end) => `a${end}Allowed: b`);
    const breaks = /[\n\v\f\r\u0085\u2028\u2029]/;
    for (const style of [PLAIN, TERMINAL]) {
      const views: View[] = [
        { kind: 'lines', lines: names },
        { kind: 'pairs', pairs: names.map((name) => ['n', name] as const) },
        { ...TABLE, rows: names.map((name) => [name, name]) },
        { kind: 'checks', checks: names.map((name) => ({ name, status: 'ok', detail: name, remedy: '' })) },
      ];
      for (const view of views) {
        const lines = renderView(view, style).trimEnd().split('\n');
        expect(lines).toHaveLength(names.length + (view.kind === 'table' ? 1 : 0));
        expect(lines.filter((line) => breaks.test(line))).toEqual([]);
      }
    }
  });
});

describe('a failure', () => {
  it('is one line with what failed and what to do', () => {
    const error = new ContextdError('NOT_FOUND', 'no such\nthing', { remedy: 'Look elsewhere.' });
    expect(renderError(error)).toBe('ctxd: no such thing. Look elsewhere.\n');
  });

  it('exits with 2 for usage, 69 without a daemon, and 1 otherwise', () => {
    expect(exitCodeFor(new ContextdError('ARGS_INVALID', ''))).toBe(2);
    expect(exitCodeFor(new ContextdError('DAEMON_UNAVAILABLE', ''))).toBe(69);
    for (const code of ['PERMISSION_DENIED', 'TIMEOUT', 'INTERNAL_ERROR', 'SCHEMA_INVALID'] as const) {
      expect(exitCodeFor(new ContextdError(code, ''))).toBe(1);
    }
  });
});
