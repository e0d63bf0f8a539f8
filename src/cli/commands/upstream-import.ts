import { userInfo } from 'node:os';
import { ContextdError } from '../../core/errors.ts';
import type { UpstreamInfo__Output as UpstreamInfo } from '../../protocol/generated/management.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { confirm } from '../input.ts';
import { projectAt } from '../project-root.ts';
import { describeServer, describeState } from '../upstream/describe.ts';
import { forgetImport, readImport, recordFile, replaceFiles, writeImport } from '../upstream/imports.ts';
import { filesWithout, planImport } from '../upstream/plan-import.ts';

interface Imported {
  readonly servers: readonly UpstreamInfo[];
  /** Files of the project that were changed. */
  readonly files: readonly string[];
  /** What was not imported or undone, and why. */
  readonly skipped: readonly string[];
  readonly undone: readonly string[];
}

export const upstreamImport = defineCommand<Imported>({
  name: ['upstream', 'import'],
  summary: 'Move the MCP servers that clients are configured with into contextd. Only a person should run this.',
  options: [
    {
      syntax: '--keep',
      help: 'leave the files of the project as they are: clients go on starting the servers themselves',
    },
    { syntax: '--undo', help: 'undo the last import: the files as they were, and its servers removed' },
    { syntax: '--project <dir>', help: 'the project directory (default: the current project)' },
    { syntax: '--yes', help: 'do not ask; without a terminal nothing is changed without it' },
  ],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    await ensureRunning(context);
    const ask = async (lines: readonly string[]): Promise<void> => {
      if (!args.flag('yes')) await confirm(context, lines, 'Do this?', REFUSAL);
    };
    return withClient(context.paths, (client) =>
      args.flag('undo')
        ? undoImport(context, client, root, ask)
        : importServers(context, client, root, ask, args.flag('keep')),
    );
  },
  view: ({ servers, files, skipped, undone }) => ({
    kind: 'lines',
    lines: [
      ...undone.map((one) => `Undone: ${one}`),
      ...servers.flatMap(describeState),
      ...files.map((path) => `Changed ${path}. Undo: ctxd upstream import --undo`),
      ...skipped.map((one) => `Left as it is: ${one}`),
      ...(servers.length + skipped.length + undone.length === 0
        ? ['No client is configured with an MCP server here.']
        : []),
    ],
  }),
  exitCode: ({ servers }) => (servers.every(({ state }) => state === 'running') ? 0 : 1),
});

const REFUSAL = new ContextdError('CANCELLED', 'nothing was changed', {
  remedy: 'A person answers yes at a terminal, or passes --yes.',
});

type Ask = (lines: readonly string[]) => Promise<void>;
type Client = Pick<DaemonClient, 'addUpstream' | 'listUpstreams' | 'removeUpstream' | 'listNetworkCredentials'>;

async function importServers(
  context: CliContext,
  client: Client,
  root: string,
  ask: Ask,
  isKept: boolean,
): Promise<Imported> {
  const taken = (await client.listUpstreams({ root, name: '' })).servers.map(({ name }) => name);
  const { credentials } = await client.listNetworkCredentials({ root });
  const bound = credentials.map(({ host, port }) => (port === 443 ? host : `${host}:${port}`));
  const { servers, skipped } = planImport(context, root, { taken, bound, by: userInfo().username });
  if (servers.length === 0) return { servers: [], files: [], skipped, undone: [] };
  const lines: string[] = [`In ${root}, sandboxes run these MCP servers:`];
  for (const { request, from, handedOver } of servers) {
    const [plan] = (await client.addUpstream({ ...request, dry_run: true })).servers;
    lines.push(...(plan === undefined ? [] : [...describeServer(plan), ...afterImport(plan)]), `  from: ${from}`);
    // A file of the repository may name them.
    if (handedOver.length > 0) lines.push(`  gets the values of your shell's variables: ${handedOver.join(', ')}`);
  }
  const paths = isKept ? [] : filesWithout(root, servers).map(({ path }) => path);
  await ask([
    ...lines,
    ...paths.map((path) => `Those that start are taken out of ${path}; a backup is kept.`),
    ...skipped.map((one) => `Left as it is: ${one}`),
  ]);
  const names = servers.map(({ request }) => request.name);
  await writeImport(context.paths, { root, servers: names, files: [] });
  const added: UpstreamInfo[] = [];
  for (const { request } of servers) added.push(...(await client.addUpstream(request)).servers);
  // A client must not lose a server that nothing else runs.
  const running = new Set(added.filter(({ state }) => state === 'running').map(({ name }) => name));
  const moved = servers.filter(({ request }) => running.has(request.name));
  const files = isKept ? [] : filesWithout(root, moved);
  await replaceFiles(context.paths, { root, servers: names, files });
  return { servers: added, files: files.map(({ path }) => path), skipped, undone: [] };
}

/** Values of variables are in the files of clients, so the server must have them before the command keeps them. */
function afterImport({ to_grant: command }: UpstreamInfo): string[] {
  return command === '' ? [] : [`  to grant what it lacks, after the import: ${command}`];
}

async function undoImport(context: CliContext, client: Client, root: string, ask: Ask): Promise<Imported> {
  const record = await readImport(context.paths, root);
  if (record === null)
    throw new ContextdError('NOT_FOUND', `no import of ${root} can be undone`, {
      remedy: 'Remove a server with `ctxd upstream remove NAME`.',
    });
  const known = (await client.listUpstreams({ root, name: '' })).servers.map(({ name }) => name);
  const servers = record.servers.filter((name) => known.includes(name));
  await ask([
    `In ${root}:`,
    ...record.files.map(({ path }) => `  ${path} becomes what it was before the import`),
    ...servers.map((name) => `  the MCP server ${name} is removed`),
  ]);
  const project = OwnedDirectory.at(root);
  const [undone, skipped]: [string[], string[]] = [[], []];
  for (const { path, before, after } of record.files) {
    const found = project.inspect(path);
    const isAsLeft = found.kind === 'file' && found.text === after;
    if (isAsLeft) project.write(path, before, found.mode & 0o777);
    (isAsLeft ? undone : skipped).push(
      isAsLeft ? path : `${path}: it was changed since; how it was is in ${recordFile(context.paths, root)}`,
    );
  }
  for (const name of servers) {
    await client.removeUpstream({ root, name });
    undone.push(name);
  }
  if (skipped.length === 0) await forgetImport(context.paths, root);
  return { servers: [], files: [], skipped, undone };
}
