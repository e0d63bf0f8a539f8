import { Edit, type Edited } from '../../text/edited-text.ts';
import { LinePlayer, OverwritingPlaces, playedLine, type ShownPart, supersedes } from '../../text/overwritten-lines.ts';
import { CSI, ESC } from '../../text/terminal.ts';

/** Leaves the line: after this, nothing says where erasing to the end of the screen would begin. */
const OTHER_LINE = new RegExp(
  `(?:${String.fromCharCode(ESC)}\\[|${String.fromCharCode(CSI)})[0-9;]*[ABEFHLMSTdfr]|${String.fromCharCode(ESC)}[78DEMc]`,
);

/** Stands for text of another width: nothing can be written over a part of it. */
const SECRET = '[SECRET';

/**
 * Shows each line as a terminal would in the end. Null: nothing is overwritten. `isPart`: the source is a part of a
 * longer text that was searched for secrets as a whole, so nothing is assembled at its edges.
 */
export function collapseProgress(source: string, isPart: boolean): Edited | null {
  const places = new OverwritingPlaces(source);
  let at = places.next(0);
  if (at < 0) return null;
  const edit = new Edit(source);
  const collapse = new LineCollapse(source, isPart);
  while (at >= 0) {
    const { start, end, lineEnd } = playedLine(source, at);
    for (const { from, to, text } of collapse.shorterParts(start, end)) edit.replace(from, to, text);
    at = places.next(lineEnd);
  }
  return edit.finish();
}

class LineCollapse {
  readonly #source: string;
  readonly #isPart: boolean;
  readonly #isOnlyLine: boolean;
  readonly #player: LinePlayer;
  #otherLine: number | null = null;

  constructor(source: string, isPart: boolean) {
    this.#source = source;
    this.#isPart = isPart;
    this.#isOnlyLine = !source.includes('\n');
    this.#player = new LinePlayer(source, this.#isOnlyLine, {
      erasesLineOnly: (at) => at < this.#firstOtherLine(),
      withCells: false,
    });
  }

  /** The parts of line [start, end) that become shorter; none if the line stays as it is. */
  shorterParts(start: number, end: number): readonly ShownPart[] {
    const parts = this.#player.play(start, end) ?? [];
    if (!this.#isSettled(parts) || (this.#mustStayWhole(start, end) && !this.#isWhole(parts))) return [];
    return parts.filter(({ from, to, text }) => text.length < to - from);
  }

  /**
   * Whether a line may only show parts that its source holds in one piece, because no other reading was searched for
   * secrets.
   */
  #mustStayWhole(start: number, end: number): boolean {
    if (this.#source.slice(start, end).includes(SECRET)) return true;
    return this.#isPart && (start === 0 || end >= this.#source.length - 1);
  }

  #isWhole(parts: readonly ShownPart[]): boolean {
    return parts.every(({ from, to, text }) => this.#source.slice(from, to).includes(text));
  }

  /** Whether collapsing the result would change nothing: no part is longer or a later state of the one before. */
  #isSettled(parts: readonly ShownPart[]): boolean {
    return parts.every(({ from, to, text }, index) => {
      const before = parts[index - 1];
      if (before !== undefined && supersedes(text, before.text, this.#isOnlyLine)) return false;
      return text.length < to - from || text === this.#source.slice(from, to);
    });
  }

  #firstOtherLine(): number {
    if (this.#otherLine === null) {
      const found = this.#source.search(OTHER_LINE);
      this.#otherLine = found < 0 ? this.#source.length : found;
    }
    return this.#otherLine;
  }
}
