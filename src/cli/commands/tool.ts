import { realpath } from 'node:fs/promises';
import { ContextdError } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import { INPUT_MAX_BYTES } from '../../core/limits.ts';
import type { ToolInfo__Output as ToolInfo } from '../../protocol/generated/management.ts';
import { PROTOCOL_VERSION } from '../../protocol/versions.ts';
import { withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input.ts';
import { currentProject, findProjectRoot, projectOption } from '../project-root.ts';
import { printable, write } from '../render.ts';

const toolList = defineCommand({
  name: ['tool', 'list'],
  summary: 'List the tools of the project, or those of contextd outside a project.',
  options: [{ syntax: '--project [dir]', help: 'the project (default: the current project)' }],
  async run(context, args) {
    const tools = await toolsHere(context, args);
    return tools.map(({ schema_json: _schema, tool_md: _md, tool_extended_md: _extended, ...tool }) => tool);
  },
  view: (tools) => ({
    kind: 'table',
    columns: ['NAME', 'VERSION', 'SOURCE', 'GRANTS', 'TOKENS', 'LAST USED', 'STATE'],
    numbers: [4],
    rows: tools.map((tool) => [
      tool.name,
      tool.version,
      tool.installed_from?.source ?? tool.origin,
      tool.grants.join(' ') || 'none',
      String(tool.schema_tokens),
      tool.last_used || '-',
      tool.state,
    ]),
    empty: 'no tools',
  }),
});

const toolInfo = defineCommand({
  name: ['tool', 'info'],
  summary: 'Show one tool: what it does, its arguments, where it came from and what it may ask of the host.',
  parameters: [{ syntax: '<name>', help: 'the tool' }],
  options: [{ syntax: '--project [dir]', help: 'the project (default: the current project)' }],
  async run(context, args) {
    const name = args.requiredWord(0);
    const tools = await toolsHere(context, args);
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) {
      throw new ContextdError('TOOL_NOT_FOUND', `there is no tool ${JSON.stringify(name)}`, {
        remedy: `There are ${tools.map((one) => one.name).join(', ')}.`,
      });
    }
    const { schema_json: schemaJson, ...rest } = tool;
    const schema: unknown = JSON.parse(schemaJson);
    return { ...rest, schema };
  },
  view: (tool) => ({
    kind: 'lines',
    lines: [
      ...tool.tool_md.trimEnd().split('\n'),
      '',
      `version ${tool.version}, ${tool.state}`,
      ...originLines(tool),
      `sha256  ${tool.bundle_sha256}`,
      `grants  ${tool.grants.length === 0 ? 'none' : tool.grants.join(', ')}`,
      `schema  ${JSON.stringify(tool.schema)}`,
    ],
  }),
});

/** The tools of the project that is named or current; outside a project those of contextd. */
async function toolsHere(context: CliContext, args: ParsedArgs): Promise<ToolInfo[]> {
  const root = args.flag('project') ? await projectOption(context, args) : ((await findProjectRoot(context.cwd)) ?? '');
  return (await withClient(context.paths, (client) => client.listTools({ root, offered: false }))).tools;
}

function originLines({
  origin,
  installed_from: from,
  accepted_ms: acceptedMs,
}: Omit<ToolInfo, 'schema_json'>): string[] {
  if (from === null) return [`origin  ${origin}`];
  return [
    `source  ${from.source}`,
    ...(from.commit === '' ? [] : [`commit  ${from.commit}`]),
    ...(from.archive_sha256 === '' ? [] : [`archive ${from.archive_sha256}`]),
    `signer  ${from.signer === '' ? 'not signed' : from.signer}`,
    `since   ${new Date(acceptedMs).toISOString()}`,
  ];
}

const toolRun = defineCommand({
  name: ['tool', 'run'],
  summary: 'Call a tool in the current project, print its answer and exit with its status.',
  parameters: [{ syntax: '<tool>', help: 'the tool' }],
  options: [{ syntax: '--input <json>', help: 'the arguments: JSON, @file, or - for standard input (default {})' }],
  async run(context, args) {
    const root = await currentProject(context);
    const input = await readInput(args.text('input') ?? '{}', context, INPUT_MAX_BYTES);
    const answer = await callTool(context, args.requiredWord(0), root, input);
    if (answer.error_line !== '') await write(context.stderr, `${printable(answer.error_line)}\n`);
    return { line: answer.envelope_json.toString('utf8'), exitCode: answer.exit_code };
  },
  // The envelope is one JSON value already.
  bare: ({ line }) => line,
  view: ({ line }) => ({ kind: 'raw', text: `${line}\n` }),
  exitCode: ({ exitCode }) => Math.min(exitCode, 255),
});

export const toolCommands = [toolList, toolInfo, toolRun];

async function callTool(context: CliContext, tool: string, root: string, input: Buffer) {
  const request = {
    tool,
    input_json: input,
    cwd: await realpath(context.cwd),
    context: {
      request_id: newRequestId(Date.now()),
      project_root: root,
      session_id: context.env.sessionId ?? '',
      branch: context.env.branch ?? '',
      protocol_version: PROTOCOL_VERSION,
    },
  };
  return withClient(context.paths, async (client) => {
    // Asked first: if the connection is lost later, it was lost during the call.
    await client.serverStatus({});
    return client.execute(request, context.signal).catch((error) => {
      throw lostInTheMiddle(error);
    });
  });
}

/** The call may have run, so the error must not say that it can be repeated. */
function lostInTheMiddle(error: unknown): unknown {
  if (!(error instanceof ContextdError) || error.code !== 'DAEMON_UNAVAILABLE') return error;
  return new ContextdError('INTERRUPTED', 'the daemon stopped during the call', {
    remedy: 'See `ctxd audit tail` for whether it ran before you repeat it.',
    cause: error,
  });
}
