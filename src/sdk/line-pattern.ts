import { RE2JS } from 're2js';
import { isPlain, requiredLiteral } from '../text/required-literal.ts';

/** A RE2 pattern for lines. */
export interface LinePattern {
  /** Contained in every line that matches; null: any line may match. */
  readonly literal: string | null;
  matches(line: string): boolean;
  /** Where the first match in a text lies; null without a match. */
  find(text: string): { start: number; end: number } | null;
  /** True if what stands beside a match decides: a piece of a line cannot be searched alone. */
  readonly looksAround: boolean;
}

const LOOKS_AROUND = /[$^]|\\[AbBz]/;

/** Throws what re2js throws for an invalid pattern. Linear in the line for every pattern. */
export function compileLinePattern(pattern: string): LinePattern {
  if (isPlain(pattern)) {
    const find = (text: string) => {
      const start = text.indexOf(pattern);
      return start === -1 ? null : { start, end: start + pattern.length };
    };
    return { literal: pattern, matches: (line) => line.includes(pattern), find, looksAround: false };
  }
  const compiled = RE2JS.compile(pattern);
  return {
    literal: requiredLiteral(pattern),
    matches: (line) => compiled.test(line),
    find: (text) => {
      const matcher = compiled.matcher(text);
      return matcher.find() ? { start: matcher.start(), end: matcher.end() } : null;
    },
    looksAround: LOOKS_AROUND.test(pattern),
  };
}
