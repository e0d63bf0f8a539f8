import { defineCommand } from '../command.ts';
import { stopDaemon } from '../daemon/stop.ts';

export const serverStop = defineCommand({
  name: ['server', 'stop'],
  summary: 'stop the daemon once its calls are answered, and wait until it is gone',
  async run(context) {
    const { pid, activeCalls, asked } = await stopDaemon(context);
    return { stopped: pid !== undefined, pid: pid ?? null, active_calls: activeCalls, terminated: !asked };
  },
  view({ pid, active_calls: activeCalls, terminated }) {
    if (pid === null) return { kind: 'lines', lines: ['no daemon is running'] };
    const drained = activeCalls === 0 ? '' : `; ${activeCalls} calls were in flight`;
    return {
      kind: 'lines',
      lines: [`contextd (pid ${pid}) has stopped${terminated ? ' after SIGTERM' : ''}${drained}`],
    };
  },
});
