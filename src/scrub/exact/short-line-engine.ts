import type { Span } from '../../text/view.ts';
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
    for (const { from, to, isShort } of linesByLength(text))
      if ((isShort ? this.#short : this.#long()).test(text.slice(from, to))) return true;
    return false;
  }

  findAll(text: string): Span[] {
    if (text.length <= SHORT_CHARS) return this.#short.findAll(text);
    if (!this.#lineLocal) return this.#long().findAll(text);
    const found: Span[] = [];
    for (const { from, to, isShort } of linesByLength(text))
      for (const { start, end } of (isShort ? this.#short : this.#long()).findAll(text.slice(from, to)))
        found.push({ start: from + start, end: from + end });
    return found;
  }

  groups(text: string): (Span | undefined)[] {
    return (text.length <= SHORT_CHARS ? this.#short : this.#long()).groups(text);
  }
}

/** Splits the text into pieces of whole lines: runs of short lines, and runs of long ones. */
function* linesByLength(text: string): Generator<{ from: number; to: number; isShort: boolean }> {
  let from = 0;
  let wasShort = true;
  for (let line = 0; line <= text.length; ) {
    const lineEnd = text.indexOf('\n', line);
    const end = lineEnd === -1 ? text.length : lineEnd;
    const isShort = end - line <= SHORT_CHARS;
    if (isShort !== wasShort) {
      if (line > from) yield { from, to: line - 1, isShort: wasShort };
      from = line;
      wasShort = isShort;
    }
    line = end + 1;
  }
  yield { from, to: text.length, isShort: wasShort };
}
