import { type GitEntry, parseGitConfig } from '../../guard/git/config.ts';
import { STAND_IN_FILE } from '../machine/git-stand-in.ts';
import { isTrue, writeEntry } from './config-text.ts';

/** A filter or a merge driver: programs that git runs on the content of files, and so decide what is committed. */
export interface Driver {
  readonly kind: 'filter' | 'merge';
  /** One character per byte. */
  readonly name: string;
  /** By key in lower case: `clean`, `smudge`, `process`, `required`; `driver`, `name`, `recursive`. */
  readonly values: Readonly<Record<string, string | null>>;
}

const KEYS = {
  filter: ['clean', 'smudge', 'process', 'required'],
  merge: ['driver', 'name', 'recursive'],
} as const;

/** The drivers in a configuration. A later value of a key counts; `before` holds what was read earlier. */
export function driversIn(entries: readonly GitEntry[], before: readonly Driver[] = []): Driver[] {
  const drivers = new Map(before.map((driver) => [`${driver.kind}.${driver.name}`, driver]));
  for (const { key, subsection: name, value } of entries) {
    const [kind, word = ''] = key.split('.');
    if ((kind !== 'filter' && kind !== 'merge') || name === null || value?.includes('\0')) continue;
    if (!KEYS[kind].some((known) => known === word)) continue;
    const id = `${kind}.${name}`;
    drivers.set(id, { kind, name, values: { ...drivers.get(id)?.values, [word]: value } });
  }
  return [...drivers.values()];
}

/** Whether commands have a program: a name that is searched for, or a path. */
export type HasProgram = (program: string) => boolean;

/**
 * A driver as git inside gets it. git takes the content as it is if a filter fails that is not `required`, so inside every
 * filter is: a failure that only the sandbox causes must not commit other content than the host would. In place of a
 * program that commands do not have, a stand-in refuses.
 */
export function writeDriver(driver: Driver, hasProgram: HasProgram): string {
  const missing = missingOf(driver, hasProgram);
  return write(driver, missing === null ? asRequired(driver) : standIn(driver, missing));
}

/**
 * A repository's configuration, in which its drivers are as git inside gets them. `included`: the entries of the files that
 * it includes.
 */
export function withDrivers(
  text: string,
  included: readonly GitEntry[],
  drivers: readonly Driver[],
  hasProgram: HasProgram,
): string {
  const own = parseGitConfig(text) ?? [];
  const all = [...own, ...included];
  const changed = driversIn(all, drivers).filter(
    // Commands may not have the file that is included, so its drivers are always written.
    (driver) =>
      included.some((entry) => isOf(entry, driver)) ||
      (own.some((entry) => isOf(entry, driver)) && !isAsInside(driver, hasProgram)),
  );
  if (changed.length === 0) return text;
  const kept = own.filter((entry) => !changed.some((driver) => isOf(entry, driver)));
  const written = changed.map((driver) => writeDriver(driver, hasProgram) + stopProcess(driver, included, hasProgram));
  return `${kept.map(writeEntry).join('')}${written.join('')}`;
}

function isOf({ key, subsection }: GitEntry, { kind, name }: Driver): boolean {
  return key.startsWith(`${kind}.`) && subsection === name;
}

function isAsInside(driver: Driver, hasProgram: HasProgram): boolean {
  return missingOf(driver, hasProgram) === null && asRequired(driver) === driver.values;
}

/** Nothing but another process takes the place of a process in an included file. */
function stopProcess(driver: Driver, included: readonly GitEntry[], hasProgram: HasProgram): string {
  const missing = missingOf(driver, hasProgram);
  const isIncluded = included.some((entry) => entry.key === 'filter.process' && isOf(entry, driver));
  return missing !== null && isIncluded ? write(driver, { process: standInFor('process', driver, missing) }) : '';
}

function write({ kind, name }: Driver, values: Driver['values']): string {
  const entries = Object.entries(values).map(([key, value]) => ({ key: `${kind}.${key}`, subsection: name, value }));
  return entries.map(writeEntry).join('');
}

/** The first program that commands do not have; null if they have all. */
function missingOf({ values }: Driver, hasProgram: HasProgram): string | null {
  for (const key of ['clean', 'smudge', 'process', 'driver']) {
    const command = values[key];
    const missing = command ? missingIn(command, hasProgram) : null;
    if (missing !== null) return missing;
  }
  return null;
}

/** `cat` for a direction that has no program: git refuses content of a required filter without one. */
function asRequired({ kind, values }: Driver): Driver['values'] {
  if (kind === 'merge' || isTrue(values.required ?? (values.required === null ? null : 'false'))) return values;
  if (values.process) return { ...values, required: 'true' };
  return { ...values, clean: values.clean || 'cat', smudge: values.smudge || 'cat', required: 'true' };
}

function standIn(driver: Driver, missing: string): Driver['values'] {
  const { kind, name, values } = driver;
  if (kind === 'merge') return { name: values.name ?? name, driver: standInFor('merge', driver, missing) };
  const [clean, smudge] = [standInFor('clean', driver, missing), standInFor('smudge', driver, missing)];
  return { clean: `${clean} %f`, smudge: `${smudge} %f`, required: 'true' };
}

function standInFor(what: string, { name }: Driver, missing: string): string {
  return `sh /etc/${STAND_IN_FILE} ${what} ${quoteWord(name)} ${quoteWord(missing)}`;
}

/** git replaces `%f` in a command; the shell does the rest. */
function quoteWord(text: string): string {
  return `'${text.replace(/[^\w./+@=, -]/g, '?')}'`;
}

/**
 * The program of a command that is missing, or the command itself if it is more than one program with plain arguments: of a
 * pipe whose first program is missing, git would take the empty output.
 */
function missingIn(command: string, hasProgram: HasProgram): string | null {
  const program = programOf(command);
  return program === null ? command : hasProgram(program) ? null : program;
}

/** Text in quotes, in which the shell replaces nothing, or one character after a backslash. */
const QUOTED = `'[^']*'|"(?:[^"\\\\$\`]|\\\\[\\\\"$\`])*"|\\\\.`;
/** One word of a command in which the shell only removes quotes. */
const WORD = new RegExp(
  `^(?:[^\\s'"\\\\$\`|&;<>(){}#~!*?[\\]]|${QUOTED})(?:[^\\s'"\\\\$\`|&;<>(){}*?[\\]]|${QUOTED})*(?=\\s|$)`,
  's',
);

/** The first word of a simple command; null for any other command. */
function programOf(command: string): string | null {
  let program: string | null = null;
  for (let rest = command.trim(); rest !== ''; rest = rest.trimStart()) {
    const word = WORD.exec(rest)?.[0];
    if (word === undefined) return null;
    program ??= word.replace(/\\(.)|['"]/gs, '$1');
    rest = rest.slice(word.length);
  }
  return program?.includes('=') ? null : program;
}
