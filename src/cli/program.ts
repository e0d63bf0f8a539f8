import { Command as Commander, CommanderError } from 'commander';
import { ContextdError, isErrno } from '../core/errors.ts';
import { type Command, ParsedArgs } from './command.ts';
import { allowCommands } from './commands/allow.ts';
import { approve } from './commands/approve.ts';
import { approveRuleCommands } from './commands/approve-rules.ts';
import { auditCommands } from './commands/audit.ts';
import { auditTail } from './commands/audit-tail.ts';
import { backupCommands } from './commands/backup.ts';
import { branchCommands } from './commands/branch.ts';
import { cacheCommands } from './commands/cache.ts';
import { checkpointCommands } from './commands/checkpoint.ts';
import { completion } from './commands/completion.ts';
import { configCommands } from './commands/config.ts';
import { doctor } from './commands/doctor.ts';
import { hookCommands } from './commands/hook.ts';
import { httpCommands } from './commands/http.ts';
import { init } from './commands/init.ts';
import { mcpInspect } from './commands/mcp-inspect.ts';
import { mcpServe } from './commands/mcp-serve.ts';
import { mcpStats } from './commands/mcp-stats.ts';
import { memoryCommands } from './commands/memory.ts';
import { memoryImport } from './commands/memory-import.ts';
import { memoryLearn } from './commands/memory-learn.ts';
import { memoryReport } from './commands/memory-report.ts';
import { memorySearch } from './commands/memory-search.ts';
import { memorySyncCommands } from './commands/memory-sync.ts';
import { networkCommands } from './commands/network.ts';
import { networkCredentialCommands } from './commands/network-credential.ts';
import { networkLog } from './commands/network-log.ts';
import { networkMirrors } from './commands/network-mirrors.ts';
import { port } from './commands/port.ts';
import { psCommands } from './commands/ps.ts';
import { quarantineCommands } from './commands/quarantine.ts';
import { routeBrowse } from './commands/route-browse.ts';
import { routeExplain } from './commands/route-explain.ts';
import { routePrintTree } from './commands/route-print-tree.ts';
import { routeSearch } from './commands/route-search.ts';
import { scrubCommands } from './commands/scrub.ts';
import { scrubAllowCommands } from './commands/scrub-allow.ts';
import { serverCommands } from './commands/server.ts';
import { serverInstallCommands } from './commands/server-install.ts';
import { sessionEnd } from './commands/session-end.ts';
import { sessionLogCommands } from './commands/session-log.ts';
import { sessionSecrets } from './commands/session-secrets.ts';
import { stats } from './commands/stats.ts';
import { toolCommands } from './commands/tool.ts';
import { toolInstallCommands } from './commands/tool-install.ts';
import { toolNew } from './commands/tool-new.ts';
import { toolRemoveCommands } from './commands/tool-remove.ts';
import { toolTest } from './commands/tool-test.ts';
import { toolVerify } from './commands/tool-verify.ts';
import { undo } from './commands/undo.ts';
import { upstreamAdd, upstreamApprove, upstreamList, upstreamRemove, upstreamRestart } from './commands/upstream.ts';
import { upstreamImport } from './commands/upstream-import.ts';
import type { CliContext } from './context.ts';
import { INTERRUPTED } from './input.ts';
import { exitCodeFor, jsonOfError, renderError, renderView, write } from './render.ts';

/** Runs one command line and returns the exit code: 0 ok, 1 failed, 2 usage, 69 no daemon, 130 ended by the person. */
export async function runCli(words: readonly string[], context: CliContext): Promise<number> {
  try {
    return await parseAndRun(words, context);
  } catch (thrown) {
    if (thrown instanceof CommanderError) return finishUsage(thrown, words, context);
    if (isErrno(thrown, 'EPIPE')) return 0;
    const error = context.signal.aborted ? interrupted(thrown) : toError(thrown);
    return fail(error, words, context);
  }
}

/** A person reads one line. A program that passed `--json` gets its JSON value too. */
async function fail(error: ContextdError, words: readonly string[], context: CliContext): Promise<number> {
  await write(context.stderr, renderError(error));
  if (words.includes('--json')) await write(context.stdout, jsonOfError(error));
  return exitCodeFor(error);
}

async function parseAndRun(words: readonly string[], context: CliContext): Promise<number> {
  let exitCode = 0;
  const program = createProgram(context, async (command, args) => {
    exitCode = await runCommand(command, args, context);
  });
  // Without a command, a person wants to know what there is.
  await program.parseAsync(words.length === 0 ? ['--help'] : [...words], { from: 'user' });
  return exitCode;
}

async function runCommand(command: Command, args: ParsedArgs, context: CliContext): Promise<number> {
  const { json, view, exitCode } = await command.execute(context, args);
  const terminal = context.stdout.isTTY === true;
  const { columns } = context.stdout;
  const style = { terminal, colour: terminal && !context.env.noColor, ...(columns === undefined ? {} : { columns }) };
  const bare = json === '' ? '' : `${json}\n`;
  await write(context.stdout, args.flag('json') ? bare : renderView(view, style));
  return exitCode;
}

type Handler = (command: Command, args: ParsedArgs) => Promise<void>;

function createProgram(context: CliContext, handle: Handler): Commander {
  const program = configure(new Commander('ctxd'), context)
    .description('Manages contextd, the tool layer for coding agents.')
    .version(context.version, '-V, --version', 'print the version');
  for (const command of COMMANDS) addCommand(program, command, context, handle);
  return program;
}

function addCommand(program: Commander, command: Command, context: CliContext, handle: Handler): void {
  const groups = command.name.slice(0, -1);
  let parent = program;
  for (const depth of groups.keys()) parent = groupOf(parent, groups.slice(0, depth + 1), context);
  const made = configure(parent.command(command.name.at(-1) ?? ''), context).description(command.summary);
  for (const { syntax, help } of command.parameters) made.argument(syntax, help);
  for (const { syntax, help } of command.options) made.option(syntax, help);
  made.option('--json', 'print the bare data as one JSON value');
  made.action(() => handle(command, new ParsedArgs(made.args, made.opts())));
}

function groupOf(parent: Commander, path: readonly string[], context: CliContext): Commander {
  const name = path.at(-1) ?? '';
  const present = parent.commands.find((one) => one.name() === name);
  return present ?? configure(parent.command(name), context).description(GROUPS[path.join(' ')] ?? '');
}

export const GROUPS: Readonly<Record<string, string>> = {
  allow: 'Choose what commands may use outside the project: directories and toolchains.',
  'approve rule': 'Decide which calls wait for a person.',
  checkpoint: 'Save, list, show and move what sessions have done.',
  hook: "Take what a client's hook passes on standard input. Clients call it; `ctxd init` sets that up.",
  http: 'The HTTP API for programs on this machine: open it, and say who may use it.',
  mcp: 'Serve clients of the Model Context Protocol.',
  network: 'Decide which hosts commands may reach, and see what they reached.',
  'network credential': 'Bind secrets to hosts: the proxy adds them to requests, and sandboxes never have them.',
  route: 'Search the tools of a project or of a catalogue, and see how agents find them.',
  server: 'Start, stop and watch the daemon.',
  tool: 'List and call the tools of agents, and write your own.',
  config: 'Read and change the settings of this machine.',
  audit: 'Read the log of all calls.',
  backup: 'Move the state to another machine, without its keys.',
  session: 'Inspect or end a session of an agent.',
  branch: 'See the side tasks of agents.',
  memory: 'Search, add, rate and share lessons of earlier work.',
  'memory sync': 'Share memories with other machines through a Qdrant server.',
  cache: 'List or empty the caches that commands keep for each project.',
  upstream: 'Run MCP servers of others, each in a sandbox of its own.',
  quarantine: 'Review files that were set aside because a program on the host would run them.',
};

/** Help goes to standard output. Commander's error messages are replaced by our one line. */
function configure(command: Commander, context: CliContext): Commander {
  return (
    command
      .exitOverride()
      // An option after the name of a subcommand belongs to the subcommand, even if the parent has the same option.
      .enablePositionalOptions()
      .allowExcessArguments(false)
      .configureOutput({ writeOut: (text) => context.stdout.write(text), writeErr: () => {}, outputError: () => {} })
  );
}

async function finishUsage(error: CommanderError, words: readonly string[], context: CliContext): Promise<number> {
  if (error.exitCode === 0) return 0;
  const what = error.code === 'commander.help' ? 'a subcommand is missing' : error.message.replace(/^error: /, '');
  const choices = error.code === 'commander.help' ? subcommandsOf(words) : [];
  const remedy = choices.length > 0 ? `Add one of ${choices.join(', ')}.` : usageOf(words);
  return fail(new ContextdError('ARGS_INVALID', what, { remedy }), words, context);
}

/** How the command is typed that the words begin with. */
function usageOf(words: readonly string[]): string {
  const command = COMMANDS.find(({ name }) => name.every((word, i) => words[i] === word));
  if (command === undefined) return '`ctxd --help` lists the commands.';
  const typed = ['ctxd', ...command.name].join(' ');
  const parameters = command.parameters.map(({ syntax }) => ` ${syntax}`).join('');
  return `Usage: ${typed}${parameters}. What it takes: \`${typed} --help\`.`;
}

function subcommandsOf(words: readonly string[]): string[] {
  const inGroup = COMMANDS.filter(({ name }) => words.every((word, i) => name[i] === word));
  return [...new Set(inGroup.flatMap(({ name }) => name[words.length] ?? []))];
}

function interrupted(cause: unknown): ContextdError {
  return new ContextdError('CANCELLED', 'interrupted', { details: INTERRUPTED, cause });
}

/** Unexpected errors become one line too. */
function toError(thrown: unknown): ContextdError {
  if (thrown instanceof ContextdError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  if (isErrno(thrown)) {
    return new ContextdError('INTERNAL_ERROR', `the system refused: ${reason}`, {
      remedy: 'Fix this and run the command again.',
    });
  }
  return new ContextdError('INTERNAL_ERROR', `ctxd failed: ${reason}`, { remedy: 'This is a bug in contextd.' });
}

/** Every command, in the order of the help. A file with several commands lists them itself. */
export const COMMANDS: readonly Command[] = [
  init,
  ...serverCommands,
  ...serverInstallCommands,
  ...toolCommands,
  ...toolInstallCommands,
  ...toolRemoveCommands,
  toolNew,
  toolTest,
  toolVerify,
  doctor,
  ...configCommands,
  port,
  ...httpCommands,
  mcpServe,
  mcpInspect,
  mcpStats,
  auditTail,
  ...auditCommands,
  ...backupCommands,
  ...sessionLogCommands,
  sessionSecrets,
  sessionEnd,
  ...branchCommands,
  ...checkpointCommands,
  ...hookCommands,
  ...cacheCommands,
  ...psCommands,
  stats,
  routeSearch,
  routeBrowse,
  routeExplain,
  routePrintTree,
  ...scrubCommands,
  ...scrubAllowCommands,
  ...quarantineCommands,
  ...allowCommands,
  approve,
  ...approveRuleCommands,
  memorySearch,
  ...memoryCommands,
  memoryReport,
  memoryLearn,
  memoryImport,
  ...memorySyncCommands,
  ...networkCommands,
  networkLog,
  networkMirrors,
  ...networkCredentialCommands,
  undo,
  upstreamAdd,
  upstreamImport,
  upstreamList,
  upstreamRemove,
  upstreamRestart,
  upstreamApprove,
  completion(() => ({ commands: COMMANDS, groups: GROUPS })),
];
