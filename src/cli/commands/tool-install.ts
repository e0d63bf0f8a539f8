import { ContextdError, withRemedy } from '../../core/errors.ts';
import { isOfMachine, LOCK_FILE, type LockedTool } from '../../install/lock-file.ts';
import { SOURCE_FORMS, SOURCE_REMEDY } from '../../install/source-forms.ts';
import type {
  ToolInfo__Output as ToolInfo,
  ToolPlan__Output as ToolPlan,
} from '../../protocol/generated/management.ts';
import type { DaemonClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { inProject } from '../tools/in-project.ts';
import { describePlan, type Installed, installOne, lookAt, toolOf, type Wanted } from '../tools/install.ts';
import { readLock } from '../tools/lock.ts';

const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const YES = {
  syntax: '--yes',
  help: 'do not ask; refused if the tool wants more than install.yes_grants names',
};

interface InstallResult {
  root: string;
  tools: Installed[];
  failed: FailedTool[];
}

/** A tool among several that could not be installed; the others were. */
interface FailedTool {
  name: string;
  code: string;
  /** What failed and what to do. */
  message: string;
}

const toolInstall = defineCommand<InstallResult>({
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
      const locked = readLock(OwnedDirectory.at(root));
      const options = { context, client, root, isAgreed: args.flag('yes') };
      if (source === undefined) return { root, ...(await installLocked(locked, options)) };
      const wanted = { source, submodules: args.flag('submodules'), lfs: args.flag('lfs') };
      return { root, tools: [await installOne(wanted, options).catch(addForms)], failed: [] };
    });
  },
  view: ({ tools, failed }) => ({
    kind: 'lines',
    lines:
      tools.length + failed.length === 0
        ? [`${LOCK_FILE} names no tool`]
        : [...tools.map(lineOf), ...failed.map(faultLine)],
  }),
  exitCode: ({ failed }) => (failed.length === 0 ? 0 : 1),
});

const toolUpdate = defineCommand<InstallResult & { plans: ToolPlan[] }>({
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
      readLock(OwnedDirectory.at(root));
      const options = { context, client, root, isAgreed: args.flag('yes') };
      const named = await chosen(args, client, root);
      const wantedOf = (tool: ToolInfo): Wanted => ({ source: tool.installed_from?.source ?? '' });
      if (args.flag('check')) {
        const { done: plans, failed } = await eachOf(named, context, (tool) => lookAt(wantedOf(tool), options));
        return { root, tools: [], plans, failed };
      }
      const { done: tools, failed } = await eachOf(named, context, (tool) => installOne(wantedOf(tool), options));
      return { root, tools, plans: [], failed };
    });
  },
  view: ({ tools, plans, failed }) => ({
    kind: 'lines',
    lines: [
      ...tools.map(lineOf),
      ...plans.flatMap((plan) => (plan.state === 'same' ? [current(plan)] : describePlan(plan))),
      ...failed.map(faultLine),
    ],
  }),
  exitCode: ({ plans, failed }) => (failed.length > 0 || plans.some(({ state }) => state !== 'same') ? 1 : 0),
});

export const toolInstallCommands = [toolInstall, toolUpdate];

/** Shows what a source can be after a fault of one. */
function addForms(thrown: unknown): never {
  if (!(thrown instanceof ContextdError) || thrown.remedy !== SOURCE_REMEDY) throw thrown;
  const { code, message, remedy } = thrown;
  throw new ContextdError(code, message, { remedy, details: { forms: SOURCE_FORMS }, cause: thrown });
}

type Options = Parameters<typeof installOne>[1];

/** Reproduces the lock file: of each tool exactly what it names, or nothing of the tool and what differs. */
async function installLocked(
  locked: readonly LockedTool[],
  options: Options,
): Promise<Pick<InstallResult, 'tools' | 'failed'>> {
  const { done: tools, failed } = await eachOf(locked, options.context, async (entry) => {
    const { source, commit, archiveSha256: archive_sha256 } = entry;
    const wanted = { source, commit, archive_sha256, cwd: options.root };
    return installOne(wanted, { ...options, check: (plan) => checkLocked(plan, entry) }).catch((thrown: unknown) => {
      throw missingHere(thrown, entry);
    });
  });
  return { tools, failed };
}

/** A folder that a colleague has, and this machine does not. */
function missingHere(thrown: unknown, entry: LockedTool): unknown {
  if (!(thrown instanceof ContextdError) || thrown.code !== 'PATH_NOT_FOUND') return thrown;
  const { name, source } = entry;
  const why = isOfMachine(entry) ? 'which is a place of the machine that added it' : 'which is not in the project';
  return new ContextdError('PATH_NOT_FOUND', `${LOCK_FILE} names ${source} for ${name}, ${why}: ${thrown.message}`, {
    remedy: 'Install it from where everyone can reach it, such as a repository: ctxd tool install SOURCE.',
    cause: thrown,
  });
}

/** Does the work for each tool, also after one fails. Throws if the person stops it, and the fault if there is one tool. */
async function eachOf<T extends { name: string }, Result>(
  entries: readonly T[],
  { signal }: CliContext,
  work: (entry: T) => Promise<Result>,
): Promise<{ done: Result[]; failed: FailedTool[] }> {
  const done: Result[] = [];
  const failed: FailedTool[] = [];
  for (const entry of entries) {
    try {
      done.push(await work(entry));
    } catch (thrown) {
      const mustStop = !(thrown instanceof ContextdError) || signal.aborted || thrown.details.interrupted === true;
      if (mustStop || entries.length === 1) throw thrown;
      failed.push({ name: entry.name, code: thrown.code, message: withRemedy(thrown) });
    }
  }
  return { done, failed };
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

function faultLine({ name, message }: FailedTool): string {
  return `${name} was left as it was: ${message}`;
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
