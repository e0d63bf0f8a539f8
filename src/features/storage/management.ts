import type { HealthCheck } from '../../call/management.ts';
import { ContextdError } from '../../core/errors.ts';
import type { CachesResponse__Output as CachesResponse } from '../../protocol/generated/management.ts';
import type { Management } from '../../protocol/management-contract.ts';
import type { ProjectCaches, Sandbox } from '../../sandbox/contract/sandbox.ts';

type StorageOf = Pick<Sandbox, 'storage'>;

/** What a person may see and do with the caches that commands keep. */
export function createCacheManagement({
  sandbox,
}: {
  sandbox: StorageOf;
}): Pick<Management, 'listCaches' | 'clearCaches'> {
  return {
    async listCaches({ project_root }) {
      const all = await sandbox.storage({ do: 'list' });
      return responseOf(all.filter(({ project }) => project_root === '' || project === project_root));
    },
    async clearCaches({ project_root }) {
      const project = project_root === '' ? null : project_root;
      const cleared = await sandbox.storage({ do: 'clear', project });
      if (project === null || cleared.length > 0) return responseOf(cleared);
      throw new ContextdError('NOT_FOUND', `${project} has no caches`, { remedy: 'See `ctxd cache list`.' });
    },
  };
}

function responseOf(caches: readonly ProjectCaches[]): CachesResponse {
  return {
    caches: caches.map(({ project, bytes, maxBytes, usedMs }) => ({
      project,
      bytes,
      max_bytes: maxBytes,
      used_ms: usedMs,
    })),
  };
}

const MIB = 1024 * 1024;

/** Warns of caches over their limit: they are dropped after the next command, so something is built again and again. */
export async function checkCaches({ sandbox }: { sandbox: StorageOf }): Promise<Omit<HealthCheck, 'name'>> {
  const all = await sandbox.storage({ do: 'list' });
  const over = all.filter(({ bytes, maxBytes }) => bytes > maxBytes);
  const total = mebibytes(all.reduce((sum, { bytes }) => sum + bytes, 0));
  if (over.length === 0) return { status: 'ok', detail: `${total} in ${all.length} projects`, remedy: '' };
  const named = over.map(({ project, bytes, maxBytes }) => `${project} ${mebibytes(bytes)} of ${mebibytes(maxBytes)}`);
  return {
    status: 'warn',
    detail: `over the limit: ${named.join(', ')}`,
    remedy: 'They are trimmed within ten minutes. Raise sandbox.cache_max_mb, or empty them: ctxd cache clear.',
  };
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}
