/**
 * Names that make a program on the host run something or trust something (design §5). At the workspace's root they are
 * always protected; below it the same names are (`guard.ts` says how far).
 */
export const PROTECTED_NAMES = [
  '.claude',
  '.mcp.json',
  '.opencode',
  'opencode.json',
  'opencode.jsonc',
  '.agents',
  '.husky',
  '.vscode',
  '.idea',
  '.envrc',
  'contextd.lock',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.logout',
  '.inputrc',
] as const;

/**
 * What can be wrong with a protected path, which decides how it is judged. `name`: one of PROTECTED_NAMES; `pointer`: a
 * `.git` that is no directory; `info`: one that is a link, behind which nothing could be mounted; the others lie in a
 * git directory.
 */
export type DangerKind = 'name' | 'pointer' | 'hooks' | 'config' | 'commondir' | 'info' | 'attributes';

/** In a git directory. `commondir` and `config.worktree` would lead git on the host to another configuration. */
export const GIT_DANGERS: ReadonlyMap<string, DangerKind> = new Map([
  ['hooks', 'hooks'],
  ['config', 'config'],
  ['config.worktree', 'config'],
  ['commondir', 'commondir'],
  ['info', 'info'],
  ['info/attributes', 'attributes'],
]);

const NAMES: ReadonlySet<string> = new Set(PROTECTED_NAMES);

export function isProtectedName(name: string): boolean {
  return NAMES.has(name);
}
