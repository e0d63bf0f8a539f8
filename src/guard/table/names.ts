import type { ContentRule } from '../content/rule.ts';
import type { Action, NameRow } from './row.ts';
import { AGENTS } from './rows/agents.ts';
import { BUILDS } from './rows/builds.ts';
import { EDITORS } from './rows/editors.ts';
import { HARMLESS, OUTPUT_DIRECTORIES } from './rows/harmless.ts';
import { INSTRUCTIONS } from './rows/instructions.ts';
import { SHELLS } from './rows/shells.ts';
import { TOOLCHAINS } from './rows/toolchains.ts';
import { VERSION_CONTROL } from './rows/version-control.ts';

/** Every name that contextd knows. To add a name, add a line with its source to one of the tables. */
export const NAMES: readonly NameRow[] = [
  ...[AGENTS, INSTRUCTIONS, EDITORS, SHELLS, TOOLCHAINS, BUILDS, VERSION_CONTROL, HARMLESS].flat(),
];

/** The meaning of a name. */
export interface Named {
  readonly action: Exclude<Action, 'harmless'>;
  /** Null if no row has the name: it only looks like a settings file. */
  readonly row: NameRow | null;
  /** A file whose content passes this rule is harmless. Null: the name alone decides. */
  readonly content: ContentRule | null;
}

const SETTINGS_BY_FORM: Named = { action: 'settings', row: null, content: null };

/**
 * The meaning of a path called `name` in the directory `dir`, which is relative to the tree and empty for its root.
 * Null if the path is harmless or ordinary.
 *
 * If a row has the name, the row decides. Longer matches (`directory/name`) win over shorter ones, and exact names over
 * patterns. Otherwise the form decides whether it counts as settings: it starts with a dot, or is in a dot directory
 * without a row, or ends like settings (`foo.toml`, `foo.config.js`, `foo.conf.js`, `_foorc`).
 *
 * Installed packages (`node_modules`) ship settings of editors, shells and package managers. Programs read these only
 * where a person starts them, and a person who starts something there runs the package's code anyway. Names that agents
 * and version control systems look up in every directory count there too. Instructions and settings do not count in
 * directories that package managers and builds fill.
 */
export function classify(dir: string, name: string): Named | null {
  const own = comparable(name);
  const meaning = meaningOf(dir, own);
  if (meaning === 'harmless' || SET_ASIDE_BEFORE.test(own)) return null;
  if (meaning?.action === 'set aside') {
    return partsOf(dir).includes('node_modules') && meaning.row?.isReadInPackages !== true ? null : meaning;
  }
  if (meaning === null && !hasSettingsForm(own) && !isUnknownDotted(dir)) return null;
  if ([...partsOf(dir), own].some((part) => OUTPUT_DIRECTORIES.has(part))) return null;
  return meaning ?? SETTINGS_BY_FORM;
}

function partsOf(dir: string): string[] {
  return comparable(dir).split('/');
}

/** Normalizes a name like file systems that ignore case, width and invisible characters. */
export function comparable(name: string): string {
  return NOT_ASCII.test(name)
    ? name
        .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
        .normalize('NFKC')
        .toLowerCase()
    : name.toLowerCase();
}

/** Suffix of quarantined files: no program reads them under this name. */
const SET_ASIDE_BEFORE = /\.quarantined-[0-9a-f]{8}$/;

const NOT_ASCII = /[^\0-\x7f]/;

/** Name endings of settings files in general. */
const SETTINGS_ENDING = /\.(?:toml|ini|cfg|conf|cnf)$|\.conf(?:ig)?\.[^.]+$|^_.*rc$/;

function hasSettingsForm(name: string): boolean {
  return name.startsWith('.') || SETTINGS_ENDING.test(name);
}

/** Whether a directory starts with a dot and no row has it. */
function isUnknownDotted(dir: string): boolean {
  const name = comparable(lastOf(dir));
  return name.startsWith('.') && meaningOf(aboveOf(dir), name) === null;
}

function lastOf(dir: string): string {
  return dir.slice(dir.lastIndexOf('/') + 1);
}

function aboveOf(dir: string): string {
  return dir.slice(0, Math.max(0, dir.lastIndexOf('/')));
}

/** Null: no row has the name. */
type Meaning = Named | 'harmless' | null;

/** A name pattern with one `*`. */
interface Family {
  readonly start: string;
  readonly end: string;
  readonly meaning: Meaning;
}

/** Names that count in one directory, or in every directory. Most names share no first character with a pattern. */
interface Names {
  readonly whole: Map<string, Meaning>;
  /** Keyed by first character; '' for patterns that start with `*`. */
  readonly families: Map<string, Family[]>;
}

/** Keyed by the directory part of the name; '' for names that count in every directory. */
const BY_DIRECTORIES: ReadonlyMap<string, Names> = group();

function group(): Map<string, Names> {
  const groups = new Map<string, Names>();
  for (const row of NAMES) {
    const meaning: Meaning = row.action === 'harmless' ? 'harmless' : { action: row.action, row, content: row.content };
    for (const path of row.names) {
      const names = groups.get(aboveOf(path)) ?? { whole: new Map(), families: new Map() };
      groups.set(aboveOf(path), names);
      const [start = '', end] = lastOf(path).split('*');
      if (end === undefined) names.whole.set(start, meaning);
      else
        names.families.set(start.charAt(0), [...(names.families.get(start.charAt(0)) ?? []), { start, end, meaning }]);
    }
  }
  return groups;
}

/** The meaning of a name in a directory; the longest match wins. */
function meaningOf(dir: string, name: string): Meaning {
  const parent = comparable(lastOf(dir));
  const above = comparable(lastOf(aboveOf(dir)));
  return (
    meaningIn(`${above}/${parent}`, name) ?? meaningIn(parent, name) ?? (parent === '' ? null : meaningIn('', name))
  );
}

function meaningIn(directories: string, name: string): Meaning {
  const names = BY_DIRECTORIES.get(directories);
  if (names === undefined) return null;
  const isOf = ({ start, end }: Family): boolean =>
    name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
  return (
    names.whole.get(name) ??
    names.families.get(name.charAt(0))?.find(isOf)?.meaning ??
    names.families.get('')?.find(isOf)?.meaning ??
    null
  );
}
