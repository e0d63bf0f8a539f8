import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HealthCheck } from '../../call/management.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';

/** Tries how a branch with files of its own would keep them; "" is any project. */
export async function checkBranchFiles(
  projectRoot: string,
  { sandbox }: { readonly sandbox: Pick<Sandbox, 'layerAbility'> },
): Promise<Omit<HealthCheck, 'name'>> {
  if (projectRoot !== '') return findingOf(await sandbox.layerAbility(projectRoot));
  const workspace = await mkdtemp(join(tmpdir(), 'contextd-health-'));
  try {
    return findingOf(await sandbox.layerAbility(workspace));
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

function findingOf({ why }: Awaited<ReturnType<Sandbox['layerAbility']>>): Omit<HealthCheck, 'name'> {
  if (why === null) return { status: 'ok', detail: 'a branch with files of its own is an overlay', remedy: '' };
  return {
    status: 'warn',
    detail: `a branch with files of its own is a copy, of at most 20,000 files: ${why}`,
    remedy: 'An overlay takes Linux 5.11 and a data directory on a local file system such as ext4, xfs or btrfs.',
  };
}
