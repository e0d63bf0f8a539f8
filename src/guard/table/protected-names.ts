import { type RawPath, toText } from '../../fs/raw-path.ts';
import type { ContentRule } from '../content/rule.ts';
import { classify, NAMES, type Named } from './names.ts';

/** Names that are set aside whatever they hold. */
const SET_ASIDE = NAMES.filter(({ action, content }) => action === 'set aside' && content === null).flatMap(
  ({ names }) => names,
);

/**
 * Names that make a program on the host run or trust something just because they exist (docs/names.md), in lower case.
 * Protected at any depth; at the workspace's root even before they exist. `src/guard/table/names.ts` has them and others, with
 * their sources.
 */
export const PROTECTED_NAMES: readonly string[] = SET_ASIDE.filter((name) => !/[*/]/.test(name));

/** Families of such names; `*` stands for any part of a name. mise reads a file for each environment. */
export const PROTECTED_FAMILIES: readonly string[] = SET_ASIDE.filter((name) => name.includes('*'));

/** Names that programs read only in a directory of another name, as paths: `.github/hooks`. */
export const PROTECTED_PLACES: readonly string[] = SET_ASIDE.filter((name) => /^[^*]*\/[^*]*$/.test(name));

/**
 * The kinds of dangerous paths; each is judged in its own way.
 * - `name`: a name that programs run or trust, whatever it holds (`src/guard/table/names.ts`).
 * - `checked`: a file of a name whose content decides.
 * - `pointer`: a `.git` that is not a directory.
 * - `target`: a file that the person's own git configuration or hooks run or read.
 * - `stray`: a file of any name that would run programs if git read it as a configuration.
 * - `exit`: a link through which a program on the host would leave the project.
 * - `special`: a pipe, socket or device where git opens a file: it would wait for the other end. It holds nothing and is removed.
 *
 * The others are in a git directory:
 * - `hooks`, `config`, `commondir`, `attributes`: the files and directories of these names.
 * - `directory`: a directory of git's; dangerous only as a link, because nothing behind a link can be mounted or searched.
 * - `link`: any other link, through which git on the host would write.
 * - `gitdir`: the place where git writes the pointer of a worktree.
 * - `remotes`: remote addresses in git's oldest format.
 * - `alternates`: other directories of objects.
 * - `lock`: what keeps other gits from writing. It is removed if its git is dead.
 * - `state`: what a stopped rebase, cherry-pick or am continues with.
 */
export type DangerKind =
  | 'name'
  | 'checked'
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
  | 'alternates'
  | 'special'
  | 'lock'
  | 'target'
  | 'stray'
  | 'exit';

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
  ['objects/info/alternates', 'alternates'],
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

/** Names that git opens in a worktree without being asked: `.gitignore`, `.gitattributes`, `.gitmodules`, `.mailmap`. */
export function isReadByGit(name: string): boolean {
  return name.startsWith('.git') || name === '.mailmap';
}

/** Names of locks in a git directory. No reference can end with `.lock`. */
export function isLockName(name: string): boolean {
  return name.endsWith('.lock') || name === 'gc.pid';
}

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

/** Whether a name is protected in a directory, whatever it holds; `dir` is relative to the tree. */
export function isProtectedIn(dir: RawPath, name: RawPath): boolean {
  return dangerOfName(dir, name) === 'name';
}

/** `checked`: the content of a file of this name decides. Null for every other name; `dir` is relative to the tree. */
export function dangerOfName(dir: RawPath, name: RawPath): 'name' | 'checked' | null {
  return dangerAs(meaningOf(dir, name));
}

export function dangerAs(named: Named | null): 'name' | 'checked' | null {
  if (named?.action !== 'set aside') return null;
  return named.content === null ? 'name' : 'checked';
}

/** A name whose paths stay where they are and are reported. */
export interface ReportedName {
  readonly action: 'settings' | 'instructions';
  /** A clause that goes on after "was reported:". */
  readonly reason: string;
  /** A file whose content passes this rule is not reported. */
  readonly content: ContentRule | null;
}

/** What a name means; `dir` is relative to the tree. */
export function meaningOf(dir: RawPath, name: RawPath): Named | null {
  return classify(toText(dir), toText(name));
}

/** What a name is reported as; null if it is not. */
export function reportedAs(named: Named | null): ReportedName | null {
  if (named === null || named.action === 'set aside') return null;
  const { action, row, content } = named;
  if (row === null) return { action, reason: 'programs may take settings from it', content };
  return { action, reason: action === 'instructions' ? 'agents obey it' : `it is read by ${row.program}`, content };
}

/** The rule that a file of a `checked` name must pass; null for every other name. */
export function contentRuleIn(dir: RawPath, name: RawPath): ContentRule | null {
  const named = meaningOf(dir, name);
  return named?.action === 'set aside' ? named.content : null;
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
  checked: 'a program on the host would run what it names, or be led elsewhere',
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
  alternates: 'git on the host would read objects outside of the project',
  special: 'git on the host would wait for it',
  lock: 'a command left this lock, and git on the host would not work while it is there',
  target: 'your git configuration or hooks run or read it',
  stray: 'as a git configuration it would run a program or lead elsewhere',
  exit: 'it leads to directories that commands write and that are not searched',
};

/** The reason for a configuration that is harmless except that git connects (see `connectsUnasked`). */
export const CONNECTS = 'git on the host would connect to other hosts without being asked, for example in git status';

/** The reason for a path that took the place of a protected link. */
export const REPLACED_LINK = 'a command replaced a protected link with it';

/** Why a path was set aside, as a clause for people: `.envrc was set aside: a program on the host would run it`. */
export function reasonFor(kind: DangerKind): string {
  return REASONS[kind];
}
