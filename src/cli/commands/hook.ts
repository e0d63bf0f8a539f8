import { type Command, defineCommand } from '../command.ts';
import { answerHook, type HookResult } from '../hooks/answer-hook.ts';
import type { HookName } from '../hooks/hook-input.ts';

const hookSessionStart = hookCommand(
  'session-start',
  'Print what an agent that starts, or whose conversation was compacted, needs to know.',
);
const hookStop = hookCommand('stop', 'Record what was asked and answered. Claude Code calls it after each turn.');
const hookPostTool = hookCommand(
  'post-tool',
  'Record a to-do list or a file that the client wrote with a tool of its own.',
);
const hookPreCompact = hookCommand(
  'pre-compact',
  'Record the last messages and save a checkpoint before a conversation is compacted.',
);

export const hookCommands = [hookSessionStart, hookPreCompact, hookStop, hookPostTool];

function hookCommand(name: HookName, summary: string): Command {
  return defineCommand<HookResult>({
    name: ['hook', name],
    summary,
    parameters: [{ syntax: '[path]', help: 'the project directory (default: the one in the input of the hook)' }],
    run: (context, args) => answerHook(name, context, args.word(0)),
    view: ({ text }) => ({ kind: 'raw', text }),
  });
}
