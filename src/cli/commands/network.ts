import { userInfo } from 'node:os';
import { durationMs } from '../../core/duration.ts';
import { ContextdError } from '../../core/errors.ts';
import type {
  NetworkChange__Output as NetworkChange,
  NetworkGroup__Output as NetworkGroup,
  NetworkRuleInfo__Output as NetworkRuleInfo,
  NetworkState__Output as NetworkState,
} from '../../protocol/generated/management.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { confirm } from '../input.ts';
import { findProjectRoot, projectAt } from '../project-root.ts';
import type { View } from '../render.ts';

const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const OF_MACHINE = { syntax: '--machine', help: 'for every project of this machine' };
const YES = { syntax: '--yes', help: 'do not ask; without a terminal nothing is changed without it' };
const FOR = { syntax: '--for <time>', help: 'for a time, such as 30m, 1h or 7d' };
const WHAT = { syntax: '<what...>', help: 'hosts (registry.example.com, *.corp.example:8443) or groups (npm, github)' };

const networkAllow = defineCommand<NetworkState>({
  name: ['network', 'allow'],
  summary: 'Let commands reach hosts or named groups of hosts. Only a person should run this.',
  parameters: [WHAT],
  options: [
    OF_MACHINE,
    PROJECT,
    { syntax: '--once', help: 'for the first call that uses it' },
    FOR,
    {
      syntax: '--private <address>',
      help: 'the address that is not public and to which the names lead; several with commas, or any',
    },
    YES,
  ],
  run: (context, args) => change(context, args, 'allow'),
  view: viewChange,
});

const networkDeny = defineCommand<NetworkState>({
  name: ['network', 'deny'],
  summary: 'Refuse hosts or groups. A denial wins over every permission.',
  parameters: [WHAT],
  options: [OF_MACHINE, PROJECT, FOR, YES],
  run: (context, args) => change(context, args, 'deny'),
  view: viewChange,
});

const networkRemove = defineCommand<NetworkState>({
  name: ['network', 'remove'],
  summary: 'Take back what was allowed or denied.',
  parameters: [WHAT],
  options: [OF_MACHINE, PROJECT, YES],
  run: (context, args) => change(context, args, 'remove'),
  view: viewRemoval,
});

const networkOn = defineCommand<NetworkState>({
  name: ['network', 'on'],
  summary: 'Give the commands of a project the names that a person allowed. This is the default.',
  options: [PROJECT, YES],
  run: (context, args) => change(context, args, 'on'),
  view: viewSwitch,
});

const networkOff = defineCommand<NetworkState>({
  name: ['network', 'off'],
  summary: 'Give the commands of a project no network at all, and each a loopback of its own.',
  options: [PROJECT, YES],
  run: (context, args) => change(context, args, 'off'),
  view: viewSwitch,
});

const networkList = defineCommand<NetworkState>({
  name: ['network', 'list'],
  summary: 'List what commands may reach, and who decided it.',
  options: [{ syntax: '--machine', help: 'only what holds for every project' }, PROJECT],
  async run(context, args) {
    const root = await scopeOf(context, args, 'machine');
    return withClient(context.paths, (client) => client.listNetwork({ root }));
  },
  view: viewState,
});

const networkGroups = defineCommand<readonly NetworkGroup[]>({
  name: ['network', 'groups'],
  summary: 'List the named groups of hosts, and the mirrors that they include on this machine.',
  async run(context) {
    return withClient(context.paths, async (client) => (await client.listNetworkGroups({})).groups);
  },
  view: (groups) => ({
    kind: 'table',
    columns: ['GROUP', 'WHAT', 'HOSTS', 'ON THIS MACHINE ALSO'],
    rows: groups.map(({ name, summary, patterns, mirrors }) => [name, summary, patterns.join(' '), mirrors.join(' ')]),
    empty: 'no groups',
  }),
});

export const networkCommands = [
  networkAllow,
  networkDeny,
  networkRemove,
  networkList,
  networkGroups,
  networkOn,
  networkOff,
];

type Action = 'allow' | 'deny' | 'remove' | 'on' | 'off';

/** Shows what would change, asks, and changes it. */
async function change(context: CliContext, args: ParsedArgs, action: Action): Promise<NetworkState> {
  const root = await scopeOf(context, args, null);
  await ensureRunning(context);
  const request: NetworkChange = {
    root,
    action,
    targets: args.words(),
    once: args.flag('once'),
    dry_run: true,
    by: userInfo().username,
    for_ms: readDuration(args.text('for')),
    private_addresses: (args.text('private') ?? '').split(',').filter((part) => part !== ''),
  };
  return withClient(context.paths, (client) => decide(context, client, request, args.flag('yes')));
}

/** Changes the network if the person agrees. Throws CANCELLED if they do not, or if nobody can be asked. */
async function decide(
  context: CliContext,
  client: Pick<DaemonClient, 'changeNetwork'>,
  request: NetworkChange,
  isAgreed: boolean,
): Promise<NetworkState> {
  const plan = await client.changeNetwork(request);
  const isSwitch = request.action === 'on' || request.action === 'off';
  if (!isSwitch && plan.changed.length === 0) return plan;
  if (!isAgreed) {
    const refusal = new ContextdError('CANCELLED', 'the network was not changed', {
      remedy: 'A person answers yes at a terminal, or passes --yes.',
    });
    await confirm(context, [headline(request, PLANS), ...changedLines(plan)], 'Do this?', refusal);
  }
  return client.changeNetwork({ ...request, dry_run: false });
}

/** The project root; "" for the machine, and without a project if `outside` says so. */
export async function scopeOf(context: CliContext, args: ParsedArgs, outside: 'machine' | null): Promise<string> {
  const named = args.text('project');
  if (args.flag('machine')) {
    if (named === undefined) return '';
    throw new ContextdError('ARGS_INVALID', 'cannot use both --machine and --project', { remedy: 'Give one of them.' });
  }
  if (outside === 'machine' && named === undefined && (await findProjectRoot(context.cwd)) === undefined) return '';
  return projectAt(context, named);
}

/** Milliseconds of `90s`, `30m`, `1h` or `7d`; 0 if there is no text. */
export function readDuration(text: string | undefined): number {
  if (text === undefined) return 0;
  const ms = durationMs(text);
  if (ms !== null) return ms;
  throw new ContextdError('ARGS_INVALID', `${JSON.stringify(text)} is not a time`, {
    remedy: 'Write it as 30m, 1h or 7d.',
  });
}

/** What a person is asked about: nothing of it is so yet. */
const PLANS: Readonly<Record<Action, string>> = {
  allow: 'will be able to reach',
  deny: 'will not be able to reach',
  remove: 'will have no decision of a person about',
  on: 'will be able to reach what a person allowed',
  off: 'will have no network at all',
};

/** What holds after a switch. */
const SWITCHED = { on: 'can reach what a person allowed', off: 'have no network at all' };

function headline(
  { root, action }: Pick<NetworkChange, 'root' | 'action'>,
  words: Readonly<Record<string, string>>,
): string {
  const who = root === '' ? 'Commands of every project' : `Commands in ${root}`;
  const what = words[action] ?? action;
  return `${who} ${what}${action === 'on' || action === 'off' ? '.' : ':'}`;
}

function changedLines({ changed, notes }: NetworkState): string[] {
  return [...changed.map((rule) => `  ${describeRule(rule)}`), ...notes];
}

/** For example `registry.example.com (npm), for one call`. */
export function describeRule({ pattern, group, once, expires_ms, private_addresses }: NetworkRuleInfo): string {
  const from = group === '' ? '' : ` (${group})`;
  const limits = [
    once ? 'for one call' : '',
    expires_ms === 0 ? '' : `until ${new Date(expires_ms).toISOString()}`,
    private_addresses.length === 0 ? '' : `also at ${private_addresses.join(', ')}`,
  ].filter((part) => part !== '');
  return [`${pattern}${from}`, ...limits].join(', ');
}

function viewChange(state: NetworkState): View {
  return viewOf(state, state.changed[0]?.verdict === 'deny' ? 'Denied:' : 'Allowed:');
}

function viewRemoval(state: NetworkState): View {
  return viewOf(state, 'Taken back:');
}

function viewOf(state: NetworkState, done: string): View {
  const lines =
    state.changed.length === 0
      ? ['Nothing changed.', ...(state.notes.length === 0 ? ['It is so already.'] : state.notes)]
      : [done, ...changedLines(state)];
  return { kind: 'lines', lines };
}

function viewSwitch({ root, is_on }: NetworkState): View {
  return { kind: 'lines', lines: [headline({ root, action: is_on ? 'on' : 'off' }, SWITCHED)] };
}

function viewState(state: NetworkState): View {
  const { root, is_on, is_on_from, rules, tools } = state;
  const who = root === '' ? 'Every project' : root;
  const from = is_on_from === 'machine' ? 'network.default' : 'this project';
  const first = is_on
    ? `${who}: on (${from}). Nothing but these names can be reached.`
    : `${who}: off (${from}). Commands have no network at all.`;
  return {
    kind: 'stack',
    views: [
      {
        kind: 'either',
        terminal: { kind: 'lines', lines: [first] },
        piped: { kind: 'lines', lines: is_on ? [] : [first] },
      },
      {
        kind: 'table',
        columns: ['VERDICT', 'HOST', 'GROUP', 'FROM', 'LIMITS', 'BY', 'SINCE'],
        rows: rules.map((rule) => rowOf(rule)),
        empty: `Nobody has allowed anything: ctxd network allow npm${root === '' ? ' --machine' : ''}`,
      },
      {
        kind: 'lines',
        lines: tools.map(({ tool, asks_for, may_reach }) => {
          const reached = may_reach.length === 0 ? 'nothing of it is allowed' : `may reach ${may_reach.join(', ')}`;
          return `The tool ${tool} asks for ${asks_for.join(', ')}: ${reached}.`;
        }),
      },
    ],
  };
}

function rowOf(rule: NetworkRuleInfo): string[] {
  const verdict = rule.overridden_by === '' ? rule.verdict : `${rule.verdict} (void: ${rule.overridden_by} is denied)`;
  const limits = describeRule({ ...rule, group: '' }).slice(rule.pattern.length + 2);
  const since = new Date(rule.given_ms).toISOString();
  return [verdict, rule.pattern, rule.group, rule.from, limits, rule.given_by, since];
}
