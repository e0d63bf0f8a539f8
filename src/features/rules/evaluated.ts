import { hasHole } from './pattern.ts';

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
