import { expect, test } from 'vitest';
import { storageChore, storageHolder } from '#src/features/storage/storage-life.js';
import type { StorageAction } from '#src/sandbox/contract/sandbox.js';

const DAY_MS = 86_400_000;

function recordingSandbox() {
  const actions: StorageAction[] = [];
  return {
    actions,
    async storage(action: StorageAction) {
      actions.push(action);
      return [];
    },
  };
}

test('a session that ends takes its HOME and /tmp with it', async () => {
  const sandbox = recordingSandbox();
  await storageHolder(sandbox).endSession({ project: '/p', session: 'a', branch: null });
  expect(sandbox.actions).toEqual([{ do: 'end_session', project: '/p', session: 'a' }]);
});

test('the sweep keeps live sessions, what MCP servers keep, those of the last hour, and caches of the configured age', async () => {
  const sandbox = recordingSandbox();
  const clock = { now: () => 100 * DAY_MS, monotonic: () => 0 };
  const liveSessions = { list: () => [{ project: '/p', session: 'a', branch: null }] };
  const config = { cache_max_age_days: 30 };
  const upstreams = { homes: () => [{ project: '/p', session: 'server' }] };
  await storageChore({ sandbox, liveSessions, upstreams, clock, config }).run();
  expect(sandbox.actions).toEqual([
    {
      do: 'sweep',
      live: [
        { project: '/p', session: 'a' },
        { project: '/p', session: 'server' },
      ],
      sessionsBeforeMs: 100 * DAY_MS - 3_600_000,
      cachesBeforeMs: 70 * DAY_MS,
    },
  ]);
});
