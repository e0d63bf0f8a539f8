import { RE2JS } from 're2js';
import { isPlain, requiredLiteral } from '../text/required-literal.ts';

/** A RE2 pattern for lines. */
export interface LinePattern {
  /** Contained in every line that matches; null: any line may match. */
  readonly literal: string | null;
  matches(line: string): boolean;
}

/** Throws what re2js throws for an invalid pattern. Linear in the line for every pattern. */
export function compileLinePattern(pattern: string): LinePattern {
  if (isPlain(pattern)) return { literal: pattern, matches: (line) => line.includes(pattern) };
  const compiled = RE2JS.compile(pattern);
  return { literal: requiredLiteral(pattern), matches: (line) => compiled.test(line) };
}
