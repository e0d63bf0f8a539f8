import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import type { RegistrySetting } from '../../core/registries.ts';
import { isNetworkPath } from '../../core/variable-names.ts';

/** Where the settings of a person's network clients are looked for. Everything is read as that person. */
export interface Places {
  readonly home: string;
  /** Only variables of `isNetworkVariable`. */
  readonly variables: Readonly<Record<string, string>>;
  /** The program that may have set the variables from the files of a project; null if none shows itself. */
  readonly projectRunner: string | null;
  /** The root of the file system. */
  readonly root: string;
  /** The repository or directory in which ctxd was started; null outside of any. Nothing in it is read. */
  readonly project: string | null;
}

/** Places that nobody but the person decides about. */
export class Surroundings {
  readonly home: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly root: string;
  readonly #project: string | null;
  readonly #notes = new Set<string>();

  constructor({ home, variables, projectRunner, root, project }: Places) {
    this.home = home;
    this.root = root;
    this.#project = project === null ? null : realPath(project);
    this.variables = projectRunner === null ? this.#withoutForeignPaths(variables) : {};
    // npm itself sets these two in any case.
    const isLost = Object.keys(variables).some((name) => !/^npm_config_(?:user|global)config$/.test(name));
    if (projectRunner !== null && isLost)
      this.#notes.add(
        `the variables: ${projectRunner} started ctxd and may have set them from the project. To use them, run ctxd by itself.`,
      );
  }

  /** What was left out because a project decides about it, one sentence each. */
  get notes(): readonly string[] {
    return [...this.#notes];
  }

  /** The text of a file; null if it cannot be read, lies in the project, or if the path is relative. */
  readText(path: string): string | null {
    if (!isAbsolute(path)) return null;
    try {
      const stats = statSync(path);
      if (!stats.isFile() || stats.size > FILE_MAX_BYTES || this.isInProject(path)) return null;
      return readFileSync(path, 'utf8');
    } catch (cause) {
      if (isErrno(cause)) return null;
      throw cause;
    }
  }

  /** Whether others decide what a place holds. It is noted then. */
  isInProject(path: string): boolean {
    const isInside = this.#project !== null && isWithin(this.#project, realPath(path));
    if (isInside) this.#notes.add(`${path}: it lies in the project, where others decide what it says.`);
    return isInside;
  }

  /** A relative path means another file in each directory, and in the project one of the project. */
  #withoutForeignPaths(variables: Places['variables']): Places['variables'] {
    const kept = Object.entries(variables).filter(([name, value]) => {
      if (!isNetworkPath(name) || value === 'off') return true;
      if (isAbsolute(value)) return !this.isInProject(value);
      this.#notes.add(`the environment: ${name} is not an absolute path.`);
      return false;
    });
    return Object.fromEntries(kept);
  }
}

/** The files in a directory, sorted. */
export function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .sort()
      .map((name) => join(directory, name));
  } catch (cause) {
    if (isErrno(cause)) return [];
    throw cause;
  }
}

/** With links resolved if the path exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    // A file that does not exist yet may be made later.
    if (isErrno(cause)) return resolve(path);
    throw cause;
  }
}

/** What the settings of one client say. */
export interface ClientFindings {
  readonly settings: readonly RegistrySetting[];
  /** Files of certificates, by the variable with which a program finds them. */
  readonly caFiles: readonly { readonly variable: string; readonly path: string }[];
  /** What was left out and why, one sentence each. */
  readonly notes: readonly string[];
}

/** Collects what a client's settings say, in the order of their precedence: the first value of a key counts. */
export class Findings implements ClientFindings {
  readonly settings: RegistrySetting[] = [];
  readonly caFiles: { variable: string; path: string }[] = [];
  readonly notes: string[] = [];
  readonly #client: string;
  readonly #where: string;

  constructor(client: string, where: string) {
    this.#client = client;
    this.#where = where;
  }

  /** A setting whose value is a URL. A credential in it is left out. */
  addUrl(key: string, value: string, isDefault: (url: string) => boolean = () => false): void {
    const clean = this.clean(key, value);
    if (clean !== null && !isDefault(clean)) this.settings.push({ client: this.#client, key, value: clean });
  }

  addWords(key: string, value: string): void {
    this.settings.push({ client: this.#client, key, value });
  }

  addCaFile(variable: string, path: string): void {
    if (path !== '') this.caFiles.push({ variable, path });
  }

  /** The URL without credentials; null if it cannot be used in a sandbox. */
  clean(key: string, value: string): string | null {
    const [, prefix = '', text = ''] = /^(sparse\+)?(.*)$/s.exec(value.trim()) ?? [];
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol)) {
      if (text !== '') this.note(key, 'is not a web address');
      return null;
    }
    if (`${url.username}${url.password}` !== '') this.note(key, 'has a password, which stays outside');
    url.username = '';
    url.password = '';
    url.search = '';
    url.hash = '';
    return `${prefix}${url.href}`;
  }

  note(key: string, why: string): void {
    this.notes.push(`${this.#where}: ${key} ${why}.`);
  }
}

const FILE_MAX_BYTES = 1024 * 1024;

/** The variable under any spelling of its name, as npm and pip read theirs. */
export function variableOf({ variables }: Surroundings, name: string): string | undefined {
  const found = Object.entries(variables).find(([one]) => one.toLowerCase() === name.toLowerCase());
  return found?.[1] === '' ? undefined : found?.[1];
}

/** `$XDG_CONFIG_HOME`, or the directory that takes its place. */
export function configHome({ home, variables }: Surroundings): string {
  const given = variables.XDG_CONFIG_HOME ?? '';
  return given.startsWith('/') ? given : join(home, '.config');
}

/**
 * `key = value` lines by section; '' before the first. A line that is indented continues the value before it, and a key
 * that occurs again gets one more value.
 */
export function parseIni(text: string): Map<string, Map<string, string[]>> {
  const sections = new Map<string, Map<string, string[]>>();
  let section = new Map<string, string[]>();
  let last: string[] | null = null;
  sections.set('', section);
  for (const line of text.split(/\r?\n/)) {
    const [, name] = /^\s*\[([^\]]+)\]\s*$/.exec(line) ?? [];
    const [, key, value = ''] = /^([^\s=;#][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) {
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
      last = null;
    } else if (key !== undefined) {
      last = section.get(key) ?? [];
      if (value !== '') last.push(unquote(value));
      section.set(key, last);
    } else if (/^\s+[^\s;#]/.test(line)) {
      last?.push(unquote(line.trim()));
    }
  }
  return sections;
}

export function unquote(text: string): string {
  return /^(["']).*\1$/s.test(text) ? text.slice(1, -1) : text;
}
