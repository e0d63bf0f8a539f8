import type { ToolInfo, ToolPlan } from '../../call/management.ts';
import { ContextdError } from '../../core/errors.ts';
import { LOCK_FILE, type LockedTool } from '../../install/lock-file.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { prepareTools } from '../init/tools.ts';
import { projectAt } from '../project-root.ts';
import type { View } from '../render.ts';
import { describePlan, type Installed, installOne, lookAt, toolOf } from '../tools/install.ts';
import { readLock, writeLock } from '../tools/lock.ts';

const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const YES = {
  syntax: '--yes',
  help: 'do not ask; refused if the tool wants more than install.yes_grants names',
};

interface InstallResult {
  root: string;
  tools: Installed[];
}

export const toolInstall = defineCommand<InstallResult>({
  name: ['tool', 'install'],
  summary: 'Fetch a tool of other people, show what it asks for and, after a yes, add it to the project.',
  parameters: [
    {
      syntax: '[source]',
      help: 'such as github.com/org/tool@v1, https://example.com/tool.tar.gz, s3::bucket/tool.zip or ./dir (default: what contextd.lock names)',
    },
  ],
  options: [
    YES,
    { syntax: '--submodules', help: 'fetch the submodules of the repository too' },
    { syntax: '--lfs', help: 'fetch the large files of the repository (git-lfs) too' },
    PROJECT,
  ],
  async run(context, args) {
    const source = args.word(0);
    return inProject(context, args, async (client, root) => {
      const locked = await readLock(root);
      const options = { context, client, root, isAgreed: args.flag('yes') };
      if (source === undefined) return { root, tools: await installLocked(locked, options) };
      const wanted = { source, submodules: args.flag('submodules'), lfs: args.flag('lfs') };
      return { root, tools: [await installOne(wanted, options)] };
    });
  },
  view: ({ tools }) => ({
    kind: 'lines',
    lines: tools.length === 0 ? [`${LOCK_FILE} names no tool`] : tools.map(lineOf),
  }),
});

export const toolUpdate = defineCommand<{ root: string; tools: Installed[]; plans: ToolPlan[] }>({
  name: ['tool', 'update'],
  summary:
    'Fetch installed tools again from where they came, show what changes and, after a yes, use the new versions.',
  parameters: [{ syntax: '[tools...]', help: 'the tools' }],
  options: [
    { syntax: '--all', help: 'every installed tool of the project' },
    { syntax: '--check', help: 'only show what would change; the exit code is 1 if anything would' },
    YES,
    PROJECT,
  ],
  async run(context, args) {
    return inProject(context, args, async (client, root) => {
      const tools: Installed[] = [];
      const plans: ToolPlan[] = [];
      await readLock(root);
      for (const tool of await chosen(args, client, root)) {
        const wanted = { source: tool.installed_from?.source ?? '' };
        const options = { context, client, root, isAgreed: args.flag('yes') };
        if (args.flag('check')) plans.push(await lookAt(wanted, options));
        else tools.push(await installOne(wanted, options));
      }
      return { root, tools, plans };
    });
  },
  view: ({ tools, plans }) => ({
    kind: 'lines',
    lines: [
      ...tools.map(lineOf),
      ...plans.flatMap((plan) => (plan.state === 'same' ? [current(plan)] : describePlan(plan))),
    ],
  }),
  exitCode: ({ plans }) => (plans.some(({ state }) => state !== 'same') ? 1 : 0),
});

export const toolRemove = defineCommand({
  name: ['tool', 'remove'],
  summary: 'Take an installed tool out of the project. Other projects keep it.',
  parameters: [{ syntax: '<tool>', help: 'the tool' }],
  options: [PROJECT],
  run: (context, args) => changed(context, args, (client, request) => client.removeTool(request), true),
  view: ({ root, name }): View => ({ kind: 'lines', lines: [`${name} is no longer a tool of ${root}`] }),
});

export const toolRollback = defineCommand({
  name: ['tool', 'rollback'],
  summary: 'Return to the version of a tool that the project used before, with what was granted to it then.',
  parameters: [{ syntax: '<tool>', help: 'the tool' }],
  options: [PROJECT],
  run: (context, args) => changed(context, args, (client, request) => client.rollbackTool(request), false),
  view: ({ name, version }): View => ({ kind: 'lines', lines: [`${name} is ${version} again`] }),
});

async function inProject<T>(
  context: CliContext,
  args: ParsedArgs,
  use: (client: DaemonClient, root: string) => Promise<T>,
): Promise<T> {
  const root = await projectAt(context, args.text('project'));
  await ensureRunning(context);
  return withClient(context.paths, (client) => use(client, root));
}

type Options = Parameters<typeof installOne>[1];

/** Reproduces the lock file: exactly what it names, or nothing of the tool and what differs. */
async function installLocked(locked: readonly LockedTool[], options: Options): Promise<Installed[]> {
  const tools: Installed[] = [];
  for (const entry of locked) {
    const { source, commit, archiveSha256: archive_sha256 } = entry;
    tools.push(
      await installOne({ source, commit, archive_sha256 }, { ...options, check: (plan) => checkLocked(plan, entry) }),
    );
  }
  return tools;
}

function checkLocked(plan: ToolPlan, entry: LockedTool): void {
  const tool = toolOf(plan);
  const differences = [
    ...(tool.name === entry.name ? [] : [`it is called ${tool.name}`]),
    ...(tool.version === entry.version ? [] : [`its version is ${tool.version}, not ${entry.version}`]),
    ...(tool.bundle_sha256 === entry.bundleSha256
      ? []
      : [`its files have the hash ${tool.bundle_sha256}, not ${entry.bundleSha256}`]),
    ...tool.grants.filter((grant) => !entry.grants.includes(grant)).map((grant) => `it asks for ${grant} too`),
  ];
  if (differences.length === 0) return;
  throw new ContextdError(
    'INTEGRITY_FAILED',
    `${entry.source} is not what ${LOCK_FILE} names: ${differences.join('; ')}`,
    {
      remedy: `Nothing of it was installed. To take what is there now: ctxd tool install ${entry.source}`,
      details: { tool: entry.name, differences },
    },
  );
}

async function chosen(args: ParsedArgs, client: DaemonClient, root: string): Promise<ToolInfo[]> {
  const { tools } = await client.listTools({ root, offered: false });
  const installed = tools.filter(({ installed_from: origin }) => origin !== null);
  const names = args.words();
  if (args.flag('all')) return installed;
  if (names.length === 0) {
    throw new ContextdError('ARGS_INVALID', 'no tool is named', { remedy: 'Name one, or pass --all.' });
  }
  return names.map((name) => {
    const tool = installed.find((one) => one.name === name);
    if (tool !== undefined) return tool;
    const known = installed.map((one) => one.name).join(', ') || 'none';
    throw new ContextdError('TOOL_NOT_FOUND', `no tool ${JSON.stringify(name)} is installed in ${root}`, {
      remedy: `Installed: ${known}.`,
    });
  });
}

/** Changes one installed tool, then the project's files and its lock file. */
async function changed(
  context: CliContext,
  args: ParsedArgs,
  change: (client: DaemonClient, request: { root: string; name: string }) => Promise<{ tools: ToolInfo[] }>,
  isRemoval: boolean,
): Promise<{ root: string; name: string; version: string }> {
  const name = args.requiredWord(0);
  return inProject(context, args, async (client, root) => {
    await readLock(root);
    const { tools } = await change(client, { root, name });
    await (await prepareTools(context, root, tools)).apply();
    await writeLock(root, { tools, ...(isRemoval ? { removed: name } : {}) });
    return { root, name, version: tools.find((tool) => tool.name === name)?.version ?? '' };
  });
}

function lineOf({ name, version, state, source, commit }: Installed): string {
  const at = commit === '' ? '' : ` (${commit.slice(0, 12)})`;
  const after = state === 'installed' ? `. Call it: .claude/tools/${name}/${name} --help` : '';
  return `${name} ${version} is ${state === 'unchanged' ? 'as it was' : state}, from ${source}${at}${after}`;
}

function current(plan: ToolPlan): string {
  const { name, version } = toolOf(plan);
  return `${name} ${version} is what ${toolOf(plan).installed_from?.source} has`;
}
