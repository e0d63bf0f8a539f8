import { describe, expect, it } from 'vitest';
import { type StatsSum, savedSentence, statsView, sumAll, sumBy } from '#src/cli/commands/stats.js';
import { renderView } from '#src/cli/render.js';

const NONE: StatsSum = {
  calls: 0,
  failed: 0,
  follow_ups: 0,
  counted_calls: 0,
  estimated_calls: 0,
  tokens_run: 0,
  tokens_returned: 0,
  tokens_saved: 0,
  artifacts: 0,
  truncated: 0,
  secrets: 0,
  missed_by_first_pass: 0,
  missed_by_engine: 0,
  duration_ms: 0,
  scrub_ms: 0,
  timed_calls: 0,
  added_ms: 0,
  kept: 0,
  retries: 0,
};

function row(day: string, tool: string, session: string, figures: Partial<StatsSum>): StatsSum {
  return { day, project: '/p', session, tool, ...NONE, calls: 1, duration_ms: 10, ...figures };
}

const SAVING = { counted_calls: 1, tokens_run: 90_000, tokens_returned: 2_000, tokens_saved: 88_000, artifacts: 1 };
const LOSING = { counted_calls: 1, tokens_run: 100, tokens_returned: 300, tokens_saved: -200, timed_calls: 1 };

const ROWS = [
  row('2025-01-14', 'safe_read', 's1', LOSING),
  row('2025-01-14', 'safe_bash', 's1', { ...SAVING, estimated_calls: 1 }),
  row('2025-01-15', 'safe_bash', 's2', SAVING),
  row('2025-01-15', 'old_tool', 's2', {}),
];

const TERMINAL = { terminal: true, colour: false, columns: 80 };
const PLAIN = { terminal: false, colour: false };

function fieldsOf(line: string | undefined): string[] {
  return (line ?? '').trim().split(/ {2,}/);
}

describe('ctxd stats', () => {
  it('sums up by one key, with every figure in every sum', () => {
    expect(sumBy(ROWS, 'tool')).toEqual([
      { tool: 'safe_read', ...NONE, errors: {}, calls: 1, duration_ms: 10, ...LOSING },
      {
        tool: 'safe_bash',
        ...NONE,
        errors: {},
        calls: 2,
        duration_ms: 20,
        counted_calls: 2,
        estimated_calls: 1,
        tokens_run: 180_000,
        tokens_returned: 4_000,
        tokens_saved: 176_000,
        artifacts: 2,
      },
      { tool: 'old_tool', ...NONE, errors: {}, calls: 1, duration_ms: 10 },
    ]);
    expect(sumBy(ROWS, 'day').map(({ day, calls }) => [day, calls])).toEqual([
      ['2025-01-14', 2],
      ['2025-01-15', 2],
    ]);
    expect(sumBy([...ROWS, { ...row('2025-01-15', 't', 's1', {}), project: '/q' }], 'session')).toMatchObject([
      { project: '/p', session: 's1', calls: 2 },
      { project: '/p', session: 's2', calls: 2 },
      { project: '/q', session: 's1', calls: 1 },
    ]);
    expect(sumAll(ROWS)).toMatchObject({ calls: 4, tokens_saved: 175_800, duration_ms: 40 });
  });

  it('shows a negative saving, an unknown figure as -, and a total', () => {
    const lines = renderView(statsView(sumBy(ROWS, 'tool'), 'tool'), TERMINAL).split('\n');
    const column = fieldsOf(lines[0]).indexOf('SAVED');
    const saved = new Map(lines.slice(1, 5).map((line) => [fieldsOf(line)[0], fieldsOf(line)[column]]));
    expect([...saved]).toEqual([
      ['safe_read', '-200'],
      ['safe_bash', '176000'],
      ['old_tool', '-'],
      ['total', '175800'],
    ]);
  });

  it('aligns numbers to the right', () => {
    const lines = renderView(statsView(ROWS, undefined), TERMINAL).split('\n').slice(0, 6);
    const end = (lines[0] ?? '').indexOf('TOKENS RUN') + 'TOKENS RUN'.length;
    expect(lines.map((line) => line.slice(0, end).split(' ').at(-1))).toEqual([
      'RUN',
      '100',
      '90000',
      '90000',
      '-',
      '180100',
    ]);
  });

  it('prints a header and tab-separated rows without total and chart if the output is not a terminal', () => {
    const lines = renderView(statsView(ROWS, undefined), PLAIN).trimEnd().split('\n');
    expect(lines).toHaveLength(ROWS.length + 1);
    expect(lines[0]).toMatch(/^DAY\tTOOL\tCALLS\t/);
    expect(lines[1]?.split('\t')).toEqual([
      '2025-01-14',
      'safe_read',
      '1',
      '0',
      '0',
      '1',
      '0',
      '100',
      '300',
      '-200',
      '0',
      '0',
      '0',
      '0',
      '0',
      '10',
      '0',
      '0',
      's1',
      '/p',
    ]);
    expect(renderView(statsView([], undefined), PLAIN)).toBe('no calls in these days\n');
    expect(renderView(statsView([], undefined), TERMINAL)).toBe('no calls in these days\n');
  });

  it('draws tokens run beside tokens returned, largest first, and marks estimates', () => {
    const text = renderView(statsView(ROWS, undefined), TERMINAL);
    const chart = text.slice(text.indexOf('TOKENS BY TOOL')).trimEnd().split('\n');
    expect(chart.map((line) => line.replaceAll(/[█▏▎▍▌▋▊▉]+$/gu, '#'))).toEqual([
      'TOKENS BY TOOL',
      'safe_bash  run       ~180000  #',
      '           returned     4000  #',
      'safe_read  run           100  #',
      '           returned      300  #',
    ]);
    const days = renderView(statsView(sumBy(ROWS, 'day'), 'day'), TERMINAL);
    expect(days.slice(days.indexOf('TOKENS BY DAY')).match(/^2025.{6}/gm)).toEqual(['2025-01-14', '2025-01-15']);
  });

  it('draws no chart if no tokens were counted', () => {
    expect(renderView(statsView([row('d', 't', 's', {})], undefined), TERMINAL)).not.toContain('TOKENS BY');
  });

  it('says in one sentence what was saved, and that nothing was', () => {
    expect(savedSentence(sumAll(ROWS), 7)).toBe(
      'In 7 days agents read 4,300 tokens of 3 calls that printed about 180,100: about 175,800 tokens (97 %) were saved, net of what contextd adds.',
    );
    const lossy = sumAll(ROWS.filter(({ tool }) => tool === 'safe_read'));
    expect(savedSentence(lossy, 1)).toBe('Today agents read 300 tokens of 1 call that printed 100: nothing was saved.');
    expect(savedSentence(sumAll([]), 2)).toBe('In 2 days nothing was called.');
  });
});
