import { defineCommand } from '../command.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { stopDaemon } from '../daemon/stop.ts';

export const serverRestart = defineCommand({
  name: ['server', 'restart'],
  summary: 'stop the daemon, if one is running, and start it',
  async run(context) {
    const { pid: previous } = await stopDaemon(context);
    const { status } = await ensureRunning(context);
    return { previous_pid: previous ?? null, ...status };
  },
  view: ({ pid, previous_pid: previous, socket }) => ({
    kind: 'lines',
    lines: [`contextd started (pid ${pid}${previous === null ? '' : `, before ${previous}`}) at ${socket}`],
  }),
});
