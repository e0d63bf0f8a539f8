import { closeSync, opendirSync } from 'node:fs';
import { posix } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { findUnsafeKey } from './git-config.ts';
import { followPointer, isGitDir, isOwnCommonDir } from './git-dir.ts';
import { fdPath, openDirectory, readSmallFile } from './inode.ts';
import type { DangerKind } from './protected-names.ts';
import { isWithin, parentOf, type RawPath } from './raw-path.ts';

/** Bytes of a configuration that is read; git writes a few hundred. */
const CONFIG_MAX_BYTES = 64 * 1024;
/** Entries of a hooks directory that are looked at; git's template has fourteen. */
const HOOKS_MAX = 500;

/**
 * Whether what a run made under a protected path may stay: `git init`, `clone`, `worktree add` and `submodule` are honest
 * work, so inside a git directory the content decides. A file must be regular and have one name only: through another
 * name it could be changed after it was read. Settings of agents, editors and shells never stay, nor attributes.
 * `roots`: the writable trees, outside of which nothing may lead.
 */
export function mayStay(kind: DangerKind, path: RawPath, roots: readonly RawPath[]): boolean {
  try {
    return judge(kind, path, (target) => roots.some((root) => isWithin(root, target)));
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

function judge(kind: DangerKind, path: RawPath, isInside: (target: RawPath) => boolean): boolean {
  switch (kind) {
    case 'name':
    case 'info':
    case 'attributes':
      return false;
    case 'hooks':
      return hasOnlySamples(path);
    case 'commondir':
      return isOwnCommonDir(path);
    case 'pointer': {
      const gitDir = followPointer(path);
      return gitDir !== null && isInside(gitDir) && isGitDir(gitDir);
    }
    case 'config': {
      const text = readSmallFile(path, CONFIG_MAX_BYTES);
      const isHere = (value: string) => isInside(posix.resolve(parentOf(path), value));
      return text !== null && findUnsafeKey(text, isHere) === null;
    }
  }
}

/** git never runs `*.sample`. */
function hasOnlySamples(path: RawPath): boolean {
  const fd = openDirectory(path);
  if (fd === null) return false;
  try {
    const dir = opendirSync(fdPath(fd), { encoding: 'latin1' });
    try {
      for (let count = 0; count < HOOKS_MAX; count++) {
        const entry = dir.readSync();
        if (entry === null) return true;
        if (!entry.name.endsWith('.sample')) return false;
      }
      return false;
    } finally {
      dir.closeSync();
    }
  } finally {
    closeSync(fd);
  }
}
