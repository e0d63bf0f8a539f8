import type { MemorySync__Output as MemorySync } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { type Command, defineCommand } from '../command.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { findProjectRoot } from '../project-root.ts';
import type { View } from '../render.ts';

const memorySyncStatus = syncCommand('status', 'Show whether memories are shared, and what waits to be sent.');
const memorySyncNow = syncCommand('now', 'Send and read at once what the Qdrant server and this machine lack.');
const memorySyncRebuild = syncCommand(
  'rebuild',
  'Send all memories again and read all of others again, such as after a restored backup.',
);

export const memorySyncCommands = [memorySyncStatus, memorySyncNow, memorySyncRebuild];

function syncCommand(action: string, summary: string): Command {
  return defineCommand<MemorySync>({
    name: ['memory', 'sync', action],
    summary,
    async run(context) {
      const root = (await findProjectRoot(context.cwd)) ?? '';
      await ensureRunning(context);
      return withClient(context.paths, (client) => client.syncMemories({ root, action }));
    },
    view: viewOf,
    exitCode: ({ state }) => (state === 'failing' ? 1 : 0),
  });
}

function viewOf(sync: MemorySync): View {
  if (sync.state === 'off')
    return { kind: 'lines', lines: ['off: memories stay on this machine; set memory.qdrant.url to share them'] };
  const pairs: [string, string][] = [
    ['state', sync.state],
    ['server', `${sync.url}, collection ${sync.collection}`],
    ['project', sync.project_id === '' ? 'not shared: it has no id in memory.qdrant.project_ids' : sync.project_id],
    ['waiting', `${sync.pending} changes to send`],
    ['of others', `${sync.foreign} memories`],
    ['left out', sync.refused === 0 ? '' : `${sync.refused} that could not be read or masked`],
    ['last round', sync.synced_ms === 0 ? 'none since the daemon started' : new Date(sync.synced_ms).toISOString()],
    ['failed', sync.fault],
    ['next attempt', sync.fault === '' ? '' : `in ${Math.ceil(sync.retry_ms / 1_000)} s`],
  ];
  return { kind: 'pairs', pairs: pairs.filter(([, value]) => value !== '') };
}
