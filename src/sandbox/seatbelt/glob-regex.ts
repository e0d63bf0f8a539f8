import { compileGlobs, expandBraces } from '../workspace/glob.ts';
import { escapeAnyCase } from './sbpl.ts';

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
