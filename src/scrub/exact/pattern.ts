import { RE2JS } from 're2js';
import { isLineLocal } from './line-local.ts';
import { ruleFault } from './toml-table.ts';

/** Half open, UTF-16 offsets. */
export interface Range {
  start: number;
  end: number;
}

/** Characters whose lines are tried together before they are tried one by one. */
const BLOCK_CHARS = 4096;

/**
 * A pattern with Go's syntax and meaning, in time linear in the text. The engine below tells quickly whether there is
 * a match (a DFA) and slowly where (an NFA), so the place is looked for in small pieces where the pattern allows it.
 */
export class Pattern {
  readonly #re: RE2JS;
  readonly #lineLocal: boolean;
  readonly groupCount: number;

  /** SCHEMA_INVALID, naming `where`, for a pattern that Go would refuse. */
  constructor(source: string, where: string) {
    try {
      this.#re = RE2JS.compile(source);
    } catch (cause) {
      throw ruleFault(where, `the pattern is refused: ${cause instanceof Error ? cause.message : source}`, cause);
    }
    this.#lineLocal = isLineLocal(source);
    this.groupCount = this.#re.groupCount();
  }

  test(text: string): boolean {
    return this.#re.test(text);
  }

  /** All matches, leftmost first, without overlap. */
  findAll(text: string): Range[] {
    if (!this.#re.test(text)) return [];
    return this.#lineLocal ? this.#findInLines(text) : this.#findIn(text, 0);
  }

  /** The groups of the first match, by number from 1; undefined where a group took no part. */
  groups(text: string): (Range | undefined)[] {
    const matcher = this.#re.matcher(text);
    if (this.groupCount === 0 || !matcher.find()) return [];
    return Array.from({ length: this.groupCount }, (_, group) => {
      const start = matcher.start(group + 1);
      return start < 0 ? undefined : { start, end: matcher.end(group + 1) };
    });
  }

  #findInLines(text: string): Range[] {
    const found: Range[] = [];
    for (let from = 0; from < text.length; ) {
      const to = lineEndFrom(text, from + BLOCK_CHARS);
      if (this.#re.test(text.slice(from, to)))
        for (let line = from; line < to; ) {
          const end = Math.min(to, lineEndFrom(text, line));
          for (const range of this.#findIn(text.slice(line, end), line)) found.push(range);
          line = end + 1;
        }
      from = to + 1;
    }
    return found;
  }

  #findIn(text: string, offset: number): Range[] {
    const found: Range[] = [];
    const matcher = this.#re.matcher(text);
    let at = 0;
    // One character before `at` is kept for \b and ^. What the slice hides can only make a match likelier.
    while (this.#re.test(at === 0 ? text : text.slice(at - 1)) && matcher.find()) {
      found.push({ start: offset + matcher.start(), end: offset + matcher.end() });
      at = matcher.end();
    }
    return found;
  }
}

function lineEndFrom(text: string, from: number): number {
  const end = from >= text.length ? -1 : text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
