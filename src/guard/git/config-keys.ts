import { type GitEntry, parseGitConfig } from './config.ts';

/** The pattern of a value; null if any text is harmless. */
type Rule = RegExp | null;

const WORD = /^[\w.+-]*$/;
const BOOLEAN = /^(true|false|yes|no|on|off|0|1)?$/i;
/** Which files a sparse checkout has. They run nothing and lead nowhere. */
export const SPARSE_KEYS: ReadonlySet<string> = new Set([
  'core.sparsecheckout',
  'core.sparsecheckoutcone',
  'index.sparse',
]);
/** Excludes options, schemes that are not lower case (git would run `git-remote-FILE`), and `<helper>::…` and `<helper>://…`, which run `git-remote-<helper>` (`ext::` runs anything). */
const URL = /^(?!-)(?![\w.+-]*::)(?:(?:https?|ssh|git|git\+ssh|ssh\+git|file|ftps?):|(?![\w.+-]*:\/\/))[^\0\n]+$/;
/**
 * An alias of a command that runs no program which its arguments name, with options that take no value. Any other alias can
 * run something: `rebase --exec …`, `grep --open-files-in-pager=…`, `!…`.
 */
const ALIAS =
  /^(status|log|diff|show|commit|checkout|switch|branch|add|restore|stash|reset|shortlog|reflog|tag)( (-[A-Za-z]{1,4}|--[a-z][a-z-]*|HEAD|HEAD[~^]\d?|--))*$/;
/** git's own merge strategies. Any other name `x` runs a program `git-merge-x`. */
export const STRATEGY = /^(ort|recursive|resolve|octopus|ours|subtree)?$/;

/**
 * What git does with a value, besides running no program:
 *
 * - `setting`: no command connects because of it.
 * - `transfer`: decides what `fetch`, `pull`, `push`, `submodule update` and `lfs` do, which a person asks for.
 * - `address`: where these commands go. A local one must stay in the project (see `Places`).
 */
type Use = 'setting' | 'transfer' | 'address';

interface Key {
  readonly rule: Rule;
  readonly use: Use;
}

/**
 * The harmless keys that `git init`, `clone`, `worktree`, `submodule`, `branch`, `sparse-checkout` and everyday `git config`
 * write. It lists what is allowed, because every release of git may add a key that runs a program. Deliberately missing:
 * keys that name a program or its arguments (core.fsmonitor unless a boolean,
 * core.hooksPath, sshCommand, pager, editor, askPass, gitProxy, alternateRefsCommand, most of alias.*, pager.*, credential.*,
 * gpg.*, diff/merge/filter drivers, difftool, mergetool, sequence.editor, sendemail, trailer, browser, man, uploadpack,
 * receivepack, remote.*.uploadpack and vcs, submodule.*.update with `!`, gc.recentObjectsHook), that read another file
 * (include, includeIf, core.attributesFile, core.excludesFile, commit.template), that disable a protection (protocol.*,
 * safe.*, core.protectNTFS, http.sslVerify), that lead elsewhere (url.*.insteadOf, http.proxy, fetch.bundleURI, lfs.url), and
 * those of `CONNECTING`. `*` stands for any subsection.
 *
 * A test sets all of them at once and counts connections of everyday commands (git-connects.test.ts).
 */
const HARMLESS: ReadonlyMap<string, Key> = new Map<string, Key>([
  ...all('setting', WORD, 'core', [
    'repositoryformatversion',
    'filemode',
    'bare',
    'logallrefupdates',
    'ignorecase',
    'precomposeunicode',
    'symlinks',
    'autocrlf',
    'eol',
    'safecrlf',
    'quotepath',
    'abbrev',
    'compression',
    'untrackedcache',
    'splitindex',
    'preloadindex',
    'sparsecheckout',
    'sparsecheckoutcone',
    'bigfilethreshold',
    'commitgraph',
    'sharedrepository',
    'longpaths',
  ]),
  ...all('setting', /^(true|false)$/i, 'core', ['fsmonitor']),
  ...all('setting', null, 'core', ['commentchar', 'whitespace']),
  ...all('setting', WORD, 'extensions', [
    'objectformat',
    'compatobjectformat',
    'refstorage',
    'worktreeconfig',
    'noop',
    'preciousobjects',
    'relativeworktrees',
  ]),
  ...all('address', URL, 'remote.*', ['url', 'pushurl']),
  ...all('transfer', null, 'remote.*', ['fetch', 'push', 'tagopt', 'prune', 'prunetags', 'mirror']),
  ...all('transfer', null, 'remote.*', ['skipdefaultupdate', 'skipfetchall', 'followremotehead']),
  ...all('address', URL, 'remote', ['pushdefault']),
  ...all('address', URL, 'branch.*', ['remote', 'pushremote']),
  ...all('transfer', null, 'branch.*', ['merge', 'rebase']),
  ...all('setting', null, 'branch.*', ['description', 'gh-merge-base', 'vscode-merge-base']),
  ...all('setting', WORD, 'receive', ['denynonfastforwards', 'denydeletes', 'fsckobjects']),
  ...all('setting', null, 'remote.*', ['gh-resolved']),
  ...all('transfer', WORD, 'http', ['postbuffer']),
  ...all('setting', WORD, 'gui', ['encoding']),
  // Any other file could be a pipe, which keeps `git blame` waiting.
  ...all('setting', /^\.git-blame-ignore-revs$/, 'blame', ['ignorerevsfile']),
  ...all('setting', WORD, 'branch', ['autosetupmerge', 'autosetuprebase', 'sort']),
  ...all('address', URL, 'submodule.*', ['url']),
  ...all('transfer', /^(checkout|rebase|merge|none)$/, 'submodule.*', ['update']),
  ...all('transfer', null, 'submodule.*', ['active', 'branch', 'shallow', 'fetchrecursesubmodules']),
  ...all('setting', null, 'submodule.*', ['path', 'ignore']),
  // With `recurse`, a checkout changes submodules from the objects that are there and fetches none.
  ...all('transfer', null, 'submodule', ['active', 'recurse', 'fetchjobs', 'propagatebranches', 'alternatelocation']),
  ...all('setting', null, 'user', ['name', 'email', 'useconfigonly', 'signingkey']),
  ...all('transfer', WORD, 'pull', ['rebase', 'ff']),
  ...all('setting', STRATEGY, 'pull', ['twohead', 'octopus']),
  ...all('transfer', WORD, 'push', ['default', 'autosetupremote', 'followtags', 'recursesubmodules']),
  ...all('transfer', WORD, 'fetch', ['prune', 'prunetags', 'parallel', 'fsckobjects', 'recursesubmodules']),
  ...all('transfer', WORD, 'fetch', ['writecommitgraph']),
  ...all('setting', WORD, 'rebase', ['autosquash', 'autostash', 'updaterefs', 'backend']),
  ...all('setting', WORD, 'merge', ['conflictstyle', 'ff', 'renames', 'log', 'stat']),
  ...all('setting', WORD, 'diff', ['algorithm', 'renames', 'colormoved', 'context', 'mnemonicprefix', 'submodule']),
  ...all('setting', WORD, 'rerere', ['enabled', 'autoupdate']),
  ...all('setting', WORD, 'gc', ['auto', 'autopacklimit', 'autodetach', 'pruneexpire', 'reflogexpire']),
  ...all('setting', WORD, 'gc', ['writecommitgraph']),
  // The tasks that git starts by itself exclude `prefetch`.
  ...all('setting', WORD, 'maintenance', ['auto', 'strategy', 'autodetach']),
  ...all('setting', BOOLEAN, 'commit', ['gpgsign', 'verbose', 'status']),
  ...all('setting', BOOLEAN, 'tag', ['gpgsign']),
  ...all('setting', WORD, 'init', ['defaultbranch']),
  ...all('setting', WORD, 'index', ['version', 'threads', 'sparse']),
  ...all('setting', WORD, 'pack', ['threads', 'windowmemory', 'writebitmaphashcache', 'writereverseindex']),
  ...all('setting', WORD, 'feature', ['manyfiles', 'experimental']),
  ...all('setting', WORD, 'status', ['showuntrackedfiles', 'submodulesummary', 'short', 'branch']),
  ...all('setting', WORD, 'log', ['date', 'decorate', 'follow']),
  ...all('setting', WORD, 'color', ['ui', 'branch', 'diff', 'status', 'grep', 'interactive', 'pager']),
  ...all('transfer', WORD, 'lfs', ['repositoryformatversion']),
  ...all('transfer', WORD, 'lfs.*', ['access']),
]);

function all(use: Use, rule: Rule, section: string, keys: readonly string[]): [string, Key][] {
  return keys.map((key) => [`${section}.${key}`, { rule, use }]);
}

/** Every allowed key by its use, for the test that tries them. */
export const HARMLESS_KEYS: ReadonlyMap<string, Use> = new Map([...HARMLESS].map(([name, { use }]) => [name, use]));

/**
 * Keys with which commands connect that ask for no transfer. In a repository with a promisor remote, every command that
 * needs a missing object fetches it (`status`, `log`, `diff`, `show`, `blame`, `checkout`, and `status` of the repository
 * around it, if it is a submodule). `log.showSignature` runs gpg, which may fetch the keys that a signature names.
 */
const CONNECTING: ReadonlySet<string> = new Set([
  'extensions.partialclone',
  'remote.*.promisor',
  'remote.*.partialclonefilter',
  'log.showsignature',
]);

/** Where a configuration may lead. Both take what a value says, which may be relative. */
export interface Places {
  /** Decides about core.worktree, because git overwrites files there. */
  mayBeWorktree(path: string): boolean;
  /** Decides about a repository on this machine: its hooks run when a person pushes to it. */
  mayBeRepository(path: string): boolean;
}

/** A key that is not known to be harmless. */
export interface UnsafeKey {
  /** As in `HARMLESS`; or what else is wrong, in words. */
  readonly name: string;
  readonly connects: boolean;
}

/**
 * The first key in the configuration of a git directory that is not known to be harmless, or null. A file that git cannot
 * parse is not harmless.
 */
export function findUnsafeKey(text: string, places: Places): UnsafeKey | null {
  const entries = entriesOf(text);
  if (entries === null) return { name: 'a line that git cannot read', connects: false };
  const unsafe = entries.find((entry) => isUnsafe(entry, places));
  if (unsafe !== undefined) return { name: nameOfKey(unsafe), connects: CONNECTING.has(nameOfKey(unsafe)) };
  const place = localAddressesIn(entries).find((path) => !places.mayBeRepository(path));
  return place === undefined ? null : { name: `the address ${place}`, connects: false };
}

/** Every entry that is not known to be harmless and every local address that may not be, as texts. Null if git cannot parse it. */
export function unsafePartsOf(text: string, places: Places): string[] | null {
  const entries = entriesOf(text);
  if (entries === null) return null;
  const parts = entries.filter((entry) => isUnsafe(entry, places));
  const addresses = localAddressesIn(entries).filter((path) => !places.mayBeRepository(path));
  return [...parts.map(({ key, subsection, value }) => JSON.stringify([key, subsection, value])), ...addresses];
}

function entriesOf(text: string): GitEntry[] | null {
  return text.includes('\0') ? null : parseGitConfig(text);
}

function isUnsafe(entry: GitEntry, places: Places): boolean {
  const [name, value] = [nameOfKey(entry), entry.value];
  return name === 'core.worktree' ? !places.mayBeWorktree(value ?? '') : !isHarmless(name, value);
}

/** Whether everyday git writes such an entry. core.worktree is never harmless here. */
export function isHarmless(name: string, value: string | null): boolean {
  if (name.startsWith('advice.')) return BOOLEAN.test(value ?? '');
  if (name.startsWith('alias.')) return ALIAS.test(value ?? '');
  const key = HARMLESS.get(name);
  return key !== undefined && (key.rule === null || key.rule.test(value ?? ''));
}

/** `remote.*.url` for `[remote "origin"] url`. */
export function nameOfKey({ key, subsection }: GitEntry): string {
  return subsection === null ? key : key.replace('.', '.*.');
}

/**
 * The addresses of repositories on this machine, as paths. A name in `branch.*.remote` without a remote of this name is an
 * address too, and so is the name of a remote without a URL.
 */
export function localAddressesIn(entries: readonly GitEntry[]): string[] {
  const remotes = new Set(entries.flatMap(({ key, subsection }) => (key === 'remote.url' ? [subsection] : [])));
  const values = entries.flatMap((entry) => {
    const [section] = entry.key.split('.');
    const isAddress = HARMLESS.get(nameOfKey(entry))?.use === 'address';
    return [
      ...(isAddress && entry.value !== null ? [entry.value] : []),
      ...(section === 'remote' && entry.subsection !== null ? [entry.subsection] : []),
    ];
  });
  const addresses = [...new Set(values)].filter((value) => value !== '.' && !remotes.has(value));
  return addresses.flatMap((address) => localPathOf(address) ?? []);
}

/**
 * The path that git opens for an address; null if it connects to a host (connect.c, parse_connect_url). `host:path` is ssh
 * unless a slash comes first. Only a `file://` URL is decoded.
 */
export function localPathOf(address: string): string | null {
  const file = /^file:\/\/(.*)$/s.exec(address)?.[1];
  if (file !== undefined) {
    const path = file.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
    return path.startsWith('/') ? path : `/${path}`;
  }
  return /^[^/]*:/.test(address) ? null : address;
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
    'remote\\.\\*\\.(uploadpack|receivepack|vcs|url|pushurl|proxy|promisor|partialclonefilter)',
    'extensions\\.partialclone',
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
        // Without a value, `promisor` is true.
        if (CONNECTING.has(name)) return true;
        const value = entry.value ?? '';
        if (name.startsWith('alias.')) return value.trimStart().startsWith('!');
        return value !== '' && !(name.startsWith('pager.') && BOOLEAN.test(value));
      })?.name ?? null
  );
}
