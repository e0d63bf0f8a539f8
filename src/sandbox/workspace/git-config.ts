import { posix } from 'node:path';

/** What a value must look like; null: any text will do. */
type Rule = RegExp | null;

const WORD = /^[\w.+-]*$/;
const BOOLEAN = /^(true|false|yes|no|on|off|0|1)?$/i;
/** No `<helper>::…`, which runs `git-remote-<helper>` (`ext::` runs anything), no option, nothing quoted or escaped. */
const URL = /^(?!-)(?![\w.+-]*::)[^"\\#;]+$/;

/**
 * The keys that `git init`, `clone`, `worktree`, `submodule`, `branch`, `sparse-checkout` and everyday `git config` write
 * and that are harmless. A list of what is allowed, because every release of git may bring one more key that runs a
 * program. Deliberately not on it: keys that name a program or what it is given (core.fsmonitor unless a boolean,
 * core.hooksPath, sshCommand, pager, editor, askPass, gitProxy, alternateRefsCommand, alias.*, pager.*, credential.*,
 * gpg.*, diff/merge/filter drivers, difftool, mergetool, sequence.editor, sendemail, trailer, browser, man, uploadpack,
 * receivepack, remote.*.uploadpack and vcs, submodule.*.update with `!`, gc.recentObjectsHook), that read another file
 * (include, includeIf, core.attributesFile, core.excludesFile, commit.template), that lift a protection (protocol.*,
 * safe.*, core.protectNTFS, http.sslVerify), and that lead elsewhere (url.*.insteadOf, http.proxy).
 */
const HARMLESS: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...all(WORD, 'core', [
    ...['repositoryformatversion', 'filemode', 'bare', 'logallrefupdates', 'ignorecase', 'precomposeunicode'],
    ...['symlinks', 'autocrlf', 'eol', 'safecrlf', 'quotepath', 'abbrev', 'compression', 'untrackedcache'],
    ...['splitindex', 'preloadindex', 'sparsecheckout', 'sparsecheckoutcone', 'bigfilethreshold', 'commitgraph'],
  ]),
  ['core.fsmonitor', /^(true|false)$/i],
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
  ...all(null, 'branch.*', ['merge', 'rebase', 'description']),
  ...all(WORD, 'branch', ['autosetupmerge', 'autosetuprebase', 'sort']),
  ['submodule.*.url', URL],
  ['submodule.*.update', /^(checkout|rebase|merge|none)$/],
  ...all(null, 'submodule.*', ['active', 'path', 'branch', 'ignore', 'shallow', 'fetchrecursesubmodules']),
  ...all(null, 'submodule', ['active', 'recurse', 'fetchjobs', 'propagatebranches', 'alternatelocation']),
  ...all(null, 'user', ['name', 'email', 'useconfigonly', 'signingkey']),
  ...all(WORD, 'pull', ['rebase', 'ff', 'twohead']),
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

const SECTION = /^\[([A-Za-z0-9-]+)(?: "((?:[^"\\\0]|\\["\\])*)")?\]$/;
const ENTRY = /^([A-Za-z][A-Za-z0-9-]*)(?: *= *(.*))?$/;

/**
 * The first thing in a git configuration that is not known to be harmless, or null. Understands what git itself writes,
 * one header or one entry in a line; anything else (a continued line, an old header) counts as not harmless, so that
 * no second reading of the text can slip past. `mayLeadTo` answers for core.worktree, whose files git overwrites.
 */
export function findUnsafeKey(text: string, mayLeadTo: (path: string) => boolean): string | null {
  let section = '';
  for (const raw of text.split('\n')) {
    const line = raw.replace(/\r$/, '').trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const header = SECTION.exec(line);
    if (header !== null) {
      section = `${header[1]?.toLowerCase()}${header[2] === undefined ? '' : '.*'}`;
      continue;
    }
    const entry = ENTRY.exec(line);
    if (entry === null || line.endsWith('\\') || line.includes('\0')) return line.slice(0, 80);
    const key = `${section}.${entry[1]?.toLowerCase()}`;
    if (!isHarmless(key, entry[2] ?? '', mayLeadTo)) return key;
  }
  return null;
}

function isHarmless(key: string, value: string, mayLeadTo: (path: string) => boolean): boolean {
  if (key === 'core.worktree') return !/["\\#;]/.test(value) && mayLeadTo(posix.normalize(value));
  const rule = HARMLESS.get(key);
  return rule !== undefined && (rule === null || rule.test(value));
}
