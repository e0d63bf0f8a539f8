import { withClient } from '../client.ts';
import { type Command, defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { type HookName, readHookInput } from '../hooks/hook-input.ts';
import { readInput } from '../input.ts';
import { findProjectRoot, projectAt } from '../project-root.ts';

/** Bytes of what a client passes to a hook. The answer of an editing tool holds whole files. */
const INPUT_MAX_BYTES = 64 * 1024 * 1024;

export const hookSessionStart = hookCommand(
  'session-start',
  'Print what a conversation that was compacted needs to know.',
);
export const hookStop = hookCommand(
  'stop',
  'Record what was asked and answered. Claude Code calls it after each turn.',
);
export const hookPostTool = hookCommand(
  'post-tool',
  'Record a to-do list or a file that the client wrote with a tool of its own.',
);
export const hookPreCompact = hookCommand(
  'pre-compact',
  'Record the last messages and save a checkpoint before a conversation is compacted.',
);

interface Answered {
  /** What the client shows its model. */
  text: string;
  recorded: number;
}

/** Without a daemon a hook does nothing and starts nothing. It never fails: a client may stop the work of its agent then. */
function hookCommand(name: HookName, summary: string): Command {
  return defineCommand<Answered>({
    name: ['hook', name],
    summary,
    parameters: [{ syntax: '[path]', help: 'the project directory (default: the one in the input of the hook)' }],
    run: (context, args) => answer(name, context, args.word(0)).catch(() => NOTHING),
    view: ({ text }) => ({ kind: 'lines', lines: text === '' ? [] : text.split('\n') }),
  });
}

const NOTHING: Answered = { text: '', recorded: 0 };

async function answer(name: HookName, context: CliContext, path: string | undefined): Promise<Answered> {
  const given = path === undefined ? undefined : await projectAt(context, path);
  const text = context.stdin.isTTY === true ? '' : (await readInput('-', context, INPUT_MAX_BYTES)).toString();
  const input = await readHookInput(name, text, context.cwd, given);
  const root = given ?? (await findProjectRoot(input.cwd));
  if (root === undefined) return NOTHING;
  const session = context.env.sessionId ?? input.session ?? '';
  const { cause, items } = input;
  return withClient(context.paths, (client) =>
    client.takeHook({ root, session, hook: name, cause, items: [...items] }),
  );
}
