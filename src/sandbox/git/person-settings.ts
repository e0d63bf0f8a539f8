import { isWithin, type RawPath, toRaw } from '../../fs/raw-path.ts';
import type { Person } from '../../guard/contract/person.ts';
import type { GitEntry } from '../../guard/git/config.ts';
import { nameOfKey } from '../../guard/git/config-keys.ts';
import { SET_ASIDE } from '../../guard/git/exclude.ts';
import type { Identity } from '../machine/identity.ts';
import { isPlainText, isTrue, writeEntry } from './config-text.ts';
import { type Driver, driversIn } from './drivers.ts';
import { type ConfigReader, readAsInside, readWithIncludes, resolvePath } from './read-config.ts';

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
  ...all(WORD, 'init', ['defaultobjectformat', 'defaultrefformat']),
  ...all(WORD, 'core', ['autocrlf', 'eol', 'safecrlf', 'quotepath', 'abbrev', 'precomposeunicode']),
  ...all(WORD, 'core', ['filemode', 'symlinks', 'ignorecase', 'trustctime', 'checkstat', 'bigfilethreshold']),
  ...all(NAME, 'core', ['checkroundtripencoding']),
  ...all(NAME, 'i18n', ['commitencoding', 'logoutputencoding']),
  ...all(WORD, 'user', ['useconfigonly']),
  ...all(WORD, 'apply', ['whitespace', 'ignorewhitespace']),
  ...all(WORD, 'am', ['keepcr', 'messageid', 'threeway']),
  ...all(NAME, 'core', ['whitespace', 'commentchar']),
  ...all(WORD, 'pull', ['rebase', 'ff']),
  ...all(WORD, 'push', ['default', 'autosetupremote', 'followtags']),
  ...all(WORD, 'fetch', ['prune', 'prunetags']),
  ...all(WORD, 'rebase', ['autosquash', 'autostash', 'updaterefs', 'missingcommitscheck', 'abbreviatecommands']),
  ...all(WORD, 'merge', ['conflictstyle', 'ff', 'renames', 'log', 'stat', 'renormalize']),
  ...all(WORD, 'merge', ['directoryrenames', 'renamelimit']),
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
  /** The attributes of the person and of the system, without those of the repository. One character per byte. */
  readonly attributes: string;
  /** Whose they are. */
  readonly person: Person;
  /** Programs that decide what is committed: filters and merge drivers. */
  readonly drivers: readonly Driver[];
  /** Whether the person has a name and an address for commits. */
  readonly hasIdentity: boolean;
  /** Whether the person signs commits. No key for signing is inside, so commands do not sign. */
  readonly signs: boolean;
}

/**
 * Reads the harmless keys of a person's configuration as git would for `gitDir`, includes
 * followed. A file counts only if the user inside could read it, because a root daemon must not read for another user.
 */
export function readPersonSettings(person: Person, identity: Identity, gitDir: RawPath | null): PersonSettings {
  const reader: ConfigReader = { person, identity, gitDir };
  const entries = readWithIncludes(reader, configsOf(person, identity).map(toRaw));
  const settings = new Map<string, string | null>();
  let signs = false;
  for (const entry of entries) {
    const name = nameOfKey(entry);
    if (name === 'commit.gpgsign') signs = isTrue(entry.value);
    if (entry.subsection === null && PASSED_ON.get(name)?.(entry.value ?? '') === true) settings.set(name, entry.value);
  }
  const lines = [...settings].map(([key, value]) => writeEntry({ key, subsection: null, value }));
  const hasIdentity = settings.has('user.name') && settings.has('user.email');
  const drivers = driversIn(entries);
  return {
    person,
    text: lines.join(''),
    ignored: readIgnored(reader, entries),
    attributes: readAttributes(reader, entries),
    drivers,
    hasIdentity,
    signs,
  };
}

function readIgnored(reader: ConfigReader, entries: readonly GitEntry[]): string {
  return `${endLine(readNamed(reader, entries, 'core.excludesfile', 'ignore'))}${SET_ASIDE}\n`;
}

/** In the order in which git reads them: a later line counts. */
function readAttributes(reader: ConfigReader, entries: readonly GitEntry[]): string {
  const ofSystem = readAsInside(toRaw('/etc/gitattributes'), reader.identity) ?? '';
  return `${endLine(ofSystem)}${endLine(readNamed(reader, entries, 'core.attributesfile', 'attributes'))}`;
}

/** The content of a file that a key names; if it is not set, of the one that git reads beside the configuration. */
function readNamed(
  { person, identity }: ConfigReader,
  entries: readonly GitEntry[],
  key: string,
  standardName: string,
): string {
  const named = entries.findLast((entry) => nameOfKey(entry) === key)?.value;
  const standard = configsOf(person, identity).find((file) => file.endsWith('/git/config'));
  const file =
    typeof named === 'string'
      ? resolvePath(named, person, toRaw(person.home))
      : standard === undefined
        ? null
        : toRaw(standard.replace(/config$/, standardName));
  return file === null ? '' : (readAsInside(file, identity) ?? '');
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Of another user's project, the daemon's own configuration in its home does not count. */
function configsOf({ home, gitConfigs }: Person, identity: Identity): readonly string[] {
  if (identity.kind !== 'owner') return gitConfigs;
  return gitConfigs.filter((file) => file === '/etc/gitconfig' || isWithin(home, file));
}
