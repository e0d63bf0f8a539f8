import type { PendingLesson__Output as PendingLesson } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { projectAt } from '../project-root.ts';
import type { View } from '../render.ts';

/** Makes memories of what was tried, what failed and what repaired it. */
export const memoryLearn = defineCommand<readonly PendingLesson[]>({
  name: ['memory', 'learn'],
  summary: 'Make memories of recorded calls: what failed, and what made it succeed. At most three.',
  parameters: [{ syntax: '[calls...]', help: 'ids of calls, as `ctxd audit tail` shows them (default: a session)' }],
  options: [
    { syntax: '--session <id>', help: 'the newest 500 calls of this session (default: of the newest call)' },
    { syntax: '--task <text>', help: 'what the work was for' },
    { syntax: '--outcome <outcome>', help: 'success, failure or mixed (default: as the calls ended)' },
    { syntax: '--project <dir>', help: 'the project directory (default: the current project)' },
  ],
  async run(context, args) {
    const request = {
      root: await projectAt(context, args.text('project')),
      request_ids: args.words(),
      session: args.text('session') ?? '',
      task: args.text('task') ?? '',
      outcome: args.text('outcome') ?? '',
    };
    await ensureRunning(context);
    return withClient(context.paths, async (client) => (await client.learnFromCalls(request)).lessons);
  },
  view: (lessons) => ({
    kind: 'lines',
    lines:
      lessons.length === 0
        ? ['done: `ctxd memory list` shows what was learned']
        : lessons.map(({ calls }) => `${calls} calls wait to be looked at: see \`ctxd memory list --pending\``),
  }),
});

export function lessonsTable(lessons: readonly PendingLesson[]): View {
  return {
    kind: 'table',
    columns: ['ID', 'STATE', 'CALLS', 'ASKED', 'TASK', 'FAILED'],
    rows: lessons.map(({ id, state, calls, asked_ms, task, fault }) => [
      id,
      state,
      String(calls),
      new Date(asked_ms).toISOString(),
      task,
      fault,
    ]),
    numbers: [2],
    empty: 'nothing waits',
  };
}
