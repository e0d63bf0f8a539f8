import { realpath } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { readVariable } from '../../config/env.ts';
import { ContextdError } from '../../core/errors.ts';
import type {
  NewUpstream__Output as NewUpstream,
  UpstreamInfo__Output as UpstreamInfo,
  UpstreamReview__Output as UpstreamReview,
} from '../../protocol/generated/management.ts';
import { readCatalogueBytes } from '../catalogue-bytes.ts';
import { withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { confirm } from '../input.ts';
import { projectAt } from '../project-root.ts';
import type { View } from '../render.ts';
import { describeServer, describeState, grantLines, sourceOf } from '../upstream/describe.ts';
import { replaceFiles } from '../upstream/imports.ts';
import { newUpstream } from '../upstream/new-upstream.ts';
import { filesWith, filesWithout, type ServerInFile } from '../upstream/plan-import.ts';

const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const YES = { syntax: '--yes', help: 'do not ask; without a terminal nothing is changed without it' };
const NAME = { syntax: '<name>', help: 'the server, as `ctxd upstream list` names it' };

interface Added extends UpstreamInfo {
  /** Files of the project from which the server was taken. */
  readonly taken_from: readonly string[];
  /** Files of clients that have the server too. */
  readonly still_in: readonly ServerInFile[];
}

const upstreamAdd = defineCommand<Added>({
  name: ['upstream', 'add'],
  summary: 'Add an MCP server to a project, in a sandbox of its own. Only a person should run this.',
  parameters: [
    { syntax: '<name>', help: 'how its tools are grouped, such as github' },
    { syntax: '[command...]', help: 'after `--`: the program and its arguments; or the URL of a server' },
  ],
  options: [
    {
      syntax: '--env <names...>',
      help: 'variables of this shell that it gets, by name; their values are masked in answers. One that is not set keeps the value that the server had',
    },
    { syntax: '--allow-host <hosts...>', help: 'hosts or groups that it may reach, such as npm or api.example.com' },
    {
      syntax: '--path <paths...>',
      help: 'what it may read: a path, or `.` for the project, in which it then runs; with `:rw` it may change it',
    },
    {
      syntax: '--header-from <host>',
      help: 'send the credential that is bound to this host, which is that of the URL',
    },
    {
      syntax: '--catalog <file>',
      help: 'in place of a server: a file that lists tools, resources and prompts, as `ctxd mcp inspect` reads it; `-` for standard input',
    },
    {
      syntax: '--take-over',
      help: 'if it runs, take it out of the files of the project in which clients have it: they would start it without a sandbox',
    },
    PROJECT,
    YES,
  ],
  async run(context, args) {
    const request = await requestOf(context, args);
    const found = filesWith(context, request.root, request.name);
    const cuts = args.flag('take-over') ? found.filter(({ cut }) => cut !== null) : [];
    await ensureRunning(context);
    return withClient(context.paths, async (client) => {
      const [plan] = (await client.addUpstream({ ...request, dry_run: true })).servers;
      await agree(context, args, [
        request.catalog === ''
          ? `In ${request.root}, a sandbox runs an MCP server:`
          : `In ${request.root}, agents find what a file lists:`,
        ...(plan ? [...describeServer(plan), ...grantLines(plan)] : []),
        ...cuts.map(({ file }) => `If it runs, ${file} loses it.`),
      ]);
      const added = only((await client.addUpstream(request)).servers);
      const taken = added.state === 'running' ? cuts : [];
      return {
        ...added,
        taken_from: await takeOut(context, request, taken),
        still_in: found.filter((one) => !taken.includes(one)),
      };
    });
  },
  view: (server) => ({ kind: 'lines', lines: [...describeState(server), ...clientLines(server)] }),
  exitCode: ({ state }) => (state === 'running' || state === 'catalogue' ? 0 : 1),
});

const upstreamList = defineCommand<readonly UpstreamInfo[]>({
  name: ['upstream', 'list'],
  summary: 'List the MCP servers of a project: state, tools, what they may reach, and the last error.',
  parameters: [{ syntax: '[name]', help: 'only this one, with the last lines that it printed' }],
  options: [PROJECT],
  async run(context, args) {
    const request = { root: await projectAt(context, args.text('project')), name: args.word(0) ?? '' };
    return withClient(context.paths, async (client) => (await client.listUpstreams(request)).servers);
  },
  view: (servers) => ({ kind: 'stack', views: [tableOf(servers), detailsOf(servers)] }),
});

const upstreamRemove = defineCommand<UpstreamInfo>({
  name: ['upstream', 'remove'],
  summary: 'Take an MCP server out of a project, with its variables and what it kept.',
  parameters: [NAME],
  options: [PROJECT],
  run: (context, args) =>
    change(context, args, async (client, request) => only((await client.removeUpstream(request)).servers)),
  view: ({ name }) => ({ kind: 'lines', lines: [`Removed ${name}.`] }),
});

const upstreamRestart = defineCommand<UpstreamInfo>({
  name: ['upstream', 'restart'],
  summary: 'Stop an MCP server and start it again, also one that is left alone because it kept failing.',
  parameters: [NAME],
  options: [PROJECT],
  run: (context, args) =>
    change(context, args, async (client, request) => only((await client.restartUpstream(request)).servers)),
  view: (server) => ({ kind: 'lines', lines: describeState(server) }),
});

const upstreamApprove = defineCommand<UpstreamReview>({
  name: ['upstream', 'approve'],
  summary:
    'Show which tools, prompts and templates of an MCP server changed, and accept them. Only a person should run this.',
  parameters: [NAME],
  options: [PROJECT, YES],
  run: (context, args) =>
    change(context, args, async (client, request) => {
      const review = await client.reviewUpstream(request);
      if (review.changes.length === 0) return review;
      const lines = [
        `These definitions of ${review.name} are not what was accepted:`,
        ...review.changes.flatMap(changeLines),
      ];
      await agree(context, args, lines);
      return client.approveUpstream({ ...request, sha256: review.sha256 });
    }),
  view: ({ name, changes }) => ({
    kind: 'lines',
    lines:
      changes.length === 0
        ? [`All definitions of ${name} are as they were accepted.`]
        : changes.map(({ tool, kind }) => `Accepted: ${tool} (${kind})`),
  }),
});

export const upstreamCommands = [upstreamAdd, upstreamList, upstreamRemove, upstreamRestart, upstreamApprove];

type Client = Parameters<Parameters<typeof withClient>[1]>[0];

/** Acts on the named server of the project. */
async function change<T>(
  context: CliContext,
  args: ParsedArgs,
  act: (client: Client, request: { root: string; name: string }) => Promise<T>,
): Promise<T> {
  const request = { root: await projectAt(context, args.text('project')), name: args.requiredWord(0) };
  await ensureRunning(context);
  return withClient(context.paths, (client) => act(client, request));
}

async function requestOf(context: CliContext, args: ParsedArgs): Promise<NewUpstream> {
  const root = await projectAt(context, args.text('project'));
  const [name = '', ...command] = args.words();
  const isUrl = command.length === 1 && /^https?:\/\//.test(command[0] ?? '');
  const granted = await Promise.all(args.list('path').map((text) => pathOf(context, text)));
  const own = granted.filter(({ path }) => path === root);
  const catalog = args.text('catalog');
  return newUpstream({
    root,
    name,
    by: userInfo().username,
    ...(isUrl ? { url: command[0] ?? '' } : { command, directory: await realpath(context.cwd) }),
    variables: args.list('env').map(variableOf),
    hosts: args.list('allowHost'),
    paths: granted.filter(({ path }) => path !== root),
    project: own.length === 0 ? 'none' : own.some(({ writable }) => writable) ? 'write' : 'read',
    header_from: args.text('header-from') ?? '',
    ...(catalog === undefined ? {} : await catalogueOf(context, catalog)),
  });
}

async function catalogueOf(context: CliContext, file: string): Promise<Pick<NewUpstream, 'catalog' | 'catalog_json'>> {
  return {
    catalog: file === '-' ? '-' : resolve(context.cwd, file),
    catalog_json: await readCatalogueBytes(file, context, CATALOG_MAX_BYTES),
  };
}

/** A little beyond what the daemon takes, so that it says what it takes. */
const CATALOG_MAX_BYTES = 8 * 1024 * 1024;

/** Without links, so that none that changes later leads elsewhere. What does not exist is reported by the daemon. */
async function pathOf({ cwd }: CliContext, text: string): Promise<{ path: string; writable: boolean }> {
  const writable = text.endsWith(':rw');
  const path = resolve(cwd, writable ? text.slice(0, -':rw'.length) : text);
  return { path: await realpath(path).catch(() => path), writable };
}

/** A server that is added again keeps a value that this shell does not set. */
function variableOf(name: string): NewUpstream['variables'][number] {
  const value = readVariable(name);
  return { name, value: value ?? '', kept: value === undefined };
}

async function agree(context: CliContext, args: ParsedArgs, lines: readonly string[]): Promise<void> {
  if (args.flag('yes')) return;
  const refusal = new ContextdError('CANCELLED', 'nothing was changed', {
    remedy: 'A person answers yes at a terminal, or passes --yes.',
  });
  await confirm(context, lines, 'Do this?', refusal);
}

function only(servers: readonly UpstreamInfo[]): UpstreamInfo {
  const [server] = servers;
  if (server === undefined) throw new Error('the daemon answers with the server');
  return server;
}

/** Returns the files that changed. */
async function takeOut(
  { paths }: CliContext,
  { root, name }: Pick<NewUpstream, 'root' | 'name'>,
  servers: readonly ServerInFile[],
): Promise<string[]> {
  if (servers.length === 0) return [];
  const files = filesWithout(root, servers);
  await replaceFiles(paths, { root, servers: [name], files });
  return files.map(({ path }) => path);
}

function clientLines({ name, taken_from: taken, still_in: left }: Added): string[] {
  return [
    ...taken.map((path) => `Changed ${path}. Undo: ctxd upstream import --undo`),
    ...left.map(({ client, file, cut }) => {
      const way = cut === null ? 'take it out there yourself' : 'add it again with --take-over to take it out there';
      return `${file} still has ${name}, which ${client} starts without a sandbox: ${way}`;
    }),
  ];
}

function changeLines({ tool, kind, diff }: UpstreamReview['changes'][number]): string[] {
  return ['', `${tool} (${kind})`, ...diff.split('\n').map((line) => `  ${line}`)];
}

function tableOf(servers: readonly UpstreamInfo[]): View {
  return {
    kind: 'table',
    columns: ['NAME', 'STATE', 'TOOLS', 'RESOURCES', 'PROMPTS', 'WAITING', 'TOKENS', 'REACHES', 'SERVER', 'LAST ERROR'],
    numbers: [2, 3, 4, 5, 6],
    rows: servers.map((server) => [
      server.name,
      server.state,
      String(server.tools),
      String(server.resources),
      String(server.prompts),
      String(server.waiting),
      String(server.tokens),
      server.hosts.join(' '),
      sourceOf(server),
      server.last_error,
    ]),
    empty: 'No MCP server: ctxd upstream add NAME -- COMMAND',
  };
}

function detailsOf(servers: readonly UpstreamInfo[]): View {
  const [server, ...others] = servers;
  if (server === undefined || others.length > 0) return { kind: 'lines', lines: [] };
  const printed = server.last_lines.map((line) => `  ${line}`);
  return {
    kind: 'lines',
    lines: [
      ...describeServer(server),
      ...server.refused.map((one) => `Refused: ${one}`),
      ...grantLines(server),
      ...server.left_out.map((one) => `Left out: ${one}`),
      ...(printed.length === 0 ? [] : ['It printed last:', ...printed]),
    ],
  };
}
