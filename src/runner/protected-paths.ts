import { MOUNTED_GIT_DANGERS, PROTECTED_NAMES } from '../sandbox/workspace/protected-names.ts';

/**
 * What a tool process may not write, at any depth: the names that the mounts and the search after a run
 * go by. A name that does not exist yet cannot be mounted over, so a tool that writes files refuses it by name; what else
 * it makes is judged after the call.
 */
export const PROTECTED_PATHS: readonly string[] = [
  ...PROTECTED_NAMES,
  ...MOUNTED_GIT_DANGERS.filter((name) => name !== 'info').map((name) => `.git/${name}`),
  '.git/modules',
  '.git/worktrees',
];
