import { countNewlines, type OutputGap } from '../../core/gap.ts';

/** Maps the lines of a kept text to their numbers in the whole text, part of which may be missing. */
export class LineNumbers {
  readonly gap: OutputGap | undefined;
  /** The line of the text that follows the gap, counted from 1. */
  readonly #afterGap: number;

  constructor(text: string, gap: OutputGap | undefined) {
    this.gap = gap;
    this.#afterGap = gap === undefined ? Number.POSITIVE_INFINITY : countNewlines(text, 0, gap.end) + 1;
  }

  /** The number of a line in the whole text; `line` is counted from 1 in the kept text. */
  of(line: number): number {
    return line < this.#afterGap ? line : line - this.#afterGap + (this.gap?.nextLine ?? 0);
  }

  /** True for the offset of the line that stands in the place of the gap. */
  isInGap(offset: number): boolean {
    return this.gap !== undefined && offset >= this.gap.start && offset < this.gap.end;
  }
}
