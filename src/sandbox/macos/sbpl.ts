import { ContextdError } from '../../core/errors.ts';
import { compileGlobs, expandBraces } from '../../fs/glob.ts';

/**
 * A string of the profile language, which is a Scheme: only the quote and the backslash have a meaning inside a string,
 * so every path stays one string. Throws PATH_INVALID for NUL, which would end the profile.
 */
export function quote(text: string): string {
  if (text.includes('\0')) {
    throw new ContextdError('PATH_INVALID', `${JSON.stringify(text)} holds a NUL character`, {
      remedy: 'Rename it.',
    });
  }
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

export function subpath(path: string): string {
  return `(subpath ${quote(path)})`;
}

export function literal(path: string): string {
  return `(literal ${quote(path)})`;
}

/** A filter for paths that match a regular expression of the profile language. */
export function regex(pattern: string): string {
  return `(regex ${quote(pattern)})`;
}

/** `(allow OPERATIONS FILTERS…)`, or nothing: without a filter a rule would apply to every path. */
export function rule(verdict: 'allow' | 'deny', operations: string, filters: readonly string[]): string[] {
  if (filters.length === 0) return [];
  return [`(${verdict} ${operations}`, ...filters.map((filter) => `  ${filter}`), ')'];
}

/** A regular expression that matches exactly the text. */
export function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** Like `escapeRegex`, but for either case: a Mac's file system treats `.GIT` as `.git`. */
export function escapeAnyCase(text: string): string {
  return escapeRegex(text).replaceAll(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}

/**
 * What a deny glob matches, as a regular expression for the path below the workspace: as in fs/glob.ts, but in
 * either case, and including everything below a match. If such an expression cannot say the same, it matches more: what
 * is denied stays denied. Throws SCHEMA_INVALID as fs/glob.ts does.
 */
export function globToRegex(glob: string): string {
  compileGlobs([glob]);
  return `(${expandBraces(glob).map(translate).join('|')})(/.*)?`;
}

/** Ignores a trailing slash, which means directories only: the kind of the file is not known. */
function translate(pattern: string): string {
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.');
  const isRooted = pattern.replace(/\/$/, '').includes('/');
  const last = parts.length - 1;
  const translated = parts.map((part, i) => {
    if (part === '**') return i === last ? '.+' : '(.*/)?';
    return `${translateName(part)}${i === last ? '' : '/'}`;
  });
  return `${isRooted ? '' : '(.*/)?'}${translated.join('')}`;
}

/** One name: a set, an escaped character, a run of stars, a question mark, or the character itself. */
const NAME_PART = /\[([!^]|(?![!^]))(\][^\]]*|[^\]]+)\]|\\(.)|(\*+)|(\?)|(.)/gsu;

function translateName(name: string): string {
  return name.replaceAll(NAME_PART, (_, negation, set, escaped, stars, question, char) => {
    if (set !== undefined) return translateSet(negation !== '', set);
    if (stars !== undefined) return '[^/]*';
    return question === undefined ? escapeAnyCase(escaped ?? char) : '[^/]';
  });
}

/** Letters, digits, a few signs and ranges of one kind; a set with anything else matches any character. */
const PLAIN_SET = /^([a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d|[\w.~+@ ])+$/;

function translateSet(negated: boolean, set: string): string {
  const descends = [...set.matchAll(/(.)-(.)/gs)].some(([, from = '', to = '']) => from > to);
  if (!PLAIN_SET.test(set) || descends) return '[^/]';
  if (negated) return `[^/${set}]`;
  return `[${set.replaceAll(/[a-z]-[a-z]|[a-z]/gi, (part) => part.toLowerCase() + part.toUpperCase())}]`;
}
