import { type StatsRow, withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { projectOption } from '../project-option.ts';

const DAYS_DEFAULT = 7;
const DAYS_MAX = 366;

/** One figure of the table: its heading, and what a row shows of it. */
const COLUMNS: readonly (readonly [heading: string, show: (row: StatsRow) => string])[] = [
  ['DAY', (row) => row.day],
  ['TOOL', (row) => row.tool],
  ['CALLS', (row) => String(row.calls)],
  ['FAILED', (row) => String(row.failed)],
  ['SECRETS', (row) => String(row.secrets)],
  ['MISSED BY 1ST PASS', (row) => String(row.missed_by_first_pass)],
  ['MISSED BY ENGINE', (row) => String(row.missed_by_engine)],
  ['MS', (row) => String(Math.round(row.duration_ms))],
  ['MS SCRUBBING', (row) => String(Math.round(row.scrub_ms))],
  ['SESSION', (row) => row.session],
  ['PROJECT', (row) => row.project],
];

/** What the audit log adds up to. */
export const stats = defineCommand({
  name: ['stats'],
  summary: 'sum up the calls by day, tool and session: secrets masked, what each search missed, time spent',
  options: [
    { syntax: '--days <count>', help: `UTC days back, today included (default ${DAYS_DEFAULT}, at most ${DAYS_MAX})` },
    { syntax: '--project [dir]', help: 'only those of a project (default: the one around here)' },
  ],
  async run(context, given) {
    const days = given.count('days', DAYS_DEFAULT, DAYS_MAX);
    const root = await projectOption(context, given);
    return withClient(context.paths, (client) => client.stats(root, days));
  },
  view: (rows) => ({
    kind: 'table',
    columns: COLUMNS.map(([heading]) => heading),
    rows: rows.map((row) => COLUMNS.map(([, show]) => show(row))),
    empty: 'no calls in these days',
  }),
});
