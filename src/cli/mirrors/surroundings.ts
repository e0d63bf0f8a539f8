import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import type { RegistrySetting } from '../../core/registries.ts';

/** Where the settings of a person's network clients are looked for. Everything is read as that person. */
export interface Surroundings {
  readonly home: string;
  /** Only variables of `isNetworkVariable`. */
  readonly variables: Readonly<Record<string, string>>;
  /** The root of the file system. */
  readonly root: string;
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

/** The text of a file; null if it cannot be read. */
export function readText(path: string): string | null {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= FILE_MAX_BYTES ? readFileSync(path, 'utf8') : null;
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
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
