import { firstIndex } from '../text/binary-search.ts';
import type { Finding } from './finding.ts';

/** A part of a text that is shown, behind a label that is no part of the text. UTF-16 offsets, end exclusive. */
export interface ShownPart {
  start: number;
  end: number;
  label: string;
}

/** The parts of a text as they are shown, and the way back to the text. */
export class ShownTogether {
  readonly text: string;
  readonly #parts: readonly ShownPart[];
  /** Where the text of each part begins in `text`. */
  readonly #at: number[] = [];

  /** `parts` are in order and free of overlaps. */
  constructor(text: string, parts: readonly ShownPart[]) {
    this.#parts = parts;
    const pieces: string[] = [];
    let length = 0;
    for (const { start, end, label } of parts) {
      pieces.push(label, text.slice(start, end));
      this.#at.push(length + label.length);
      length += label.length + end - start;
    }
    this.text = pieces.join('');
  }

  /** One finding for each part that a finding in `text` touches. A label is nothing. */
  inOriginal<T extends Finding>(finding: T): T[] {
    const found: T[] = [];
    const first = firstIndex(0, this.#at.length, (index) => this.#endOf(index) > finding.start);
    for (let index = first; index < this.#at.length; index++) {
      const [at = 0, part] = [this.#at[index], this.#parts[index]];
      if (part === undefined || at >= finding.end) break;
      const start = Math.max(finding.start, at) - at + part.start;
      const end = Math.min(finding.end, this.#endOf(index)) - at + part.start;
      if (start < end) found.push({ ...finding, start, end });
    }
    return found;
  }

  #endOf(index: number): number {
    const part = this.#parts[index];
    return (this.#at[index] ?? 0) + (part === undefined ? 0 : part.end - part.start);
  }
}
