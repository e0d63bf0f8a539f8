/** Settings, hooks and servers that coding agents load from the directory they start in. */
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
  ...['.augment', '.junie', '.trae', '.amp', '.amazonq', '.aider.conf.yml', 'contextd.lock'],
] as const;

/** Tasks, debuggers and containers that editors start, and scripts that they run. */
const EDITORS = [
  ...['.vscode', '.idea', '.zed', '.fleet', '.nova', '.devcontainer', '.devcontainer.json', '.exrc', '.nvimrc'],
  ...['.nvim.lua', '.vimrc', '.dir-locals.el', '.dir-locals-2.el', '.helix', '.lazygit.yml'],
] as const;

/** Files that shells, debuggers and interpreters run when they start or when a person enters the directory. */
const SHELLS = [
  ...['.envrc', '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.zshrc', '.zshenv'],
  ...['.zprofile', '.zlogin', '.zlogout', '.kshrc', '.cshrc', '.tcshrc', '.login', '.logout', '.inputrc'],
  ...['.mise.toml', 'mise.toml', '.mise', '.mise.local.toml', 'mise.local.toml', '.rtx.toml', '.rtx', '.iex.exs'],
  ...['.ocamlinit', '.octaverc', '.irbrc', '.pryrc', '.rprofile', '.gdbinit', '.lldbinit', '.ghci', '.pdbrc'],
] as const;

/** Hooks and settings of other version control systems. */
const VERSIONS = ['.hg', '.jj', '.sl', '.bzr', '.pijul', '_darcs'] as const;

/** Hooks of git, and settings that package managers read before any command. */
const TOOLS = ['.husky', '.npmrc', '.yarnrc', '.yarnrc.yml', 'bunfig.toml'] as const;

/**
 * Names that make a program on the host run or trust something just because they exist (design §5), in lower case.
 * Protected at any depth; at the workspace's root even before they exist.
 */
export const PROTECTED_NAMES: readonly string[] = [...AGENTS, ...EDITORS, ...SHELLS, ...VERSIONS, ...TOOLS];

/**
 * Families of such names, in lower case; `*` stands for any part of a name. mise reads a file for each environment. A name
 * of a family is mounted read-only only if it exists, and is searched for after every call.
 */
export const PROTECTED_FAMILIES = ['mise.*.toml', '.mise.*.toml', '.rtx.*.toml'] as const;

/** Names that programs run only in a directory of another name: settings of mise, and scripts that nix-direnv sources. */
const IN_DIRECTORIES: readonly (readonly [directory: string, name: RegExp])[] = [
  ['.config', /^mise(?:\..*)?$/],
  ['mise', /^(?:conf\.d|config(?:\..*)?\.toml)$/],
  ['.direnv', /\.rc$/],
];

/**
 * The kinds of dangerous paths; each is judged in its own way.
 * - `name`: one of PROTECTED_NAMES.
 * - `pointer`: a `.git` that is not a directory.
 * - `target`: a file that the person's own git configuration or hooks run or read.
 * - `stray`: a file of any name that would run programs if git read it as a configuration.
 *
 * The others are in a git directory:
 * - `hooks`, `config`, `commondir`, `attributes`: the files and directories of these names.
 * - `directory`: a directory of git's; dangerous only as a link, because nothing behind a link can be mounted or searched.
 * - `link`: any other link, through which git on the host would write.
 * - `gitdir`: the place where git writes the pointer of a worktree.
 * - `remotes`: remote addresses in git's oldest format.
 * - `state`: what a stopped rebase, cherry-pick or am continues with.
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
  | 'paths'
  | 'target'
  | 'stray';

/** Dangerous paths in a git directory. `commondir` and `config.worktree` lead git to another configuration. */
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
  ['MERGE_RR', 'paths'],
  ['index', 'paths'],
  ['lazygit.yml', 'name'],
]);

/** The shared part of a split index has its hash in its name. */
export function isSharedIndex(name: string): boolean {
  return name.startsWith('sharedindex.');
}

/** The GIT_DANGERS that a sandbox mounts read-only. A rebase inside the sandbox must write the others. */
export const MOUNTED_GIT_DANGERS = [
  'hooks',
  'config',
  'config.worktree',
  'commondir',
  'info',
  'info/attributes',
] as const;

const NAMES: ReadonlySet<string> = new Set(PROTECTED_NAMES);

const FAMILIES = PROTECTED_FAMILIES.map(
  (family) => new RegExp(`^${family.replaceAll('.', '\\.').replaceAll('*', '.*')}$`),
);

/** Ignores case, because some file systems do. */
function isProtectedName(dir: string, name: string): boolean {
  const lower = name.toLowerCase();
  if (NAMES.has(lower) || FAMILIES.some((family) => family.test(lower))) return true;
  const directory = dir.slice(dir.lastIndexOf('/') + 1).toLowerCase();
  return IN_DIRECTORIES.some(([parent, names]) => parent === directory && names.test(lower));
}

const IN_PACKAGES: ReadonlySet<string> = new Set([...AGENTS, ...VERSIONS]);

/**
 * Whether a name is protected in a directory; `dir` is relative to the tree. Packages in `node_modules` ship settings of
 * editors, shells and package managers. Programs read these only where a person starts them, and a person who starts
 * something there runs the package's code anyway. What agents look for in every directory is protected there too.
 */
export function isProtectedIn(dir: string, name: string): boolean {
  if (!isProtectedName(dir, name)) return false;
  return IN_PACKAGES.has(name.toLowerCase()) || !`/${dir}/`.includes('/node_modules/');
}

/**
 * Whether the copy of a link, at `path` in the tree at `top`, leads to the place of the original (an absolute text), or to
 * something protected in its own tree. A `..` counts only at the start: behind a name that is a link it leads anywhere.
 */
export function leadsToProtected(path: string, text: string, top: string): boolean {
  if (text.startsWith('/')) return true;
  const [, ups = '', rest = ''] = /^((?:\.\.\/)*)(.*)$/s.exec(text) ?? [];
  const names = rest.split('/').filter((name) => name !== '.' && name !== '');
  const dir = path
    .slice(top.length + 1)
    .split('/')
    .slice(0, -1);
  const depth = dir.length - ups.length / 3;
  if (depth < 0 || names.includes('..')) return false;
  const all = [...dir.slice(0, depth), ...names];
  return all.some((name, i) => isProtectedIn(all.slice(0, i).join('/'), name));
}

const REASONS: Readonly<Record<DangerKind, string>> = {
  name: 'a program on the host would run or trust it',
  pointer: 'git on the host would use the repository it leads to',
  hooks: 'git on the host would run what is in it',
  config: 'git on the host would run what it names, or be led elsewhere',
  commondir: 'git on the host would take its settings from elsewhere',
  directory: 'git on the host would follow this link',
  link: 'git on the host would write through this link',
  attributes: 'git on the host would run filters it names',
  gitdir: 'git on the host would write a pointer outside of the project',
  remotes: 'git on the host would run the helpers that these addresses name',
  state: 'git on the host would run what it names when the rebase or am goes on',
  paths: 'git on the host would read or write files that it names, also outside of the project',
  target: 'your git configuration or hooks run or read it',
  stray: 'as a git configuration it would run a program or lead elsewhere',
};

/** The reason for a path that took the place of a protected link. */
export const REPLACED_LINK = 'a command replaced a protected link with it';

/** Why a path was set aside, as a clause for people: `.envrc was set aside: a program on the host would run it`. */
export function reasonFor(kind: DangerKind): string {
  return REASONS[kind];
}
