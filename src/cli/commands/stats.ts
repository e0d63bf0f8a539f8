import { ContextdError } from '../../core/errors.ts';
import { withClient } from '../client.ts';
import { defineCommand, type Given } from '../command.ts';
import { projectOption } from '../project-option.ts';
import { statsView } from '../stats/stats-view.ts';
import { GROUPINGS, type Grouping, type StatsSum, sumBy } from '../stats/sums.ts';

const DAYS_DEFAULT = 7;
const DAYS_MAX = 366;

interface Stats {
  rows: readonly StatsSum[];
  by: Grouping | undefined;
}

/** What the audit log adds up to. */
export const stats = defineCommand<Stats>({
  name: ['stats'],
  summary: 'sum up the calls by day, tool and session: tokens run, returned and saved, secrets masked, time added',
  options: [
    { syntax: '--days <count>', help: `UTC days back, today included (default ${DAYS_DEFAULT}, at most ${DAYS_MAX})` },
    { syntax: '--by <key>', help: `one row to each ${GROUPINGS.join(', ')} (default: to each of all three together)` },
    { syntax: '--project [dir]', help: 'only those of a project (default: the one around here)' },
  ],
  async run(context, given) {
    const days = given.count('days', DAYS_DEFAULT, DAYS_MAX);
    const by = groupingOf(given);
    const root = await projectOption(context, given);
    const rows = await withClient(context.paths, (client) => client.stats(root, days));
    return { rows: by === undefined ? rows : sumBy(rows, by), by };
  },
  bare: ({ rows }) => JSON.stringify(rows),
  view: ({ rows, by }) => statsView(rows, by),
});

function groupingOf(given: Given): Grouping | undefined {
  const asked = given.text('by');
  const by = GROUPINGS.find((one) => one === asked);
  if (asked === undefined || by !== undefined) return by;
  throw new ContextdError('ARGS_INVALID', `--by is none of ${GROUPINGS.join(', ')}: ${asked}`, {
    remedy: 'Give one of these, or leave it out.',
  });
}
