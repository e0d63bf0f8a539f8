import { type GitEntry, parseGitConfig } from './git-config.ts';

/** The pattern of a value; null if any text is harmless. */
type Rule = RegExp | null;

const WORD = /^[\w.+-]*$/;
const BOOLEAN = /^(true|false|yes|no|on|off|0|1)?$/i;
/** Excludes options, and `<helper>::…` and `<helper>://…`, which run `git-remote-<helper>` (`ext::` runs anything). */
const URL = /^(?!-)(?![\w.+-]*::)(?:(?:https?|ssh|git|git\+ssh|ssh\+git|file|ftps?):|(?![\w.+-]*:\/\/))[^\0\n]+$/i;
/**
 * An alias of a command that runs no program which its arguments name, with options that take no value. Any other alias can
 * run something: `rebase --exec …`, `grep --open-files-in-pager=…`, `!…`.
 */
const ALIAS =
  /^(status|log|diff|show|commit|checkout|switch|branch|add|restore|stash|reset|shortlog|reflog|tag)( (-[A-Za-z]{1,4}|--[a-z][a-z-]*|HEAD|HEAD[~^]\d?|--))*$/;
/** git's own merge strategies. Any other name `x` runs a program `git-merge-x`. */
export const STRATEGY = /^(ort|recursive|resolve|octopus|ours|subtree)?$/;

/**
 * The harmless keys that `git init`, `clone`, `worktree`, `submodule`, `branch`, `sparse-checkout` and everyday `git config`
 * write. It lists what is allowed, because every release of git may add a key that runs a program. Deliberately missing:
 * keys that name a program or its arguments (core.fsmonitor unless a boolean,
 * core.hooksPath, sshCommand, pager, editor, askPass, gitProxy, alternateRefsCommand, most of alias.*, pager.*, credential.*,
 * gpg.*, diff/merge/filter drivers, difftool, mergetool, sequence.editor, sendemail, trailer, browser, man, uploadpack,
 * receivepack, remote.*.uploadpack and vcs, submodule.*.update with `!`, gc.recentObjectsHook), that read another file
 * (include, includeIf, core.attributesFile, core.excludesFile, commit.template), that disable a protection (protocol.*,
 * safe.*, core.protectNTFS, http.sslVerify), and that lead elsewhere (url.*.insteadOf, http.proxy).
 * `*` stands for any subsection.
 */
const HARMLESS: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...all(WORD, 'core', [
    ...['repositoryformatversion', 'filemode', 'bare', 'logallrefupdates', 'ignorecase', 'precomposeunicode'],
    ...['symlinks', 'autocrlf', 'eol', 'safecrlf', 'quotepath', 'abbrev', 'compression', 'untrackedcache'],
    ...['splitindex', 'preloadindex', 'sparsecheckout', 'sparsecheckoutcone', 'bigfilethreshold', 'commitgraph'],
  ]),
  ['core.fsmonitor', /^(true|false)$/i],
  ...all(WORD, 'core', ['sharedrepository', 'longpaths']),
  ['core.commentchar', null],
  ['core.whitespace', null],
  ...all(WORD, 'extensions', [
    ...['objectformat', 'compatobjectformat', 'refstorage', 'worktreeconfig', 'partialclone', 'noop'],
    ...['preciousobjects', 'relativeworktrees'],
  ]),
  ...all(URL, 'remote.*', ['url', 'pushurl']),
  ...all(null, 'remote.*', ['fetch', 'push', 'tagopt', 'prune', 'prunetags', 'mirror', 'skipdefaultupdate']),
  ...all(null, 'remote.*', ['skipfetchall', 'promisor', 'partialclonefilter', 'followremotehead']),
  ['remote.pushdefault', URL],
  ...all(URL, 'branch.*', ['remote', 'pushremote']),
  ...all(null, 'branch.*', ['merge', 'rebase', 'description', 'gh-merge-base', 'vscode-merge-base']),
  ...all(WORD, 'receive', ['denynonfastforwards', 'denydeletes', 'fsckobjects']),
  ['remote.*.gh-resolved', null],
  ['http.postbuffer', WORD],
  ['gui.encoding', WORD],
  ['blame.ignorerevsfile', null],
  ...all(WORD, 'branch', ['autosetupmerge', 'autosetuprebase', 'sort']),
  ['submodule.*.url', URL],
  ['submodule.*.update', /^(checkout|rebase|merge|none)$/],
  ...all(null, 'submodule.*', ['active', 'path', 'branch', 'ignore', 'shallow', 'fetchrecursesubmodules']),
  ...all(null, 'submodule', ['active', 'recurse', 'fetchjobs', 'propagatebranches', 'alternatelocation']),
  ...all(null, 'user', ['name', 'email', 'useconfigonly', 'signingkey']),
  ...all(WORD, 'pull', ['rebase', 'ff']),
  ...all(STRATEGY, 'pull', ['twohead', 'octopus']),
  ...all(WORD, 'push', ['default', 'autosetupremote', 'followtags', 'recursesubmodules']),
  ...all(WORD, 'fetch', ['prune', 'prunetags', 'parallel', 'fsckobjects', 'recursesubmodules', 'writecommitgraph']),
  ...all(WORD, 'rebase', ['autosquash', 'autostash', 'updaterefs', 'backend']),
  ...all(WORD, 'merge', ['conflictstyle', 'ff', 'renames', 'log', 'stat']),
  ...all(WORD, 'diff', ['algorithm', 'renames', 'colormoved', 'context', 'mnemonicprefix', 'submodule']),
  ...all(WORD, 'rerere', ['enabled', 'autoupdate']),
  ...all(WORD, 'gc', ['auto', 'autopacklimit', 'autodetach', 'pruneexpire', 'reflogexpire', 'writecommitgraph']),
  ...all(WORD, 'maintenance', ['auto', 'strategy', 'autodetach']),
  ...all(BOOLEAN, 'commit', ['gpgsign', 'verbose', 'status']),
  ...all(BOOLEAN, 'tag', ['gpgsign']),
  ...all(WORD, 'init', ['defaultbranch']),
  ...all(WORD, 'index', ['version', 'threads', 'sparse']),
  ...all(WORD, 'pack', ['threads', 'windowmemory', 'writebitmaphashcache', 'writereverseindex']),
  ...all(WORD, 'feature', ['manyfiles', 'experimental']),
  ...all(WORD, 'status', ['showuntrackedfiles', 'submodulesummary', 'short', 'branch']),
  ...all(WORD, 'log', ['date', 'decorate', 'follow', 'showsignature']),
  ...all(WORD, 'color', ['ui', 'branch', 'diff', 'status', 'grep', 'interactive', 'pager']),
  ['lfs.repositoryformatversion', WORD],
  ['lfs.*.access', WORD],
]);

function all(rule: Rule, section: string, keys: readonly string[]): [string, Rule][] {
  return keys.map((key) => [`${section}.${key}`, rule]);
}

/**
 * The first key in the configuration of a git directory that is not known to be harmless, or null. A file that git cannot
 * parse is not harmless. `mayLeadTo` decides about core.worktree, because git overwrites files there.
 */
export function findUnsafeKey(text: string, mayLeadTo: (path: string) => boolean): string | null {
  const entries = text.includes('\0') ? null : parseGitConfig(text);
  if (entries === null) return 'a line that git cannot read';
  return (
    entries
      .map((entry) => ({ entry, name: nameOfKey(entry) }))
      .find(({ entry, name }) => {
        if (name === 'core.worktree') return !mayLeadTo(entry.value ?? '');
        return !isHarmless(name, entry.value);
      })?.name ?? null
  );
}

/** Whether everyday git writes such an entry. core.worktree is never harmless here. */
export function isHarmless(name: string, value: string | null): boolean {
  if (name.startsWith('advice.')) return BOOLEAN.test(value ?? '');
  if (name.startsWith('alias.')) return ALIAS.test(value ?? '');
  const rule = HARMLESS.get(name);
  return rule !== undefined && (rule === null || rule.test(value ?? ''));
}

/** `remote.*.url` for `[remote "origin"] url`. */
export function nameOfKey({ key, subsection }: GitEntry): string {
  return subsection === null ? key : key.replace('.', '.*.');
}

const COMMAND = 'command|cmd|program|helper|hook|textconv|driver|clean|smudge|process|editor|pager|proxy|askpass';
/**
 * Keys whose value git or one of its companions runs, reads as another configuration, or writes files to. Used for files
 * under any name. In a git directory, every key counts that is not known to be harmless.
 */
const RUNS_OR_LEADS = new RegExp(
  [
    'core\\.(fsmonitor|hookspath|sshcommand|gitproxy|pager|editor|askpass|alternaterefscommand|attributesfile|worktree)',
    'alias(\\.\\*)?\\.[^.]+',
    'pager\\.[^.]+',
    'include\\.path',
    'includeif\\.\\*\\.path',
    'url\\.\\*\\.(pushinsteadof|insteadof)',
    `(credential|gpg|trailer|filter|diff|merge|sendemail|sequence|interactive|tar|guitool|browser|man|lfs|tig|annex)(\\.\\*)?\\.[a-z0-9-]*(${COMMAND})[a-z0-9-]*`,
    'interactive\\.difffilter',
    '(diff|web|help|instaweb)\\.(external|browser|httpd|modulepath)',
    '(difftool|mergetool|browser|man)\\.\\*\\.(cmd|path)',
    'sendemail(\\.\\*)?\\.smtpserver',
    'imap\\.tunnel',
    'uploadpack\\.packobjectshook',
    'gc\\.recentobjectshook',
    'remote\\.\\*\\.(uploadpack|receivepack|vcs|url|pushurl|proxy)',
    'branch\\.\\*\\.(remote|pushremote)',
    'submodule\\.\\*\\.(update|url)',
    'protocol(\\.\\*)?\\.allow',
    'rebase\\.instructionformat',
    'init\\.templatedir',
    'lfs\\.(\\*\\.)?path',
  ]
    .map((pattern) => `(?:${pattern})`)
    .join('|')
    .replace(/^(.*)$/s, '^(?:$1)$'),
);

/** The first key with which a file under any name would run a program, include a file or leave the tree, or null. */
export function findRunningKey(entries: readonly GitEntry[]): string | null {
  return (
    entries
      .map((entry) => ({ entry, name: nameOfKey(entry) }))
      .find(({ entry, name }) => {
        if (!RUNS_OR_LEADS.test(name) || isHarmless(name, entry.value)) return false;
        const value = entry.value ?? '';
        if (name.startsWith('alias.')) return value.trimStart().startsWith('!');
        return value !== '' && !(name.startsWith('pager.') && BOOLEAN.test(value));
      })?.name ?? null
  );
}
