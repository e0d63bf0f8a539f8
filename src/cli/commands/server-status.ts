import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';

export const serverStatus = defineCommand({
  name: ['server', 'status'],
  summary: 'show the running daemon',
  run: (context) => withClient(context.paths, (client) => client.status()),
  view: (status) => ({
    kind: 'pairs',
    pairs: [
      ['pid', String(status.pid)],
      ['version', status.version],
      ['uptime', `${Math.floor(status.uptime_ms / 1000)} s`],
      ['socket', status.socket],
      ['calls', `${status.calls} answered, ${status.active_calls} in flight`],
      ['projects', String(status.projects)],
      ['memory', `${Math.round(status.resident_bytes / 1024 / 1024)} MiB`],
      ['isolation', status.isolation],
    ],
  }),
});
