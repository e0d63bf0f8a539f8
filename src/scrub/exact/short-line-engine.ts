import type { Span } from '../../text/offset-map.ts';
import { type GoNode, isLineLocal } from './go-tree.ts';
import type { Engine } from './linear-engine.ts';
import { NativeEngine } from './native-engine.ts';

/** Texts, and lines, up to this long are searched by the JavaScript regular expression. */
export const SHORT_CHARS = 512;

/**
 * For a pattern that is slow on long texts as a JavaScript regular expression, but not on short ones: it searches short
 * texts, and the short lines of a longer text if no match looks beyond its line. `long` searches the rest.
 */
export class ShortLineEngine implements Engine {
  readonly #short: NativeEngine;
  readonly #long: () => Engine;
  readonly #lineLocal: boolean;
  readonly hasGroups: boolean;

  constructor(tree: GoNode, long: () => Engine) {
    this.#short = new NativeEngine(tree);
    this.#long = long;
    this.#lineLocal = isLineLocal(tree);
    this.hasGroups = this.#short.hasGroups;
  }

  test(text: string): boolean {
    if (text.length <= SHORT_CHARS) return this.#short.test(text);
    if (!this.#lineLocal) return this.#long().test(text);
    for (const { start, end, isShort } of linesByLength(text, { start: 0, end: text.length }))
      if ((isShort ? this.#short : this.#long()).test(text.slice(start, end))) return true;
    return false;
  }

  findAll(text: string, parts: readonly Span[] = [{ start: 0, end: text.length }]): Span[] {
    const found: Span[] = [];
    for (const { start, end, isShort } of parts.flatMap((part) => this.#split(text, part)))
      for (const span of (isShort ? this.#short : this.#long()).findAll(text, [{ start, end }])) found.push(span);
    return found;
  }

  #split(text: string, part: Span): (Span & { isShort: boolean })[] {
    const isShort = part.end - part.start <= SHORT_CHARS;
    return isShort || !this.#lineLocal ? [{ ...part, isShort }] : [...linesByLength(text, part)];
  }

  groups(text: string): (Span | undefined)[] {
    return (text.length <= SHORT_CHARS ? this.#short : this.#long()).groups(text);
  }
}

/** Splits a part of a text into pieces of whole lines: runs of short lines, and runs of long ones. */
function* linesByLength(text: string, part: Span): Generator<Span & { isShort: boolean }> {
  let start = part.start;
  let wasShort = true;
  for (let line = part.start; line <= part.end; ) {
    const lineEnd = text.indexOf('\n', line);
    const end = lineEnd === -1 ? part.end : Math.min(lineEnd, part.end);
    const isShort = end - line <= SHORT_CHARS;
    if (isShort !== wasShort) {
      if (line > start) yield { start, end: line - 1, isShort: wasShort };
      start = line;
      wasShort = isShort;
    }
    line = end + 1;
  }
  yield { start, end: part.end, isShort: wasShort };
}
