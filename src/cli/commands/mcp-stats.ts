import type { StatsRow__Output as StatsRow } from '../../protocol/generated/management.ts';
import { defineCommand } from '../command.ts';
import type { View } from '../render.ts';
import { readStats, STATS_OPTIONS, type StatsSum, sumBy } from './stats.ts';

/** What the tools of contextd and installed ones are summed up as. */
const OWN = 'contextd';

/** The calls of one MCP server. */
type ServerSum = Omit<StatsSum, 'tool'> & { server: string };

export const mcpStats = defineCommand<readonly ServerSum[]>({
  name: ['mcp', 'stats'],
  summary: 'Sum up the calls of MCP servers: errors by code, kept answers, further attempts, tokens.',
  options: STATS_OPTIONS,
  run: async (context, args) => sumServers((await readStats(context, args)).rows),
  view: mcpStatsView,
});

/** The name of a server, as the beginning of the id of its tool. */
const SERVER = /^([a-z][a-z0-9_-]{0,31}):/;

/**
 * One sum for each server, by name; the tools of contextd are the last. A tool of a server is on record by its id, and one that does not
 * exist by whatever it was called.
 */
export function sumServers(rows: readonly StatsRow[]): ServerSum[] {
  const serverOf = (tool: string): string => SERVER.exec(tool)?.[1] ?? OWN;
  const sums = sumBy(
    rows.map((row) => ({ ...row, tool: serverOf(row.tool) })),
    'tool',
  ).map(({ tool = '', ...sum }) => ({ server: tool, ...sum }));
  const rank = ({ server }: ServerSum): string => (server === OWN ? '1' : `0${server}`);
  return sums.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** A table of servers, then the errors of each. */
export function mcpStatsView(servers: readonly ServerSum[]): View {
  return {
    kind: 'stack',
    views: [
      {
        kind: 'table',
        columns: ['SERVER', 'CALLS', 'FAILED', 'KEPT', 'RETRIES', 'TOKENS RUN', 'RETURNED', 'SAVED', 'MS'],
        numbers: [1, 2, 3, 4, 5, 6, 7, 8],
        rows: servers.map((sum) => [sum.server, ...figuresOf(sum).map((figure) => String(Math.round(figure)))]),
        empty: 'no calls in these days',
      },
      {
        kind: 'lines',
        lines: servers.flatMap(({ server, errors = {} }) => {
          const counts = Object.entries(errors).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
          return counts.length === 0 ? [] : [`Errors of ${server}: ${counts.map((one) => one.join(' ')).join(', ')}`];
        }),
      },
    ],
  };
}

function figuresOf(sum: ServerSum): number[] {
  const { calls, failed, kept, retries, tokens_run, tokens_returned, tokens_saved, duration_ms } = sum;
  return [calls, failed, kept, retries, tokens_run, tokens_returned, tokens_saved, duration_ms];
}
