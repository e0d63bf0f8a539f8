import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Paths } from '../../config/paths.ts';
import { publicDirFor, STORAGE_POINT, SYSTEM_PATH } from './reach.ts';

/**
 * Where the storage is reached. The owner of a project cannot enter a root daemon's own directories, so root binds the
 * storage to a public place in the spawner's mount namespace, which nobody else is in. What belongs to other owners
 * stays closed by its mode.
 */
export async function openStorageRoot({
  storageDir,
  sandboxDir,
}: Pick<Paths, 'storageDir' | 'sandboxDir'>): Promise<string> {
  mkdirSync(storageDir, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return storageDir;
  chmodSync(storageDir, 0o711);
  if (!hasOwnMounts()) return storageDir;
  const target = join(publicDirFor(sandboxDir), STORAGE_POINT);
  mkdirSync(target, { recursive: true, mode: 0o755 });
  await promisify(execFile)('mount', ['--bind', storageDir, target], { env: SYSTEM_PATH });
  return target;
}

/** True if this process is in another mount namespace than its parent, the daemon. */
function hasOwnMounts(): boolean {
  return readlinkSync('/proc/self/ns/mnt') !== readlinkSync(`/proc/${process.ppid}/ns/mnt`);
}
