import { closeSync, fstatSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import type { Identity } from '../identity.ts';
import { canReach } from '../reach.ts';
import { openFile, readUpTo, realPathOf, statAt } from '../workspace/file-access.ts';
import { type GitEntry, parseGitConfig } from '../workspace/git-config.ts';
import { nameOfKey } from '../workspace/git-config-keys.ts';
import { follow } from '../workspace/git-dir.ts';
import { SET_ASIDE } from '../workspace/git-exclude.ts';
import { compileGlobs } from '../workspace/glob.ts';
import { isWithin, parentOf, type RawPath, toRaw, toText } from '../workspace/raw-path.ts';
import type { Person } from '../workspace/targets.ts';

/** Largest configuration that is read, how deep includes may go (git stops at 10 too), and how many files are read. */
const READ_MAX_BYTES = 256 * 1024;
const INCLUDES_MAX = 10;
const FILES_MAX = 50;

type Rule = (value: string) => boolean;

const WORD: Rule = (value) => /^[\w.+-]*$/.test(value);
const NAME: Rule = (value) => isPlainText(value, 200);

/**
 * The keys of a person's own configuration that commands get, with the values that are passed on. No value of these keys
 * names a program, a file, a host or a credential.
 */
const PASSED_ON: ReadonlyMap<string, Rule> = new Map([
  ...all(NAME, 'user', ['name', 'email']),
  ...all(NAME, 'author', ['name', 'email']),
  ...all(NAME, 'committer', ['name', 'email']),
  ...all((value) => /^[\w./-]*$/.test(value), 'init', ['defaultbranch']),
  ...all(WORD, 'core', ['autocrlf', 'eol', 'safecrlf', 'quotepath', 'abbrev', 'precomposeunicode']),
  ...all(NAME, 'core', ['whitespace', 'commentchar']),
  ...all(WORD, 'pull', ['rebase', 'ff']),
  ...all(WORD, 'push', ['default', 'autosetupremote', 'followtags']),
  ...all(WORD, 'fetch', ['prune', 'prunetags']),
  ...all(WORD, 'rebase', ['autosquash', 'autostash', 'updaterefs', 'missingcommitscheck', 'abbreviatecommands']),
  ...all(WORD, 'merge', ['conflictstyle', 'ff', 'renames', 'log', 'stat', 'renormalize']),
  ...all(WORD, 'diff', ['algorithm', 'renames', 'colormoved', 'context', 'interhunkcontext', 'mnemonicprefix']),
  ...all(WORD, 'diff', ['noprefix', 'submodule', 'indentheuristic']),
  ...all(WORD, 'branch', ['autosetupmerge', 'autosetuprebase', 'sort']),
  ...all(WORD, 'checkout', ['defaultremote', 'guess']),
  ...all(WORD, 'commit', ['verbose', 'status', 'cleanup']),
  ...all(WORD, 'status', ['showuntrackedfiles', 'submodulesummary', 'short', 'branch', 'relativepaths']),
  ...all(WORD, 'log', ['date', 'decorate', 'follow', 'abbrevcommit']),
  ...all(WORD, 'tag', ['sort']),
  ...all(WORD, 'submodule', ['recurse']),
  ...all(WORD, 'grep', ['linenumber', 'patterntype']),
  ...all(WORD, 'worktree', ['guessremote', 'userelativepaths']),
]);

function all(rule: Rule, section: string, keys: readonly string[]): [string, Rule][] {
  return keys.map((key) => [`${section}.${key}`, rule]);
}

/** What commands get of a person's git configuration. */
export interface PersonSettings {
  /** A git configuration with harmless keys only, one character per byte. */
  readonly text: string;
  /** What git does not add: the person's own patterns, and what contextd set aside. One character per byte. */
  readonly ignored: string;
  /** Whether the person has a name and an address for commits. */
  readonly hasIdentity: boolean;
  /** Whether the person signs commits. No key for signing is inside, so commands do not sign. */
  readonly signs: boolean;
}

/**
 * Reads the harmless keys of a person's configuration as git would for `gitDir`, includes with a path or `gitdir:`
 * followed. A file counts only if the user inside could read it, because a root daemon must not read for another user.
 */
export function readPersonSettings(person: Person, identity: Identity, gitDir: RawPath | null): PersonSettings {
  const reading: Reading = { person, identity, gitDir, entries: [], filesLeft: FILES_MAX };
  for (const file of configsOf(person, identity)) collect(reading, toRaw(file), 0);
  const settings = new Map<string, string | null>();
  let signs = false;
  for (const entry of reading.entries) {
    const name = nameOfKey(entry);
    if (name === 'commit.gpgsign') signs = isTrue(entry.value);
    if (entry.subsection === null && PASSED_ON.get(name)?.(entry.value ?? '') === true) settings.set(name, entry.value);
  }
  const lines = [...settings].map(([name, value]) => writeEntry(name, value));
  const hasIdentity = settings.has('user.name') && settings.has('user.email');
  return { text: lines.join(''), ignored: readIgnored(reading), hasIdentity, signs };
}

/** The content of the person's `core.excludesFile`. git reads `git/ignore` beside the configuration if it is not set. */
function readIgnored({ person, identity, entries }: Reading): string {
  const named = entries.findLast((entry) => nameOfKey(entry) === 'core.excludesfile')?.value;
  const standard = configsOf(person, identity).find((file) => file.endsWith('/git/config'));
  const file =
    typeof named === 'string'
      ? resolve(named, person, toRaw(person.home))
      : standard === undefined
        ? null
        : toRaw(standard.replace(/config$/, 'ignore'));
  const patterns = file === null ? '' : (readAsInside(file, identity) ?? '');
  return `${patterns}${patterns === '' || patterns.endsWith('\n') ? '' : '\n'}${SET_ASIDE}\n`;
}

/** Of another user's project, the daemon's own configuration in its home does not count. */
function configsOf({ home, gitConfigs }: Person, identity: Identity): readonly string[] {
  if (identity.kind !== 'owner') return gitConfigs;
  return gitConfigs.filter((file) => file === '/etc/gitconfig' || isWithin(home, file));
}

/** Whether a value has at most this many characters and no control characters. The text has one character per byte. */
export function isPlainText(value: string, maxLength: number): boolean {
  return value.length <= maxLength && [...value].every((char) => char >= ' ' && char !== '\u007f');
}

export function isTrue(value: string | null): boolean {
  return value === null || /^(true|yes|on|[1-9]\d*)$/i.test(value);
}

/** One entry without a subsection, in the form that git reads. */
function writeEntry(name: string, value: string | null): string {
  const [section, key] = name.split('.');
  return `[${section}]\n\t${key}${value === null ? '' : ` = ${quoteValue(value)}`}\n`;
}

/** A value as git reads it back. It must not contain a NUL. */
export function quoteValue(value: string): string {
  const escaped = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `"${escaped}"`;
}

interface Reading {
  readonly person: Person;
  readonly identity: Identity;
  readonly gitDir: RawPath | null;
  /** In the order in which git reads them: a later value of a key counts. */
  readonly entries: GitEntry[];
  filesLeft: number;
}

function collect(reading: Reading, file: RawPath, depth: number): void {
  if (reading.filesLeft-- <= 0) return;
  for (const entry of parseGitConfig(readAsInside(file, reading.identity) ?? '') ?? []) {
    reading.entries.push(entry);
    if (depth >= INCLUDES_MAX || !isIncluded(entry, reading, parentOf(file))) continue;
    const included = resolve(entry.value ?? '', reading.person, parentOf(file));
    if (included !== null) collect(reading, included, depth + 1);
  }
}

function isIncluded(entry: GitEntry, { person, gitDir }: Reading, dir: RawPath): boolean {
  const name = nameOfKey(entry);
  if (name === 'include.path') return true;
  const [, ignoresCase, pattern] = /^gitdir(\/i)?:(.+)$/s.exec(entry.subsection ?? '') ?? [];
  if (name !== 'includeif.*.path' || pattern === undefined || gitDir === null) return false;
  const fold = (text: string) => (ignoresCase === undefined ? text : text.toLowerCase());
  try {
    const glob = compileGlobs([fold(toText(expandPattern(pattern, person, dir)))]);
    return glob.match(fold(toText(gitDir.slice(1))), true) !== null;
  } catch {
    return false;
  }
}

/** As git does: `~/` and `./` are expanded, any other relative pattern matches at any depth, and `/` at the end, all inside. */
function expandPattern(pattern: string, person: Person, dir: RawPath): string {
  const rooted = pattern.startsWith('~/')
    ? `${toRaw(person.home)}${pattern.slice(1)}`
    : pattern.startsWith('./')
      ? `${dir}${pattern.slice(1)}`
      : pattern;
  const anchored = rooted.startsWith('/') ? rooted.slice(1) : `**/${rooted}`;
  return anchored.endsWith('/') ? `${anchored}**` : anchored;
}

function resolve(named: string, person: Person, dir: RawPath): RawPath | null {
  const text = named.startsWith('~/') ? `${toRaw(person.home)}${named.slice(1)}` : named;
  return text === '' || text.includes('\0') ? null : (follow(dir, text)?.target ?? null);
}

/** The text of a regular file that the user inside may read, links followed; otherwise null. */
function readAsInside(file: RawPath, identity: Identity): string | null {
  try {
    const real = realPathOf(file);
    if (real === null || statAt(real)?.isFile() !== true) return null;
    if (identity.kind === 'owner' && !canReach(toText(real), identity.uid, identity.gid)) return null;
    const fd = openFile(real);
    if (fd === null) return null;
    try {
      return mayRead(fd, identity) ? readUpTo(fd, READ_MAX_BYTES) : null;
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

/** Asked of the open file, because its path may have changed since. */
function mayRead(fd: number, identity: Identity): boolean {
  const { uid, mode } = fstatSync(fd);
  return identity.kind !== 'owner' || uid === identity.uid || (mode & 0o004) !== 0;
}
