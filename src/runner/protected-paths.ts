import { PROTECTED_NAMES } from '../sandbox/workspace/protected-names.ts';

/**
 * What a tool process is told that it may not write, relative to the workspace. The mounts enforce it for what exists;
 * a name that does not exist yet cannot be mounted over, so a tool that writes files refuses it by name.
 */
export const PROTECTED_PATHS: readonly string[] = [
  ...PROTECTED_NAMES,
  '.git/hooks',
  '.git/config',
  '.git/config.worktree',
  '.git/commondir',
  '.git/info/attributes',
  '.git/modules',
  '.git/worktrees',
];
