import { defineCommand } from '../command.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { describeCalls, stopDaemon } from '../daemon/stop.ts';

export const serverRestart = defineCommand({
  name: ['server', 'restart'],
  summary: 'stop the daemon, if one is running, and start it',
  async run(context) {
    const { pid: previous, activeCalls, endedCalls } = await stopDaemon(context, true);
    const { status } = await ensureRunning(context);
    return {
      previous_pid: previous ?? null,
      previous_active_calls: activeCalls,
      previous_ended_calls: endedCalls ?? null,
      ...status,
    };
  },
  view: ({ pid, previous_pid: previous, previous_active_calls, previous_ended_calls, socket }) => ({
    kind: 'lines',
    lines: [
      ...(previous === null ? [] : [stoppedLine(previous, previous_active_calls, previous_ended_calls)]),
      `contextd started (pid ${pid}) at ${socket}`,
    ],
  }),
});

function stoppedLine(pid: number, activeCalls: number, endedCalls: number | null): string {
  return `contextd (pid ${pid}) has stopped${describeCalls({ activeCalls, endedCalls: endedCalls ?? undefined })}`;
}
