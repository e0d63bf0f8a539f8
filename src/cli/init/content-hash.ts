import { createHash } from 'node:crypto';

/** SHA-256 of the text as UTF-8, hexadecimal. */
export function contentHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const MARK = /(?:<!-- managed by ctxd init ([0-9a-f]{12}) -->|\/\/ managed by ctxd init ([0-9a-f]{12}))\n$/;

/**
 * Adds a last line with a hash of the text and of `also`, by which a later `ctxd init` knows that nobody changed them.
 */
export function withMark(text: string, also: readonly string[] = []): string {
  return `${text}<!-- managed by ctxd init ${digest(text, also)} -->\n`;
}

/** The same mark as a comment of JavaScript. */
export function withScriptMark(text: string): string {
  return `${text}// managed by ctxd init ${digest(text, [])}\n`;
}

/** Returns true if the text has a mark that matches: contextd wrote it and nobody has changed it. */
export function isMarked(text: string, also: readonly string[] = []): boolean {
  const found = MARK.exec(text);
  return found !== null && (found[1] ?? found[2]) === digest(text.slice(0, found.index), also);
}

/** Returns true if the text has a mark, matching or not: `ctxd init` wrote it, and a person may have changed it since. */
export function hasMark(text: string): boolean {
  return /^(?:<!--|\/\/) managed by ctxd init [0-9a-f]{12}(?: -->)?\r?$/m.test(text);
}

function digest(text: string, also: readonly string[]): string {
  return contentHash([text, ...also].map((one) => `${one.length}:${one}`).join('')).slice(0, 12);
}
