import type { Span } from '../../text/offset-map.ts';
import { PERCENT_CHARS, percentByte } from './encodings.ts';

/** Decoded units between two places that are kept. */
const STEP = 256;

/** Where the decoded units of a run of percent encoding come from. Time of all questions is linear in the run. */
export class PercentPlaces {
  readonly #text: string;
  readonly #run: Span;
  /** Where every 256th unit begins. Made at the first question: few runs hold a finding. */
  #steps: number[] | undefined;

  constructor(text: string, run: Span) {
    this.#text = text;
    this.#run = run;
  }

  /** The offset in the encoded text at which a decoded unit begins; the end of the run for the unit behind the last. */
  startOf(unit: number): number {
    this.#steps ??= this.#findSteps();
    const step = Math.min(Math.floor(unit / STEP), this.#steps.length - 1);
    let at = this.#steps[step] ?? this.#run.start;
    for (let left = unit - step * STEP; left > 0 && at < this.#run.end; left--) at = this.#next(at);
    return at;
  }

  #findSteps(): number[] {
    const steps: number[] = [];
    let units = 0;
    for (let at = this.#run.start; at < this.#run.end; at = this.#next(at)) {
      if (units % STEP === 0) steps.push(at);
      units += 1;
    }
    return steps;
  }

  #next(at: number): number {
    return at + (percentByte(this.#text, at, this.#run.end) === -1 ? 1 : PERCENT_CHARS);
  }
}
