import { RE2JS } from 're2js';
import type { Span } from '../../text/offset-map.ts';
import { parseGo } from './go-syntax.ts';
import { isLineLocal, maxLength, seesTextStart } from './go-tree.ts';

/** Runs a pattern. */
export interface Engine {
  test(text: string): boolean;
  /** `parts`: each is searched as a text of its own, in order of place. Default: the whole text. */
  findAll(text: string, parts?: readonly Span[]): Span[];
  groups(text: string): (Span | undefined)[];
  /** Whether `groups` returns what Go returns. */
  readonly hasGroups: boolean;
}

/** Characters searched together; if they contain a match, they are searched again in pieces. */
const BLOCK_CHARS = 4096;
const PIECE_CHARS = 256;
/** Patterns with longer matches are not searched in blocks, because blocks overlap by this much. */
const MAX_OVERLAP_CHARS = 2048;

/**
 * A pattern in re2js: time is linear in the text whatever the pattern. It is fast at telling whether there is a match
 * (a DFA) and slow at telling where (an NFA), so it looks for the place in small pieces if the pattern allows it:
 * lines, if no match looks beyond its line, or blocks that overlap by the longest match.
 */
export class LinearEngine implements Engine {
  readonly #re: RE2JS;
  readonly #lineLocal: boolean;
  readonly #longest: number;
  readonly hasGroups = true;

  /** Throws GoSyntaxError, or an error of re2js, for a pattern that Go refuses. */
  constructor(source: string) {
    const tree = parseGo(source);
    this.#re = RE2JS.compile(source);
    this.#lineLocal = isLineLocal(tree);
    this.#longest = seesTextStart(tree) ? Number.POSITIVE_INFINITY : maxLength(tree);
  }

  test(text: string): boolean {
    return this.#re.test(text);
  }

  findAll(text: string, parts?: readonly Span[]): Span[] {
    if (parts !== undefined) return findInParts(text, parts, (part) => this.findAll(part));
    if (!this.#re.test(text)) return [];
    const found: Span[] = [];
    if (this.#lineLocal) this.#findInLines(text, found);
    else if (this.#longest <= MAX_OVERLAP_CHARS)
      this.#findInBlocks(text, { from: 0, to: text.length }, BLOCK_CHARS, found);
    else this.#find(text, { from: 0, to: text.length, offset: 0 }, found);
    return found;
  }

  groups(text: string): (Span | undefined)[] {
    const matcher = this.#re.matcher(text);
    const count = this.#re.groupCount();
    if (count === 0 || !matcher.find()) return [];
    return Array.from({ length: count }, (_, group) => {
      const start = matcher.start(group + 1);
      return start < 0 ? undefined : { start, end: matcher.end(group + 1) };
    });
  }

  #findInLines(text: string, found: Span[]): void {
    for (let from = 0; from <= text.length; ) {
      const to = lineEndFrom(text, from + BLOCK_CHARS);
      if (this.#re.test(text.slice(from, to)))
        for (let line = from; line <= to; ) {
          const end = Math.min(to, lineEndFrom(text, line));
          this.#find(text.slice(line, end), { from: 0, to: end - line, offset: line }, found);
          line = end + 1;
        }
      from = to + 1;
    }
  }

  /**
   * Finds matches that start in a part of the text. Each block includes everything a match from it can reach or see.
   */
  #findInBlocks(text: string, part: { from: number; to: number }, size: number, found: Span[]): void {
    for (let from = part.from; from <= part.to; from += size) {
      const to = Math.min(part.to, from + size);
      const first = Math.max(from, found.at(-1)?.end ?? 0);
      const offset = Math.max(0, first - CONTEXT_CHARS);
      const slice = text.slice(offset, to + this.#longest + CONTEXT_CHARS);
      if (first > to || !this.#re.test(slice)) continue;
      if (size > PIECE_CHARS) this.#findInBlocks(text, { from: first, to }, PIECE_CHARS, found);
      else this.#find(slice, { from: first - offset, to: to - offset, offset }, found);
    }
  }

  /** Matches that start in a part of the slice, which lies at `offset` of the text. */
  #find(slice: string, { from, to, offset }: { from: number; to: number; offset: number }, found: Span[]): void {
    const matcher = this.#re.matcher(slice);
    // The cut can only make a match more likely, so "no match" is reliable.
    for (let at = from; at <= to && this.#re.test(at === 0 ? slice : slice.slice(at - 1)); ) {
      if (!matcher.find(at) || matcher.start() > to) return;
      const range = { start: offset + matcher.start(), end: offset + matcher.end() };
      const isEmpty = range.start === range.end;
      // Go skips an empty match that touches the match before it.
      if (!isEmpty || range.end !== found.at(-1)?.end) found.push(range);
      at = matcher.end() + (isEmpty ? charLength(slice, matcher.end()) : 0);
    }
  }
}

/** Searches parts of a text as texts of their own. */
export function findInParts(text: string, parts: readonly Span[], find: (part: string) => readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const part of parts)
    for (const { start, end } of find(text.slice(part.start, part.end)))
      found.push({ start: part.start + start, end: part.start + end });
  return found;
}

/** Enough for \b and (?m)^, even next to a surrogate pair. */
const CONTEXT_CHARS = 2;

function lineEndFrom(text: string, from: number): number {
  const end = from >= text.length ? -1 : text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function charLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
