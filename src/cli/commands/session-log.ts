import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type {
  SessionContext__Output as SessionContext,
  SessionEvents__Output as SessionEvents,
  SessionList__Output as SessionList,
  SessionReplay__Output as SessionReplay,
} from '../../protocol/generated/management.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { projectAt } from '../project-root.ts';

const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const SESSION = { syntax: '[session]', help: 'the session id (default: the session with the newest event)' };
const BRANCH = { syntax: '--branch <id>', help: 'a branch of the session (default: its base)' };
const LINES_DEFAULT = 50;
const LINES_MAX = 10_000;

async function inProject<T>(
  context: CliContext,
  args: ParsedArgs,
  ask: (client: DaemonClient, root: string, session: string) => Promise<T>,
): Promise<T> {
  const root = await projectAt(context, args.text('project'));
  return withClient(context.paths, (client) => ask(client, root, args.word(0) ?? ''));
}

const sessionList = defineCommand<SessionList['sessions']>({
  name: ['session', 'list'],
  summary: 'List what is kept of the sessions of a project, the newest first.',
  options: [PROJECT],
  run: (context, args) =>
    inProject(context, args, async (client, root) => (await client.listSessions({ root })).sessions),
  view: (sessions) => ({
    kind: 'table',
    columns: ['SESSION', 'EVENTS', 'BRANCHES', 'FIRST', 'LAST'],
    rows: sessions.map(({ session, events, branches, first_ms, last_ms }) => [
      session,
      String(events),
      String(branches),
      timeOf(first_ms),
      timeOf(last_ms),
    ]),
    numbers: [1, 2],
    empty: 'nothing has happened in this project yet',
  }),
});

const sessionShow = defineCommand<SessionEvents>({
  name: ['session', 'show'],
  summary: 'Show the events of a session, oldest first.',
  parameters: [SESSION],
  options: [
    { syntax: '-n, --lines <count>', help: `number of events (default ${LINES_DEFAULT}, at most ${LINES_MAX})` },
    { syntax: '--from <position>', help: 'the first position' },
    { syntax: '--to <position>', help: 'the last position' },
    BRANCH,
    { syntax: '--all', help: 'events of the base and of all branches' },
    PROJECT,
  ],
  run: (context, args) =>
    inProject(context, args, (client, root, session) =>
      client.readSession({
        root,
        session,
        branch: args.text('branch') ?? '',
        all_branches: args.flag('all'),
        from: positionOf(args, 'from'),
        to: positionOf(args, 'to'),
        limit: args.count('lines', LINES_DEFAULT, LINES_MAX),
      }),
    ),
  view: ({ events }) => ({
    kind: 'table',
    columns: ['SEQ', 'TIME', 'BRANCH', 'KIND', 'TOKENS', 'PARENT', 'EVENT', 'OUTPUT'],
    rows: events.map(({ seq, at_ms, branch, kind, tokens, parent, text, artifact }) => [
      String(seq),
      timeOf(at_ms),
      branch,
      kind,
      String(tokens),
      parent === 0 ? '' : String(parent),
      text,
      artifact,
    ]),
    numbers: [0, 4, 5],
    empty: 'no such events',
  }),
  bare: ({ session, events }) =>
    JSON.stringify({
      session,
      events: events.map(({ facts_json, ...event }) => ({ ...event, facts: JSON.parse(facts_json) })),
    }),
});

const sessionInspect = defineCommand<SessionContext>({
  name: ['session', 'inspect'],
  summary: 'Show the context that is made of a session, and why each event is in it or not.',
  parameters: [SESSION],
  options: [
    { syntax: '--phase <phase>', help: 'route, call, interpret or answer (default: answer)' },
    { syntax: '--query <words>', help: 'what the work is about' },
    { syntax: '--budget <tokens>', help: 'the most tokens (default: those of the phase)' },
    { syntax: '--floor <level>', help: 'leave out events of this sensitivity and above (default: restricted)' },
    { syntax: '--redact', help: 'show those without their text instead' },
    { syntax: '--to <position>', help: 'as of this position' },
    BRANCH,
    PROJECT,
  ],
  run: (context, args) =>
    inProject(context, args, (client, root, session) =>
      client.inspectSession({
        root,
        session,
        branch: args.text('branch') ?? '',
        phase: args.text('phase') ?? 'answer',
        query: args.text('query') ?? '',
        floor: args.text('floor') ?? '',
        redact: args.flag('redact'),
        budget_tokens: args.text('budget') === undefined ? 0 : args.count('budget', 1, 1_000_000),
        to: positionOf(args, 'to'),
      }),
    ),
  view: ({ text, position, sha256, stats_json }) => ({
    kind: 'stack',
    views: [
      { kind: 'lines', lines: text.split('\n').slice(0, -1) },
      { kind: 'pairs', pairs: [['position', String(position)], ['sha256', sha256], ...pairsOf(stats_json)] },
    ],
  }),
  bare: ({ stats_json, ...context }) => JSON.stringify({ ...context, stats: JSON.parse(stats_json) }),
});

const sessionReplay = defineCommand<SessionReplay>({
  name: ['session', 'replay'],
  summary: 'Make the contexts of a session again from its log, and compare them byte by byte.',
  parameters: [SESSION],
  options: [PROJECT],
  run: (context, args) => inProject(context, args, (client, root, session) => client.replaySession({ root, session })),
  view: ({ contexts }) => ({
    kind: 'table',
    columns: ['CONTEXT', 'TIME', 'POSITION', 'PHASE', 'SHA256', 'RESULT'],
    rows: contexts.map(({ number, at_ms, position, phase, sha256, result }) => [
      String(number),
      timeOf(at_ms),
      String(position),
      phase,
      sha256,
      result,
    ]),
    numbers: [0, 2],
    empty: 'no context was made of this session yet; `ctxd session inspect` makes one',
  }),
  exitCode: ({ contexts }) => (contexts.some(({ result }) => result === 'differs') ? 1 : 0),
});

export const sessionLogCommands = [sessionList, sessionShow, sessionInspect, sessionReplay];

/** The counts of a build: what was included, and how much was dropped for each reason. */
function pairsOf(statsJson: string): [string, string][] {
  const stats: unknown = JSON.parse(statsJson);
  if (!isJsonObject(stats)) return [];
  const { tokens, budgetTokens, candidates, closures, included, dropped, reasons } = stats;
  const why = Object.entries(isJsonObject(reasons) ? reasons : {}).filter(([, count]) => count !== 0);
  return [
    ['tokens', `${tokens} of ${budgetTokens}`],
    ['candidates', `${candidates}, ${closures} of them because others depend on them`],
    ['included', String(included)],
    [
      'dropped',
      `${Array.isArray(dropped) ? dropped.length : 0}${why.map(([reason, n]) => `, ${n} ${reason}`).join('')}`,
    ],
  ];
}

function positionOf(args: ParsedArgs, name: string): number {
  const text = args.text(name);
  if (text === undefined) return 0;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new ContextdError('ARGS_INVALID', `--${name} must be a position from 1, not ${text}`, {
    remedy: '`ctxd session show` shows the positions of the events.',
  });
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
