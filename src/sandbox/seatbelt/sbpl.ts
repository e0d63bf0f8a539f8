import { ContextdError } from '../../core/errors.ts';
import { compileGlobs, expandBraces } from '../workspace/glob.ts';

/**
 * A string of the profile language, which is a Scheme: only the quote and the backslash mean anything inside one, so any
 * path stays one string. Throws PATH_INVALID for NUL, which would end the profile where it stands.
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

/** A filter for the paths that match, given as a regular expression of the profile's simple kind. */
export function regex(pattern: string): string {
  return `(regex ${quote(pattern)})`;
}

/** `(allow OPERATIONS FILTERS…)`, or nothing: without a filter a rule would hold for every path. */
export function rule(verdict: 'allow' | 'deny', operations: string, filters: readonly string[]): string[] {
  if (filters.length === 0) return [];
  return [`(${verdict} ${operations}`, ...filters.map((filter) => `  ${filter}`), ')'];
}

/** The text itself and nothing else, as a regular expression. */
export function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** As `escapeRegex`, in either case: a Mac's file system takes `.GIT` for `.git`. */
export function escapeAnyCase(text: string): string {
  return escapeRegex(text).replaceAll(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}

/**
 * What a deny glob matches, as a regular expression for the path below the workspace: as in workspace/glob.ts, but in
 * either case, and with everything that lies in a match. Where a regular expression of this kind cannot say the same, it
 * matches more: denied stays denied. Throws SCHEMA_INVALID as that does.
 */
export function globToRegex(glob: string): string {
  compileGlobs([glob]);
  return `(${expandBraces(glob).map(translate).join('|')})(/.*)?`;
}

/** A slash at the end, for directories only, is left out of account: the kind of what is asked for is not known. */
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

/** Letters, digits, a few signs and ranges of one kind; a set with anything else stands for any character. */
const PLAIN_SET = /^([a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d|[\w.~+@ ])+$/;

function translateSet(negated: boolean, set: string): string {
  const descends = [...set.matchAll(/(.)-(.)/gs)].some(([, from = '', to = '']) => from > to);
  if (!PLAIN_SET.test(set) || descends) return '[^/]';
  if (negated) return `[^/${set}]`;
  return `[${set.replaceAll(/[a-z]-[a-z]|[a-z]/gi, (part) => part.toLowerCase() + part.toUpperCase())}]`;
}
