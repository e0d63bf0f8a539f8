import { isJsonObject, type Json } from '../../../core/json.ts';
import type { NamedValue } from './seed-value.ts';

/** Reads what a text holds. Never throws: a file that is not what it should be holds nothing. */
export type SeedFormat = (text: string) => NamedValue[];

/** `.env`: `export NAME="value" # comment`. A quoted value may have several lines; its escapes are read and left. */
export const readDotenv: SeedFormat = (text) => {
  const line = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*("(?:[^"\\]|\\[\s\S])*"|'[^']*'|`[^`]*`|[^\r\n]*)/gm;
  const read = [...text.matchAll(line)].flatMap(([, name = '', written = '']) => {
    const quote = /^(["'`])([\s\S]*)\1$/.exec(written);
    if (quote === null) return [{ name, value: written.replace(/[ \t]#.*$/, '').trim() }];
    const inner = quote[2] ?? '';
    const plain = quote[1] === '"' ? unescaped(inner) : inner;
    return [...new Set([inner, plain])].map((value) => ({ name, value }));
  });
  // A quote that is not closed takes the lines after it along: line by line they are still read.
  return [...read, ...readAssignments(text)];
};

/** `name = value` and `name: value`, one a line, quoted or not: INI, TOML and YAML. */
export const readAssignments: SeedFormat = (text) =>
  [...text.matchAll(/^[ \t-]*"?([^\s=:#;"][^\s="]*?)"?[ \t]*[=:][ \t]*(.*)$/gm)].map(([, name = '', written = '']) => ({
    name,
    value: written.trim().replace(/^(["'])(.*)\1(?:[ \t]*#.*)?$/, '$2'),
  }));

/** npm's own: `//host/:name=value`, where the name holds colons. */
export const readNpmrc: SeedFormat = (text) =>
  [...text.matchAll(/^[ \t]*([^\s=;#][^=\r\n]*?)[ \t]*=[ \t]*(.*)$/gm)].map(([, name = '', written = '']) => ({
    name,
    value: written.trim().replace(/^(["'])(.*)\1$/, '$2'),
  }));

/** Every string of a JSON document, under the name of its property. */
export const readJson: SeedFormat = (text) => {
  try {
    const value: Json = JSON.parse(text);
    return namedStrings(value, '', 0);
  } catch {
    return [];
  }
};

/** `machine`, `login` and `password`, each before its value, in any order of words. */
export const readNetrc: SeedFormat = (text) =>
  [...text.matchAll(/(?:^|\s)(password|account)\s+("(?:[^"\\]|\\.)*"|\S+)/g)].map(([, name = '', written = '']) => ({
    name,
    value: written.startsWith('"') ? unescaped(written.slice(1, -1)) : written,
  }));

/** `host:port:database:user:password`, where `\:` and `\\` stand for themselves. */
export const readPgpass: SeedFormat = (text) =>
  text.split(/\r?\n/).flatMap((line) => {
    const fields = line.startsWith('#') ? [] : line.split(/(?<!\\)(?:\\\\)*:/);
    const written = fields.slice(4).join(':');
    return [...new Set([written, written.replaceAll(/\\([\\:])/g, '$1')])].map((value) => ({
      name: 'password',
      value,
    }));
  });

/** One URL a line. */
export const readUrls: SeedFormat = (text) =>
  text.split(/\r?\n/).map((value) => ({ name: 'url', value: value.trim() }));

/** The values whose name is among these, and for those in base64 (`user:password`, a PEM block) what they stand for. */
export function only(names: RegExp, read: SeedFormat): SeedFormat {
  return (text) =>
    read(text)
      .filter(({ name }) => names.test(name))
      .flatMap(({ name, value }) => [value, ...fromBase64(value)].map((one) => ({ name, value: one })));
}

/** Nothing unless what comes out is text. */
function fromBase64(value: string): string[] {
  if (!/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)) return [];
  const text = Buffer.from(value, 'base64').toString('utf8');
  if (!/^[\t\n\r\x20-\x7e]{4,}$/.test(text)) return [];
  const colon = text.indexOf(':');
  return text.startsWith('-----BEGIN') || colon === -1 ? [text] : [text.slice(colon + 1)];
}

function namedStrings(value: Json, name: string, depth: number): NamedValue[] {
  if (typeof value === 'string') return [{ name, value }];
  if (depth > 20 || typeof value !== 'object' || value === null) return [];
  if (!isJsonObject(value)) return [...value].flatMap((item: Json) => namedStrings(item, name, depth + 1));
  return Object.entries(value).flatMap(([key, item]) => namedStrings(item, key, depth + 1));
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([\s\S])/g, (_escape, char: string) => ({ n: '\n', r: '\r', t: '\t' })[char] ?? char);
}
