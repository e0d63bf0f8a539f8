import type { RunningItem__Output as RunningItem } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { projectOption } from '../project-root.ts';

const MIB = 1024 * 1024;

/** Lists what runs now, in all projects. Commands are scrubbed. */
const ps = defineCommand<{ items: RunningItem[] }>({
  name: ['ps'],
  summary: 'List the jobs and calls that are running.',
  options: [{ syntax: '--project [dir]', help: 'only those of a project (default: the current project)' }],
  async run(context, args) {
    const project_root = await projectOption(context, args);
    return withClient(context.paths, (client) => client.listRunning({ project_root }));
  },
  view: ({ items }) => ({
    kind: 'table',
    columns: ['ID', 'KIND', 'TOOL', 'SINCE', 'CPU S', 'MIB', 'SESSION', 'PROJECT', 'COMMAND'],
    rows: items.map(rowOf),
    numbers: [4, 5],
    empty: 'nothing is running',
  }),
});

/** Ends a job or a call, with everything it started. */
const kill = defineCommand<{ items: RunningItem[] }>({
  name: ['kill'],
  summary: 'End a running job or call.',
  parameters: [{ syntax: '<id>', help: 'its id from `ctxd ps`, or at least four characters of its beginning or end' }],
  async run(context, args) {
    return withClient(context.paths, (client) => client.killRunning({ id: args.requiredWord(0) }));
  },
  view: ({ items }) => ({
    kind: 'lines',
    lines: items.map(({ id, kind, command }) => `Ended ${kind} ${id}: ${command}`),
  }),
});

export const psCommands = [ps, kill];

function rowOf({ id, kind, tool, job, started_ms, cpu_ms, memory_bytes, session, project, command }: RunningItem) {
  return [
    id,
    kind === 'job' ? `job ${job}` : kind,
    tool,
    new Date(started_ms).toISOString(),
    cpu_ms === undefined ? '' : (cpu_ms / 1000).toFixed(1),
    memory_bytes === undefined ? '' : String(Math.round(memory_bytes / MIB)),
    session,
    project,
    command,
  ];
}
