import { join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { inspectProxy } from '../doctor/installed-proxy.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { Answers } from '../init/answers.ts';
import {
  CLIENT_PLACES,
  findOtherClients,
  OTHER_CLIENTS,
  type OtherClient,
  readClientNames,
} from '../init/clients/other-clients.ts';
import { describeChanges } from '../init/describe-changes.ts';
import { EXCLUDE_FILE, isTracked } from '../init/git-exclude.ts';
import { type NetworkOffer, networkLines, offerNetwork } from '../init/network-offer.ts';
import { type ProjectChanges, prepareUninstall } from '../init/project.ts';
import { isWanted, offerReading, offerRepository, type RepositoryUse } from '../init/repository-above.ts';
import { clientsOf, hasShell, prepareTools } from '../init/tools.ts';
import { type MirrorOffer, mirrorLines, offerMirrors } from '../mirrors/offer.ts';
import { resolveProjectRoot } from '../project-root.ts';
import type { View } from '../render.ts';
import { describeToolchains } from '../toolchains/describe.ts';
import { type Answer, offerToolchains, type ToolchainOffer } from '../toolchains/offer.ts';

interface InitResult extends ProjectChanges {
  root: string;
  action: 'init' | 'uninstall';
  /** True if something was written, removed or registered. */
  changed: boolean;
  tools: string[];
  /** The repository of which the project is only a part. */
  repository_above?: RepositoryUse;
  /** Absent after --uninstall. */
  toolchains?: ToolchainOffer;
  /** Absent after --uninstall. */
  mirrors?: MirrorOffer;
  /** Absent after --uninstall. */
  network?: NetworkOffer;
  /** Whether contextd is the shell of Claude Code and OpenCode in the project. Absent after --uninstall. */
  shell?: boolean;
  /** True if git tracks a file that was removed. Only after --uninstall. */
  tracked?: boolean;
  /** Where the records of the project stay. Only after --uninstall. */
  recorded_in?: string;
  /** Toolchains that commands of every project can still run. Only after --uninstall. */
  toolchains_left?: readonly string[];
  /** What a person declined in an earlier run, and how to change it. Absent after --uninstall. */
  declined?: readonly string[];
  /** The clients beside Claude Code and OpenCode that are set up. Absent after --uninstall. */
  clients?: readonly OtherClient[];
}

export const init = defineCommand({
  name: ['init'],
  summary: 'Set up a project: add the tools and tell agents about them.',
  parameters: [{ syntax: '[dir]', help: 'the project directory (default: the current one)' }],
  options: [
    { syntax: '--uninstall', help: 'remove exactly what init created' },
    {
      syntax: '--yes',
      help: 'without asking, make contextd the shell of the clients, let commands run programs outside /usr, use the repository around the project and your registries, and reach the groups of hosts that the project uses',
    },
    { syntax: '--shell', help: 'make contextd the shell of Claude Code and OpenCode in this project, without asking' },
    { syntax: '--no-shell', help: 'leave the clients their own shell' },
    {
      syntax: '--client <names>',
      help: `set up these clients too (${OTHER_CLIENTS.join(', ')}; default: those that left something here or in your home)`,
    },
    { syntax: '--no-client', help: 'set up no client but Claude Code and OpenCode' },
    { syntax: '--no-exclude', help: 'let git see what init creates, to commit it: nothing in .git/info/exclude' },
    { syntax: '--no-toolchains', help: 'do not offer the programs outside /usr' },
    { syntax: '--no-network', help: 'do not offer the hosts that the lock files and remotes name' },
  ],
  async run(context, args) {
    const root = await resolveProjectRoot(context.cwd, args.word(0) ?? '.', context.env.home, context.paths);
    if (args.flag('uninstall')) return uninstall(context, root);
    const answer = args.flag('yes') ? 'yes' : 'ask';
    const place = await offerRepository(context, root, answer, await Answers.read(context, root));
    const answers = await Answers.read(context, place);
    // Commander stores `--no-x` as x: false. `--no-network` wins over `--yes`.
    const toolchains = args.isOff('toolchains') ? 'no' : answer;
    const network = args.isOff('network') ? 'no' : answer;
    const isShell = args.isOff('shell')
      ? false
      : args.flag('shell') || (await offerShell(context, place, answer, answers));
    if (args.isOff('shell')) await answers.decline(SHELL_QUESTION.about);
    const clients = await chooseClients(context, place, args);
    return install(context, place, {
      clients,
      repository: answer,
      toolchains,
      network,
      isShell,
      isSeenByGit: args.isOff('exclude'),
      answers,
    });
  },
  exitCode: ({ passed_over: passed = [] }) => (passed.length === 0 ? 0 : 1),
  view: (result) => (result.action === 'init' ? viewInit(result) : viewUninstall(result)),
});

/** Checks every change first. If one is impossible, neither the project nor the daemon is changed. */
async function install(
  context: CliContext,
  root: string,
  answers: {
    readonly clients: readonly OtherClient[];
    readonly repository: Answer;
    readonly toolchains: Answer;
    readonly network: Answer;
    readonly isShell: boolean;
    readonly isSeenByGit: boolean;
    readonly answers: Answers;
  },
): Promise<InitResult> {
  await checkProxyRuns(context);
  await ensureRunning(context);
  return withClient(context.paths, async (client) => {
    const { tools } = await client.listTools({ root, offered: true });
    const change = await prepareTools(context, root, tools, answers);
    const registered = await client.registerProject({ root });
    const changes = await change.apply();
    const names = tools.map((tool) => tool.name);
    const { answers: remembered } = answers;
    const above = await offerReading(context, client, root, answers.repository, remembered);
    const toolchains = await offerToolchains(context, client, root, answers.toolchains, remembered);
    const mirrors = await offerMirrors(context, client, root, answers.network, remembered);
    const network = await offerNetwork(context, client, root, answers.network, remembered);
    const isAllowed = (offer: ToolchainOffer | MirrorOffer): boolean => offer.state === 'allowed';
    const isNewlyAllowed = isAllowed(toolchains) && toolchains.added.length > 0;
    const isNetworkChanged = network.state === 'allowed' || (isAllowed(mirrors) && mirrors.lines.length > 0);
    const changed = registered.changed || touched(changes) || isNewlyAllowed || isNetworkChanged;
    const hint = above === null ? {} : { repository_above: above };
    const { isShell: shell } = answers;
    const clients = answers.clients.filter((name) => isSetUp(CLIENT_PLACES[name].title, changes));
    return {
      ...{ root, action: 'init', changed, tools: names, ...changes, toolchains, mirrors, network, shell, clients },
      declined: remembered.lines,
      ...hint,
    };
  });
}

/** Links to a program that refuses every call would be of no use. Throws INTEGRITY_FAILED. */
async function checkProxyRuns(context: CliContext): Promise<void> {
  const found = await inspectProxy(context);
  if (found.fault === null) return;
  throw new ContextdError('INTEGRITY_FAILED', `the program of the tools cannot be used: ${found.fault}`, {
    remedy: `${found.remedy.replace(/\.$/, '')}. Then run this again. Nothing was changed.`,
  });
}

/** Removes the files first, so that this works even if the daemon no longer starts. */
async function uninstall(context: CliContext, root: string): Promise<InitResult> {
  const change = await prepareUninstall(root, context.paths.projectsDir);
  const changes = (await change?.apply()) ?? { created: [], updated: [], removed: [], kept: [] };
  await Answers.forget(context, root);
  await ensureRunning(context);
  const { changed, toolchains } = await withClient(context.paths, async (client) => ({
    ...(await client.unregisterProject({ root })),
    ...(await client.listToolchains({})),
  }));
  const { removed } = changes;
  return {
    ...{ root, action: 'uninstall', changed: changed || touched(changes), tools: [], ...changes },
    tracked: removed.length > 0 && isTracked(OwnedDirectory.at(root), removed) === true,
    recorded_in: context.paths.stateDir,
    toolchains_left: toolchains.map(({ name }) => name),
  };
}

const SHELL_CLIENTS = ['Claude Code', 'OpenCode'] as const;

function isSetUp(title: string, { passed_over: passed = [] }: Pick<ProjectChanges, 'passed_over'>): boolean {
  return passed.every(({ client }) => client !== title);
}

function shellLines(result: InitResult): string[] {
  const clients = SHELL_CLIENTS.filter((title) => isSetUp(title, result)).join(' and ');
  if (result.shell !== true || clients === '') return [];
  return [
    `contextd is the shell of ${clients} in this project: every command runs in the sandbox. Proof: ctxd doctor --clients. Undo: ctxd init --no-shell`,
  ];
}

function lastLine(result: InitResult): string {
  const undo = 'Undo: ctxd init --uninstall';
  if (!isSetUp('Claude Code', result)) return undo;
  return `Claude Code applies the permission in .claude/settings.json once you trust the folder. ${undo}`;
}

/** Those that a person names, or else those that show themselves. What the project has stays. */
async function chooseClients(context: CliContext, root: string, args: ParsedArgs): Promise<OtherClient[]> {
  if (args.isOff('client')) return [];
  const named = args.text('client');
  const chosen = named === undefined ? findOtherClients(root, context.env) : readClientNames(named);
  const before = await clientsOf(context, root);
  return OTHER_CLIENTS.filter((name) => chosen.includes(name) || before.includes(name));
}

const SHELL_QUESTION = {
  about: ['shell'],
  line: 'Claude Code and OpenCode keep their own shell, as you chose. To make contextd their shell: ctxd init --shell',
};

/** What the project has stays. Otherwise a person decides. */
async function offerShell(context: CliContext, root: string, answer: Answer, answers: Answers): Promise<boolean> {
  if (answer === 'yes' || (await hasShell(context, root))) return true;
  const question =
    'Make contextd the shell of Claude Code and OpenCode in this project? Your allow, ask and deny rules keep working.';
  return answers.ask(context, SHELL_QUESTION, () => isWanted(context, [], question, 'yes'));
}

function clientLines({ clients = [] }: InitResult): string[] {
  return clients.map((name) => `${CLIENT_PLACES[name].title} is set up: ${CLIENT_PLACES[name].nextStep}`);
}

function touched({ created, updated, removed }: ProjectChanges): boolean {
  return created.length + updated.length + removed.length > 0;
}

function viewInit(result: InitResult): View {
  if (!result.changed) {
    const first = `${result.root} is set up already: nothing changed`;
    const offers = [
      ...repositoryLines(result),
      ...toolchainLines(result),
      ...offerLines(result),
      ...(result.declined ?? []),
    ];
    return { kind: 'lines', lines: [first, ...keptLines(result), ...passedLines(result), ...offers] };
  }
  return {
    kind: 'lines',
    lines: [
      `${result.root} is set up: agents that work there find ${result.tools.length} tools of contextd`,
      ...changeLines(result),
      ...passedLines(result),
      ...excludeLines(result),
      ...repositoryLines(result),
      ...toolchainLines(result),
      ...offerLines(result),
      ...(result.declined ?? []),
      ...shellLines(result),
      ...clientLines(result),
      `Agents call the tools by name. Try one yourself: ${tryCall(result)}`,
      lastLine(result),
    ],
  };
}

/** A person who declined has seen the list or does not want it. */
function toolchainLines({ toolchains }: InitResult): string[] {
  if (toolchains === undefined || toolchains.added.length === 0 || toolchains.state === 'declined') return [];
  if (toolchains.state === 'allowed')
    return ['Commands can run these programs outside /usr:', ...describeToolchains(toolchains.added)];
  // The question has listed the programs already, even without a terminal to answer it.
  return ['Commands cannot run the programs outside /usr. To allow them: ctxd allow toolchains'];
}

/** The programs are on the PATH of agents only. */
function tryCall({ tools }: InitResult): string {
  return tools.includes('safe_bash') ? `.claude/bin/safe_bash 'git status'` : 'ls .claude/bin';
}

function offerLines({ mirrors, network }: InitResult): string[] {
  return [
    ...(mirrors === undefined ? [] : mirrorLines(mirrors)),
    ...(network === undefined ? [] : networkLines(network)),
  ];
}

function viewUninstall(result: InitResult): View {
  const first = result.changed ? 'is no longer a project of contextd' : 'has nothing that ctxd init created';
  const deleted = 'Some of these files are committed. `git status` lists them as deleted: commit the deletion.';
  const recorded = `What contextd recorded of its work here stays (memories, sessions, the audit log): ${result.recorded_in}`;
  const after = result.removed.length > 0 ? [...(result.tracked === true ? [deleted] : []), recorded] : [];
  const left = (result.toolchains_left ?? []).join(', ');
  const stays =
    left === '' ? [] : [`Commands of every project can still run ${left}. To take one back: ctxd allow remove NAME`];
  return { kind: 'lines', lines: [`${result.root} ${first}`, ...changeLines(result), ...after, ...stays] };
}

function repositoryLines({ root, repository_above: above }: InitResult): string[] {
  if (above === undefined) return [];
  const { top, state, why } = above;
  if (state === 'allowed')
    return [`Commands can read ${top} and commit in its repository. Undo: ctxd allow remove ${top} ${root}`];
  if (why !== undefined) return [`git does not work in ${root}: ${why}`];
  return [`git does not work in ${root}, a part of ${top}. To work with git: ctxd allow path ${top} ${root}`];
}

function excludeLines({ created, updated }: InitResult): string[] {
  const isExcluded = created.length > 0 && [...created, ...updated].includes(EXCLUDE_FILE);
  return isExcluded ? [`git leaves these files out (${EXCLUDE_FILE}). To commit them: ctxd init --no-exclude`] : [];
}

function changeLines(result: InitResult): string[] {
  return [...describeChanges(result), ...keptLines(result)];
}

function passedLines({ root, passed_over: passed = [] }: InitResult): string[] {
  return passed.map(
    ({ client, path, why }) =>
      `${client} is not set up: ${join(root, path)} cannot be read (${why}). Correct the file, then run: ctxd init`,
  );
}

function keptLines(result: InitResult): string[] {
  const hint = result.action === 'init' ? '; to restore it, delete it and run ctxd init' : '';
  return result.kept.map((path) => `  kept     ${path} (changed since ctxd init created it${hint})`);
}
