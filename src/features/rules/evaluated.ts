import type { For, ParameterExpansionPart, Select } from 'unbash';
import { hasHole } from './pattern.ts';
import { isQuiet } from './quiet.ts';
import { wordText } from './words.ts';
import { baseName } from './wrappers.ts';

/** What a shell runs when it starts or shows a prompt: a file by its name, or a text. */
const EVALUATED = /^(?:BASH_ENV|PROMPT_COMMAND|PS0|PS4|BASH_ALIASES(?:\[.*\])?)\+?=/s;

/**
 * Whether an assignment makes a shell run what the text does not show. The name of a file in BASH_ENV counts: every shell that starts
 * runs it first.
 */
export function isEvaluated(assignment: string): boolean {
  const name = EVALUATED.exec(assignment)?.[0];
  if (name === undefined) return /^ENV=[^\s]*\//.test(assignment);
  const value = assignment.slice(name.length);
  if (name.startsWith('BASH_')) return value !== '';
  return hasHole(value);
}

/** What a shell with a prompt runs by an assignment. '' if that is nothing. */
export function promptCommandIn(assignment: string): string {
  return /^PROMPT_COMMAND\+?=(.*)$/s.exec(assignment)?.[1] ?? '';
}

/** Builtins that set the variables whose names are among their words. */
const SETTING = new Set(['declare', 'getopts', 'local', 'mapfile', 'printf', 'read', 'readarray', 'typeset', 'wait']);
const NAME = /^(?:-v|.*=)?(BASH_ENV|ENV|PROMPT_COMMAND|PS0|PS4|BASH_ALIASES)$/s;

/** Whether a builtin sets such a variable by its name. `given`: what it reads. */
export function isSetByName([name = '', ...words]: readonly string[], given: string): boolean {
  if (!SETTING.has(name)) return false;
  return words.some((word) => {
    const [, variable] = NAME.exec(word) ?? [];
    if (variable === undefined) return false;
    // It is given no value by these.
    if (word === variable && ['declare', 'local', 'typeset'].includes(name)) return false;
    return variable !== 'ENV' || isEvaluated(`ENV=${[given, ...words].join('')}`);
  });
}

/** The name of a variable whose value is a file that a shell runs, except where the value is only read. */
const NAMES_FILE = /(?<![\w$])(?:(?:BASH_ENV|BASH_ALIASES)(?!\w)|ENV=\S*\/)/;
const SETS_PROMPT = /(?<![\w$])(?:PROMPT_COMMAND|PS0|PS4)\+?=/;

/**
 * Whether a program of which nothing is known may run a text that sets such a variable: a word, or what it reads. The texts are
 * not parsed, because most are no shell source.
 */
export function maySetByText([first = '', ...rest]: readonly string[], given: string): boolean {
  if (isQuiet(baseName(first), rest)) return false;
  const setsPrompt = (word: string): boolean => SETS_PROMPT.test(word) && (hasHole(word) || /\$\{?\w/.test(word));
  return [...rest, given].some((text) => NAMES_FILE.test(text)) || rest.some(setsPrompt);
}

/** Whether a loop or an expansion sets such a variable: `for BASH_ENV in …`, `${BASH_ENV:=…}`. */
export function setsEvaluated(node: object): boolean {
  switch ('type' in node ? node.type : '') {
    case 'For':
    case 'Select': {
      const { name, wordlist } = node as For | Select;
      return wordlist.some((word) => isEvaluated(`${name.value}=${wordText(word)}`));
    }
    case 'ParameterExpansion': {
      const { parameter, operator, operand } = node as ParameterExpansionPart;
      const value = operand === undefined ? '' : wordText(operand);
      return (operator === '=' || operator === ':=') && isEvaluated(`${parameter}=${value}`);
    }
    default:
      return false;
  }
}
