import type { SandboxStatus__Output } from '../../protocol/generated/contextd/v1/SandboxStatus.ts';
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
      ['memory', mebibytes(status.resident_bytes)],
      ['isolation', status.isolation],
      ...sandboxPairs(status.sandbox),
    ],
  }),
});

function sandboxPairs(sandbox: SandboxStatus__Output | null): [string, string][] {
  if (sandbox === null) return [];
  const ready = sandbox.ready.map(({ project, count }) => `${count} for ${project}`).join(', ') || 'none';
  const { totals } = sandbox;
  return [
    ['spawner', `pid ${sandbox.spawner_pid}, ${mebibytes(sandbox.spawner_resident_bytes)}`],
    ['sandboxes', `${sandbox.running} running, ${sandbox.processes} tool processes`],
    ['ready', `${ready} (at most ${sandbox.ready_max}); ${sandbox.ready_used} commands served`],
    ...(totals === null
      ? []
      : ([
          ['sandbox memory', `${mebibytes(totals.memory_bytes)} of ${mebibytes(totals.memory_max_bytes)}`],
          ['sandbox pids', `${totals.pids} of ${totals.pids_max}`],
        ] satisfies [string, string][])),
  ];
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
