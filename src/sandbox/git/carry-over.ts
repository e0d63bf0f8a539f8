import { quoteName } from '../../core/own-line.ts';
import { type GitEntry, parseGitConfig } from '../../guard/git/config.ts';
import { localPathOf, SPARSE_KEYS } from '../../guard/git/config-keys.ts';
import { isPlainText, isTrue, quoteValue } from './config-text.ts';
import { setKey, spellingIn, withoutDoubles } from './edit-config.ts';

/** Versions of one repository's configuration, one character per byte. */
export interface ConfigVersions {
  /** What the command was given. */
  readonly given: string;
  /** What the command left. */
  readonly left: string;
  /** What the host's file holds now. */
  readonly host: string;
  /** Whether the person has a name and an address in a configuration of their own. */
  readonly hasIdentity: boolean;
  /** Whether the repository had a branch before the command. */
  readonly hadBranch: (name: string) => boolean;
  /**
   * Whether a remote may be at this absolute path: in a directory that a person allowed, where no checkout writes. In the
   * project a commit could bring hooks to it, which the person's push would run.
   */
  readonly mayBeRepository: (path: string) => boolean;
  /** Whether no `config.worktree` of the repository has other keys than `SPARSE_KEYS`. */
  readonly areWorktreesPlain: boolean;
  /** Whether it is a `config.worktree`, which overrides `config`: of its keys only `SPARSE_KEYS` stay. */
  readonly isOfWorktree: boolean;
}

export interface CarryOver {
  /** The host's file with the keys changed that it has. */
  readonly edited: string;
  /** What to append to it; empty if nothing. */
  readonly text: string;
  /** What is carried over, in words, such as `remote fork = https://example.com/a.git`. */
  readonly carried: readonly string[];
  /** The keys and sections that the command changed and that are not carried over, as people write them. */
  readonly refused: readonly string[];
  /** The absolute paths of repositories that refused remotes and submodules name. */
  readonly outside: readonly string[];
  /** Those of the refused names that lead to such a path. */
  readonly leading: readonly string[];
  /** Remotes that the command renamed. Nothing of it stays, and the names are not among the refused ones. */
  readonly renamed: readonly Renamed[];
}

interface Renamed {
  readonly from: string;
  readonly to: string;
}

/** A section of a repository's configuration: `remote.origin`, `core`. */
interface Section {
  readonly section: string;
  readonly subsection: string | null;
  /** The values of each key, in order. */
  readonly keys: Map<string, (string | null)[]>;
}

type Sections = ReadonlyMap<string, Section>;

/**
 * What of a command's changes reaches the host: remotes, branches and submodules that the host does not have, with plain
 * URLs or with paths that commands may write, which files a sparse checkout has, the name for commits of a person who has
 * none, and the mark of Git LFS. Every other change is refused, because a key that is harmless in one place sends a push
 * elsewhere in another. Returns null if git could not read the command's file.
 */
export function carryOver(versions: ConfigVersions): CarryOver | null {
  const { given, left, host } = versions;
  const [before, after, now] = [read(given), read(left), read(host)];
  if (after === null || before === null || now === null) return null;
  let edited = withoutDoubles(host, SPARSE_KEYS);
  const [texts, carried]: [string[], string[]] = [[], []];
  const refused: string[] = [];
  const [outside, leading]: [string[], string[]] = [[], []];
  const renamed = renamedRemotes(before, after);
  const newRemotes = new Set<string>();
  // Remotes first: a branch may track a new one.
  const names = [...new Set([...after.keys(), ...before.keys()])];
  for (const name of names.sort((a, b) => rank(a) - rank(b))) {
    const changed = changedKeys(before.get(name), after.get(name), now.get(name)).filter(
      (key) => !renamed.some((one) => isOfRename(one, name, after.get(name)?.keys.get(key))),
    );
    if (changed.length === 0) continue;
    const section = after.get(name) ?? emptied(before.get(name));
    const accepted = changed.filter((key) => isAcceptable(section, key, { ...versions, now, newRemotes }));
    const isWhole = !after.has(name) || (section.subsection !== null && !before.has(name));
    const others = changed.filter((key) => !accepted.includes(key)).map((key) => `${name}.${key}`);
    const refusedHere = accepted.length === 0 && isWhole ? [name] : others;
    refused.push(...refusedHere);
    const outsideHere = accepted.includes('url') ? [] : outsideOf(section, changed, versions);
    outside.push(...outsideHere);
    if (outsideHere.length > 0) leading.push(...refusedHere);
    if (accepted.length === 0) continue;
    if (section.section === 'remote' && section.subsection !== null) newRemotes.add(section.subsection);
    const known = accepted.filter((key) => section.subsection === null && now.get(name)?.keys.has(key));
    for (const key of known) edited = setKey(edited, `${name}.${key}`, section.keys.get(key)?.[0] ?? null);
    const added = accepted.filter((key) => !known.includes(key));
    if (added.length > 0) texts.push(write(section, added, left));
    carried.push(describe(section, accepted));
  }
  return {
    edited,
    text: texts.join(''),
    carried,
    refused: refused.map(quoteName),
    outside,
    leading: leading.map(quoteName),
    renamed,
  };
}

/** `git remote rename` writes the section of the remote under another name. */
function renamedRemotes(before: Sections, after: Sections): Renamed[] {
  const urlOf = (section: Section | undefined) => JSON.stringify(section?.keys.get('url'));
  const ofRemotes = (sections: Sections, others: Sections) =>
    [...sections.values()].filter(
      ({ section, subsection }) =>
        section === 'remote' && REMOTE_NAME.test(subsection ?? '') && !others.has(`remote.${subsection}`),
    );
  const added = ofRemotes(after, before);
  return ofRemotes(before, after).flatMap((old) => {
    const to = added.find((one) => urlOf(one) === urlOf(old))?.subsection;
    return to == null ? [] : [{ from: old.subsection ?? '', to }];
  });
}

/** Whether a key is of the remote under one of its names, or tells a branch its new name. */
function isOfRename({ from, to }: Renamed, name: string, values: readonly (string | null)[] | undefined): boolean {
  return name === `remote.${from}` || name === `remote.${to}` || (name.startsWith('branch.') && values?.join() === to);
}

/** What is left of a section that the command removed. */
function emptied(section: Section | undefined): Section {
  return { section: section?.section ?? '', subsection: section?.subsection ?? null, keys: new Map() };
}

function outsideOf(
  { section, keys }: Section,
  changed: readonly string[],
  { mayBeRepository }: ConfigVersions,
): string[] {
  if ((section !== 'remote' && section !== 'submodule') || !changed.includes('url')) return [];
  const paths = (keys.get('url') ?? []).flatMap((url) => localPathOf(url ?? '') ?? []);
  return paths.filter((path) => path.startsWith('/') && !mayBeRepository(path));
}

function rank(name: string): number {
  return name.startsWith('remote.') ? 0 : 1;
}

function read(text: string): Sections | null {
  const entries = text.includes('\0') ? null : parseGitConfig(text);
  if (entries === null) return null;
  const sections = new Map<string, Section>();
  for (const entry of entries) addTo(sections, entry);
  return sections;
}

function addTo(sections: Map<string, Section>, { key, subsection, value }: GitEntry): void {
  const [section = '', name = ''] = key.split('.');
  const full = subsection === null ? section : `${section}.${subsection}`;
  const known = sections.get(full) ?? { section, subsection, keys: new Map<string, (string | null)[]>() };
  sections.set(full, known);
  known.keys.set(name, [...(known.keys.get(name) ?? []), value]);
}

/** The keys that the command changed and that are not on the host as the command wants them. */
function changedKeys(before?: Section, after?: Section, now?: Section): string[] {
  const keys = new Set([...(before?.keys.keys() ?? []), ...(after?.keys.keys() ?? [])]);
  const valuesIn = (section: Section | undefined, key: string) => JSON.stringify(section?.keys.get(key) ?? []);
  return [...keys].filter((key) => {
    const wanted = valuesIn(after, key);
    return wanted !== valuesIn(before, key) && wanted !== valuesIn(now, key);
  });
}

interface Ground extends Omit<ConfigVersions, 'given' | 'left' | 'host'> {
  /** The host's configuration. */
  readonly now: Sections;
  readonly newRemotes: ReadonlySet<string>;
}

function isAcceptable(section: Section, key: string, ground: Ground): boolean {
  const values = section.keys.get(key) ?? [];
  const name = section.subsection;
  if (ground.isOfWorktree && !(name === null && SPARSE_KEYS.has(`${section.section}.${key}`))) return false;
  switch (section.section) {
    case 'remote':
      return name !== null && isNewRemote(section, name, ground) && isOfRemote(name, key, values);
    case 'branch':
      return name !== null && isNewBranch(name, ground.now) && isOfBranch(section, name, key, ground);
    case 'submodule':
      return name !== null && isNewSubmodule(section, name, ground) && isOfSubmodule(key, values);
    case 'core':
    case 'index':
      return name === null && SPARSE_KEYS.has(`${section.section}.${key}`) && (values.length === 0 || isSwitch(values));
    case 'extensions':
      // Makes git read config.worktree, where `git sparse-checkout` writes.
      return name === null && key === 'worktreeconfig' && isSwitch(values) && ground.areWorktreesPlain;
    case 'user':
      return name === null && !ground.hasIdentity && isOfIdentity(key, values, ground.now);
    case 'lfs':
      // Git LFS writes it in each repository that it works in.
      return name === null && key === 'repositoryformatversion' && values.join() === '0' && !ground.now.has('lfs');
    default:
      return false;
  }
}

/** The host must not know the name: a setting may use it as the path of a repository. */
function isNewRemote({ keys }: Section, name: string, { now, mayBeRepository }: Ground): boolean {
  const isNamed = [...now.values()].some(
    ({ section, keys: known }) =>
      (section === 'branch' || section === 'remote' || section === 'extensions') &&
      ['remote', 'pushremote', 'pushdefault', 'partialclone'].some((key) => known.get(key)?.includes(name)),
  );
  const [url, ...more] = keys.get('url') ?? [];
  return (
    REMOTE_NAME.test(name) &&
    !now.has(`remote.${name}`) &&
    !isNamed &&
    more.length === 0 &&
    isAddress(url, mayBeRepository)
  );
}

const REMOTE_NAME = /^[A-Za-z0-9](?!.*\.\.)[\w.-]{0,99}(?<!\.lock)(?<!\.)$/;

function isOfRemote(name: string, key: string, values: readonly (string | null)[]): boolean {
  if (key === 'url') return true;
  return key === 'fetch' && values.every((value) => isOwnRefspec(value ?? '', name));
}

/** A fetch may write only below the remote's own references. */
function isOwnRefspec(value: string, remote: string): boolean {
  const [, from = '', to = ''] = /^\+?(refs\/[^:]+):(refs\/[^:]+)$/.exec(value) ?? [];
  return (
    isRefName(from.replace('*', 'x')) && isRefName(to.replace('*', 'x')) && to.startsWith(`refs/remotes/${remote}/`)
  );
}

/** Keys that editors and git write for a branch that tracks nothing yet. */
const BESIDE_TRACKING: ReadonlySet<string> = new Set(['description', 'vscode-merge-base', 'gh-merge-base']);

function isNewBranch(name: string, now: Sections): boolean {
  const known = now.get(`branch.${name}`);
  return isRefName(`refs/heads/${name}`) && [...(known?.keys.keys() ?? [])].every((key) => BESIDE_TRACKING.has(key));
}

/** A branch that was there tracks only remotes that were there too: otherwise one command could lead a person's push away. */
function isOfBranch(section: Section, name: string, key: string, ground: Ground): boolean {
  const { now, newRemotes, hadBranch } = ground;
  const [value, ...more] = section.keys.get(key) ?? [];
  if (typeof value !== 'string' || more.length > 0) return false;
  if (key === 'remote')
    return value === '.' || now.has(`remote.${value}`) || (newRemotes.has(value) && !hadBranch(name));
  // Without its remote it would name a branch of another one.
  const hasRemote = () => isOfBranch(section, name, 'remote', ground);
  if (key === 'merge') return value.startsWith('refs/heads/') && isRefName(value) && hasRemote();
  return key === 'rebase' && /^(true|false|merges)$/.test(value);
}

function isNewSubmodule({ keys }: Section, name: string, { now, mayBeRepository }: Ground): boolean {
  const [url, ...more] = keys.get('url') ?? [];
  const isKnown = now.has(`submodule.${name}`);
  const isName = /^[\w./ -]{1,200}$/.test(name) && !name.includes('..');
  return isName && !isKnown && more.length === 0 && isAddress(url, mayBeRepository);
}

/** `git submodule init` copies `update` from .gitmodules. A command in it (`!…`) is refused. */
function isOfSubmodule(key: string, values: readonly (string | null)[]): boolean {
  const [value = null, ...more] = values;
  if (key === 'url') return true;
  if (more.length > 0) return false;
  return (
    (key === 'active' && isTrue(value)) || (key === 'update' && /^(checkout|rebase|merge|none)$/.test(value ?? ''))
  );
}

function isSwitch(values: readonly (string | null)[]): boolean {
  return values.length === 1 && /^(true|false)$/.test(values[0] ?? '');
}

function isOfIdentity(key: string, values: readonly (string | null)[], now: Sections): boolean {
  const [value, ...more] = values;
  if (typeof value !== 'string' || value === '' || more.length > 0 || !isPlainText(value, 200)) return false;
  return (key === 'name' || key === 'email') && now.get('user')?.keys.has(key) !== true;
}

/** A plain URL, or the absolute path of a repository in a directory that a person allowed. */
function isAddress(url: string | null | undefined, mayBeRepository: (path: string) => boolean): boolean {
  if (isPlainUrl(url)) return true;
  const path = typeof url === 'string' && isPlainText(url, 1_000) && !url.startsWith('-') ? localPathOf(url) : null;
  return path?.startsWith('/') === true && mayBeRepository(path);
}

/** `https://host/path`, `ssh://[user@]host/path` or `[user@]host:path`, without a password or anything that git interprets. */
function isPlainUrl(url: string | null | undefined): boolean {
  return PLAIN_URL.some((form) => form.test(url ?? ''));
}

const HOST = '[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?';
const PATH = '[A-Za-z0-9._~/+@%-]{1,1000}';
const USER = '(?:[A-Za-z0-9_][\\w.-]{0,62}@)?';
const PLAIN_URL = [
  new RegExp(`^https://${HOST}(?::\\d{1,5})?/${PATH}$`),
  new RegExp(`^ssh://${USER}${HOST}(?::\\d{1,5})?/${PATH}$`),
  new RegExp(`^${USER}${HOST}:(?!:)(?!//)${PATH}$`),
];

/** Whether git accepts the name of a reference (git check-ref-format). */
function isRefName(name: string): boolean {
  if (!isPlainText(name, 500) || !/^refs\/[^ ~^:?*[\\]+$/.test(name) || /\.\.|@\{|\/$|\.$/.test(name)) return false;
  return name.split('/').every((part) => part !== '' && !/^[.-]|\.lock$/.test(part));
}

/** In the spelling of the command's file. */
function write({ section, subsection, keys }: Section, names: readonly string[], left: string): string {
  const header = subsection === null ? section : `${section} "${subsection.replace(/[\\"]/g, '\\$&')}"`;
  const spelled = (name: string) => (subsection === null ? spellingIn(left, `${section}.${name}`) : name);
  const lines = names.flatMap((name) =>
    (keys.get(name) ?? []).map((value) => `\t${spelled(name)}${writeValue(value)}\n`),
  );
  return `[${header}]\n${lines.join('')}`;
}

function describe({ section, subsection, keys }: Section, names: readonly string[]): string {
  if (subsection === null) return names.map((name) => `${section}.${name}`).join(', ');
  const value = keys.get(section === 'branch' ? 'remote' : 'url')?.[0] ?? '';
  return `${section} ${quoteName(subsection)} ${section === 'branch' ? 'tracks' : '='} ${quoteName(value)}`;
}

function writeValue(value: string | null): string {
  if (value === null) return '';
  return ` = ${/^[\w./:@+*-]+$/.test(value) ? value : quoteValue(value)}`;
}
