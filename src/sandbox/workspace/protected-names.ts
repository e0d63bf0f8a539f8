/** Settings, hooks and servers that coding agents load from the folder they are started in. */
const AGENTS = [
  ...[
    '.claude',
    '.mcp.json',
    '.opencode',
    'opencode.json',
    'opencode.jsonc',
    '.agents',
    '.cursor',
    '.codex',
    '.gemini',
  ],
  ...['.windsurf', '.kiro', '.roo', '.kilocode', '.continue', '.qwen', '.crush.json', 'crush.json', '.factory'],
  ...['.augment', '.junie', '.trae', '.amp', 'contextd.lock'],
] as const;

/** Tasks, debuggers and containers that editors start, and scripts that they read. */
const EDITORS = [
  ...['.vscode', '.idea', '.zed', '.fleet', '.nova', '.devcontainer', '.devcontainer.json', '.exrc', '.nvimrc'],
  ...['.nvim.lua', '.vimrc', '.dir-locals.el', '.dir-locals-2.el'],
] as const;

/** What shells, debuggers and interpreters run when they start, or when somebody enters the folder. */
const SHELLS = [
  ...['.envrc', '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.zshrc', '.zshenv'],
  ...['.zprofile', '.zlogin', '.zlogout', '.kshrc', '.cshrc', '.tcshrc', '.login', '.logout', '.inputrc'],
  ...['.mise.toml', 'mise.toml', '.mise', '.irbrc', '.pryrc', '.rprofile', '.gdbinit', '.lldbinit', '.ghci', '.pdbrc'],
] as const;

/** Hooks and settings of other version controls, and what package managers run before any command. */
const TOOLS = [
  ...['.husky', '.hg', '.jj', '.sl', '.bzr', '.pijul', '_darcs', '.npmrc', '.yarnrc', '.yarnrc.yml', 'bunfig.toml'],
] as const;

/**
 * Names that make a program on the host run something or trust something just because they are there (design §5), in
 * lower case. Protected at any depth; at the workspace's root even before they exist.
 */
export const PROTECTED_NAMES: readonly string[] = [...AGENTS, ...EDITORS, ...SHELLS, ...TOOLS];

/**
 * What can be wrong with a protected path, which decides how it is judged. `name`: one of PROTECTED_NAMES; `pointer`: a
 * `.git` that is no directory; `directory`: one of git's that is a link, behind which nothing could be mounted or looked
 * at; `link`: any other link in a git directory, through which git on the host would write; `gitdir`: where git writes the
 * pointer of a worktree; `remotes`: addresses in the form of long ago; `state`: what a rebase or its
 * like goes on with; these and the others lie in a git directory. `target`: what the
 * person's own git configuration or hooks run or read; `stray`: a file that would be a git configuration that runs
 * programs, under any name.
 */
export type DangerKind =
  | 'name'
  | 'pointer'
  | 'hooks'
  | 'config'
  | 'commondir'
  | 'directory'
  | 'link'
  | 'attributes'
  | 'gitdir'
  | 'remotes'
  | 'state'
  | 'target'
  | 'stray';

/** In a git directory. `commondir` and `config.worktree` would lead git on the host to another configuration. */
export const GIT_DANGERS: ReadonlyMap<string, DangerKind> = new Map([
  ['hooks', 'hooks'],
  ['config', 'config'],
  ['config.worktree', 'config'],
  ['commondir', 'commondir'],
  ['info', 'directory'],
  ['rebase-merge', 'directory'],
  ['rebase-apply', 'directory'],
  ['sequencer', 'directory'],
  ['info/attributes', 'attributes'],
  ['gitdir', 'gitdir'],
  ['remotes', 'remotes'],
  ['branches', 'remotes'],
  ['rebase-merge/git-rebase-todo', 'state'],
  ['rebase-merge/strategy', 'state'],
  ['rebase-merge/author-script', 'state'],
  ['rebase-apply/strategy', 'state'],
  ['rebase-apply/author-script', 'state'],
  ['rebase-apply/apply-opt', 'state'],
  ['sequencer/todo', 'state'],
  ['sequencer/opts', 'state'],
  ['BISECT_NAMES', 'state'],
]);

/** Those that a sandbox mounts read-only. A rebase that goes on inside must write the others. */
export const MOUNTED_GIT_DANGERS = [
  'hooks',
  'config',
  'config.worktree',
  'commondir',
  'info',
  'info/attributes',
] as const;

const NAMES: ReadonlySet<string> = new Set(PROTECTED_NAMES);

/** In either case: some file systems do not tell them apart. */
export function isProtectedName(name: string): boolean {
  return NAMES.has(name) || NAMES.has(name.toLowerCase());
}
