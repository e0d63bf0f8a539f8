import { expect, test } from 'vitest';
import { checkCaches, createCacheManagement } from '#src/features/storage/management.js';
import type { ProjectCaches, StorageAction } from '#src/sandbox/contract/sandbox.js';

const MIB = 1024 * 1024;

function sandboxWith(caches: readonly ProjectCaches[]) {
  const actions: StorageAction[] = [];
  return {
    actions,
    async storage(action: StorageAction) {
      actions.push(action);
      return caches.filter(
        ({ project }) => action.do !== 'clear' || action.project === null || action.project === project,
      );
    },
  };
}

const cachesOf = (project: string, mib: number): ProjectCaches => ({
  project,
  bytes: mib * MIB,
  maxBytes: 100 * MIB,
  usedMs: 5,
});

test('the doctor names the projects whose caches are over their limit, and what to do', async () => {
  const fine = await checkCaches({ sandbox: sandboxWith([cachesOf('/a', 10), cachesOf('/b', 20)]) });
  expect(fine).toEqual({ status: 'ok', detail: '30 MiB in 2 projects', remedy: '' });
  const over = await checkCaches({ sandbox: sandboxWith([cachesOf('/a', 130), cachesOf('/b', 20)]) });
  expect(over).toMatchObject({ status: 'warn', detail: 'over the limit: /a 130 MiB of 100 MiB' });
  expect(over.remedy).toContain('sandbox.cache_max_mb');
});

test('clears one project or all, and refuses a project without caches', async () => {
  const sandbox = sandboxWith([cachesOf('/a', 1)]);
  const { clearCaches, listCaches } = createCacheManagement({ sandbox });
  const expected = { caches: [{ project: '/a', bytes: MIB, max_bytes: 100 * MIB, used_ms: 5 }] };
  expect(await clearCaches({ project_root: '/a' })).toEqual(expected);
  expect(await clearCaches({ project_root: '' })).toEqual(expected);
  await expect(clearCaches({ project_root: '/b' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(sandbox.actions.map((action) => 'project' in action && action.project)).toEqual(['/a', null, '/b']);
  expect(await listCaches({ project_root: '/b' })).toEqual({ caches: [] });
});
