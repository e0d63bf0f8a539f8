import { defineCommand } from '../command.ts';
import { describeCalls, stopDaemon } from '../daemon/stop.ts';

export const serverStop = defineCommand({
  name: ['server', 'stop'],
  summary: 'stop the daemon once its calls are answered, and wait until it is gone',
  async run(context) {
    const { pid, activeCalls, endedCalls, asked } = await stopDaemon(context, false);
    return {
      stopped: pid !== undefined,
      pid: pid ?? null,
      active_calls: activeCalls,
      ended_calls: endedCalls ?? null,
      terminated: !asked,
    };
  },
  view({ pid, active_calls: activeCalls, ended_calls: endedCalls, terminated }) {
    if (pid === null) return { kind: 'lines', lines: ['no daemon is running'] };
    const calls = describeCalls({ activeCalls, endedCalls: endedCalls ?? undefined });
    return {
      kind: 'lines',
      lines: [`contextd (pid ${pid}) has stopped${terminated ? ' after SIGTERM' : ''}${calls}`],
    };
  },
});
