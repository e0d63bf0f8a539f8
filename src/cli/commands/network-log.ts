import { setTimeout as delay } from 'node:timers/promises';
import { ContextdError } from '../../core/errors.ts';
import type {
  NetworkLogEntry__Output as NetworkLogEntry,
  NetworkLogRequest__Output as NetworkLogRequest,
} from '../../protocol/generated/management.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { projectOption } from '../project-root.ts';
import { printable, write } from '../render.ts';

const ENTRIES_DEFAULT = 50;
const ENTRIES_MAX = 1000;
const FOLLOW_EVERY_MS = 1000;

export const networkLog = defineCommand<readonly NetworkLogEntry[]>({
  name: ['network', 'log'],
  summary: 'Show who talked to whom: hosts, bytes, and what was refused. Oldest first.',
  options: [
    { syntax: '-n, --lines <count>', help: `number of entries (default ${ENTRIES_DEFAULT}, at most ${ENTRIES_MAX})` },
    { syntax: '--project [dir]', help: 'only entries of a project (default: the current project)' },
    { syntax: '--session <id>', help: 'only entries of a session' },
    { syntax: '--denied', help: 'only what was refused or cut' },
    { syntax: '-f, --follow', help: 'print new entries until interrupted' },
  ],
  async run(context, args) {
    const follow = args.flag('follow');
    if (follow && args.flag('json')) {
      throw new ContextdError('ARGS_INVALID', '--json prints one value and --follow never ends', {
        remedy: 'Leave one of them out.',
      });
    }
    const request: NetworkLogRequest = {
      root: await projectOption(context, args),
      session: args.text('session') ?? '',
      denied_only: args.flag('denied'),
      after_id: 0,
      limit: args.count('lines', ENTRIES_DEFAULT, ENTRIES_MAX),
    };
    return withClient(context.paths, async (client) => {
      if (!follow) return (await client.readNetworkLog(request)).entries;
      await followEntries(context, client, request);
      return [];
    });
  },
  view: (entries) => ({
    kind: 'table',
    columns: ['TIME', 'VERDICT', 'HOST', 'UP', 'DOWN', 'MS', 'CALL', 'PROJECT', 'WHY'],
    rows: entries.map(rowOf),
    numbers: [3, 4, 5],
    empty: 'nothing was reached or refused yet',
  }),
});

/** An entry that was open when it was printed is not printed again when it ends. */
async function followEntries(
  context: CliContext,
  client: Pick<DaemonClient, 'readNetworkLog'>,
  request: NetworkLogRequest,
): Promise<void> {
  let { after_id } = request;
  while (!context.signal.aborted) {
    const { entries } = await client.readNetworkLog({ ...request, after_id });
    await write(context.stdout, entries.map((entry) => `${printable(rowOf(entry).join('\t'))}\n`).join(''));
    after_id = entries.at(-1)?.id ?? after_id;
    await delay(FOLLOW_EVERY_MS, undefined, { signal: context.signal }).catch(() => {});
  }
}

function rowOf(entry: NetworkLogEntry): string[] {
  const { at_ms, verdict, host, port, up, down, duration_ms, request_id, session, project, tool, rule, why } = entry;
  const place = port === 0 ? host : `${host}:${port}`;
  const times = entry.repeats > 1 ? ` ×${entry.repeats}` : '';
  const owner = request_id !== '' ? request_id : session !== '' ? session : tool;
  return [
    new Date(at_ms).toISOString(),
    verdict + times,
    place,
    String(up),
    String(down),
    duration_ms === undefined ? 'open' : String(duration_ms),
    owner,
    project,
    why === '' ? rule : why,
  ];
}
