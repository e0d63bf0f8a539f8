import { defineCommand } from '../command.ts';
import { ensureRunning } from '../daemon/launch.ts';

export const serverStart = defineCommand({
  name: ['server', 'start'],
  summary: 'start the daemon, if none is running, and wait until it answers',
  async run(context) {
    const { status, started } = await ensureRunning(context);
    return { started, ...status };
  },
  view: ({ started, pid, socket }) => ({
    kind: 'lines',
    lines: [`contextd ${started ? 'started' : 'is already running'} (pid ${pid}) at ${socket}`],
  }),
});
