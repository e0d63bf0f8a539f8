import { type View, ViewBuilder } from './view.ts';

/** Characters around a change that a rule may need to see: the name of a value, the rest of a key. */
const CONTEXT_CHARS = 2048;
/** From this length on they are fewer, so that a large log with a few colours is not read twice. */
const LARGE_CHARS = 65_536;
const LARGE_CONTEXT_CHARS = 320;
/** A part begins and ends with a line where one does within so many characters more, else at a blank. */
const LINE_REACH_CHARS = 256;
const BLANK_REACH_CHARS = 4096;

/** A text with changes, reduced to the surroundings of the changes: what none is near was scanned as it is. */
export class Edits {
  readonly #text: string;
  readonly #context: number;
  readonly #builder: ViewBuilder;
  /** Up to here the original is in the view, or left out of it. */
  #done = 0;
  /** Up to here it belongs in the view because of the last change. */
  #keepTo = 0;
  #count = 0;

  /** `context`: characters kept on both sides of a change, default 2048, in large texts 320. */
  constructor(text: string, context = text.length < LARGE_CHARS ? CONTEXT_CHARS : LARGE_CONTEXT_CHARS) {
    this.#text = text;
    this.#context = context;
    this.#builder = new ViewBuilder(text);
  }

  /** In order of place, without overlap. */
  replace(start: number, end: number, replacement: string): void {
    const from = start - this.#context;
    if (from > this.#keepTo) this.#startPart(from);
    this.#builder.copy(this.#done, start);
    this.#builder.put(replacement, start, end);
    this.#done = end;
    this.#keepTo = end + this.#context;
    this.#count++;
  }

  /** Null when nothing was replaced. */
  view(): View | null {
    if (this.#count === 0) return null;
    this.#endPart(this.#text.length);
    return this.#builder.build();
  }

  #startPart(from: number): void {
    if (this.#count > 0) this.#endPart(from + this.#context);
    const start = lineStartBefore(this.#text, from);
    if (start <= this.#done && this.#count > 0) return;
    this.#builder.cut();
    this.#done = Math.max(this.#done, start);
  }

  /** `limit`: where the next change begins. */
  #endPart(limit: number): void {
    const end = Math.min(limit, lineEndAfter(this.#text, Math.min(this.#keepTo, this.#text.length)));
    this.#builder.copy(this.#done, end);
    this.#done = Math.max(this.#done, end);
  }
}

function lineStartBefore(text: string, from: number): number {
  const reach = text.slice(Math.max(0, from - BLANK_REACH_CHARS), from);
  const line = reach.lastIndexOf('\n');
  if (line !== -1 && reach.length - line <= LINE_REACH_CHARS) return from - reach.length + line + 1;
  return from - reach.length + Math.max(line, reach.lastIndexOf(' ')) + 1;
}

function lineEndAfter(text: string, to: number): number {
  const reach = text.slice(to, to + BLANK_REACH_CHARS);
  const line = reach.indexOf('\n');
  if (line !== -1 && line <= LINE_REACH_CHARS) return to + line;
  const blank = reach.search(/\s/);
  return to + (blank === -1 ? reach.length : blank);
}

/**
 * The text with every match of a pattern (flag g) put in other words. `read` gives null to leave one as it is.
 * `context` as in Edits.
 */
export function editMatches(
  text: string,
  pattern: RegExp,
  read: (match: RegExpExecArray) => string | null,
  context?: number,
): View | null {
  const edits = new Edits(text, context);
  for (const match of text.matchAll(pattern)) {
    const replacement = read(match);
    if (replacement !== null) edits.replace(match.index, match.index + match[0].length, replacement);
  }
  return edits.view();
}
