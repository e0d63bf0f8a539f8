import { meaningOf } from '../../../text/escapes.ts';
import { editMatches, type View } from '../../../text/view.ts';

const ESCAPES = /\\(?:["'`\\/]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|[0-3][0-7]{2}|[nrtbfe])/g;

/** Text as it is within a string of JSON or of a program: one layer of backslashes taken off. */
export function unescaped(text: string): View | null {
  if (!text.includes('\\')) return null;
  return editMatches(text, ESCAPES, ([written]) => meaningOf(written));
}
