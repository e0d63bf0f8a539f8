import { Command as Commander, CommanderError } from 'commander';
import { ContextdError, isErrno } from '../core/errors.ts';
import { type Command, ParsedArgs } from './command.ts';
import { GROUPS, loadCommands } from './commands.ts';
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
  const program = createProgram(context);
  if (!asksForVersion(words)) {
    for (const command of await loadCommands(words[0])) {
      addCommand(program, command, context, async (args) => {
        exitCode = await runCommand(command, args, context);
      });
    }
  }
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

type Handler = (args: ParsedArgs) => Promise<void>;

const VERSION_FLAGS = ['-V', '--version'];

function createProgram(context: CliContext): Commander {
  return configure(new Commander('ctxd'), context)
    .description('Manages contextd, the tool layer for coding agents.')
    .version(context.version, VERSION_FLAGS.join(', '), 'print the version');
}

/** Commander prints it when it comes to the option, so no command is needed. */
function asksForVersion([first]: readonly string[]): boolean {
  return first !== undefined && VERSION_FLAGS.includes(first);
}

function addCommand(program: Commander, command: Command, context: CliContext, handle: Handler): void {
  const groups = command.name.slice(0, -1);
  let parent = program;
  for (const depth of groups.keys()) parent = groupOf(parent, groups.slice(0, depth + 1), context);
  const made = configure(parent.command(command.name.at(-1) ?? ''), context).description(command.summary);
  for (const { syntax, help } of command.parameters) made.argument(syntax, help);
  for (const { syntax, help } of command.options) made.option(syntax, help);
  made.option('--json', 'print the bare data as one JSON value');
  made.action(() => handle(new ParsedArgs(made.args, made.opts())));
}

function groupOf(parent: Commander, path: readonly string[], context: CliContext): Commander {
  const name = path.at(-1) ?? '';
  const present = parent.commands.find((one) => one.name() === name);
  return present ?? configure(parent.command(name), context).description(GROUPS[path.join(' ')] ?? '');
}

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
  const commands = await loadCommands(words[0]);
  const choices = error.code === 'commander.help' ? subcommandsOf(commands, words) : [];
  const remedy = choices.length > 0 ? `Add one of ${choices.join(', ')}.` : usageOf(commands, words);
  return fail(new ContextdError('ARGS_INVALID', what, { remedy }), words, context);
}

/** How the command is typed that the words begin with. */
function usageOf(commands: readonly Command[], words: readonly string[]): string {
  const command = commands.find(({ name }) => name.every((word, i) => words[i] === word));
  if (command === undefined) return '`ctxd --help` lists the commands.';
  const typed = ['ctxd', ...command.name].join(' ');
  const parameters = command.parameters.map(({ syntax }) => ` ${syntax}`).join('');
  return `Usage: ${typed}${parameters}. What it takes: \`${typed} --help\`.`;
}

function subcommandsOf(commands: readonly Command[], words: readonly string[]): string[] {
  const inGroup = commands.filter(({ name }) => words.every((word, i) => name[i] === word));
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
