import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError } from '../core/errors.ts';
import type { Identity } from './identity.ts';

/** The bundle, or a copy of it for an owner who may not read it. Throws PATH_NOT_FOUND. */
export async function readableBundle(
  sandboxDir: string,
  identity: Identity,
  bundleDir: string,
): Promise<{ dir: string; remove: () => Promise<void> }> {
  if (!statSync(bundleDir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ContextdError('PATH_NOT_FOUND', `the tool's bundle ${bundleDir} is not there`, {
      remedy: 'Install the tool again.',
    });
  }
  if (identity.kind !== 'owner') return { dir: bundleDir, remove: async () => {} };
  const dir = await copyForOwner(bundleDir, sandboxDir);
  return { dir, remove: () => removeCopies(sandboxDir, dir) };
}

/**
 * Bundles are kept with mode 0700 and 0600, which a workspace's owner may not read even when they are mounted. A root
 * daemon gives such a sandbox a copy of its own that everybody may read and nobody but root may write. Links are left
 * out: root would follow them.
 */
async function copyForOwner(bundleDir: string, sandboxDir: string): Promise<string> {
  const copy = join(sandboxDir, BUNDLES, randomBytes(8).toString('hex'));
  await copyTree(bundleDir, copy);
  return copy;
}

/** Removes one copy, or without a name all that an earlier daemon left. */
export async function removeCopies(sandboxDir: string, copy = join(sandboxDir, BUNDLES)): Promise<void> {
  await rm(copy, { recursive: true, force: true });
}

const BUNDLES = 'bundles';

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyTree(join(from, entry.name), target);
    if (!entry.isFile()) continue;
    await copyFile(join(from, entry.name), target);
    const { mode } = await stat(join(from, entry.name));
    await chmod(target, (mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
