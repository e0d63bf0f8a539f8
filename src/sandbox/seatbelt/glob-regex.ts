import { compileGlobs } from '../workspace/glob.ts';
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

/** `a{b,c}d` as `abd` and `acd`; braces without a comma mean themselves. */
function expandBraces(pattern: string): string[] {
  for (let start = 0; start < pattern.length; start++) {
    if (pattern[start] === '\\') start++;
    else if (pattern[start] === '{') {
      const { end, choices } = readBraces(pattern, start);
      if (choices.length < 2) continue;
      const [before, after] = [pattern.slice(0, start), pattern.slice(end + 1)];
      return choices.flatMap((choice) => expandBraces(before + choice + after));
    }
  }
  return [pattern];
}

/** What the braces at `start` offer; nothing where they are not closed. */
function readBraces(pattern: string, start: number): { end: number; choices: string[] } {
  const choices: string[] = [];
  let [depth, from] = [0, start + 1];
  for (let i = start + 1; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === '\\') i++;
    else if (char === '{') depth++;
    else if (depth === 0 && (char === ',' || char === '}')) {
      choices.push(pattern.slice(from, i));
      from = i + 1;
      if (char === '}') return { end: i, choices };
    } else if (char === '}') depth--;
  }
  return { end: start, choices: [] };
}
