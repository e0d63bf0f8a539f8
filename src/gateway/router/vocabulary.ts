import { runsOf, stemOf, wordsOfRun } from './words.ts';

/** Stems as numbers, in the order in which they were first seen. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  /** What a run of letters and digits stands for. Most runs of a catalogue occur many times. */
  readonly #runs = new Map<string, readonly number[]>();

  get size(): number {
    return this.#numbers.size;
  }

  stems(): IterableIterator<string> {
    return this.#numbers.keys();
  }

  /** The number of a stem, or -1 if no text has it. */
  find(stem: string): number {
    return this.#numbers.get(stem) ?? -1;
  }

  /** Adds the numbers of the words of a text, in their order. */
  read(text: string, into: number[]): void {
    for (const run of runsOf(text)) {
      const known = this.#runs.get(run) ?? this.#learn(run);
      for (const number of known) into.push(number);
    }
  }

  /** Frees what only reading needs. */
  seal(): void {
    this.#runs.clear();
  }

  #learn(run: string): readonly number[] {
    const numbers = wordsOfRun(run).map((word) => this.#numberOf(stemOf(word)));
    this.#runs.set(run, numbers);
    return numbers;
  }

  #numberOf(stem: string): number {
    const number = this.#numbers.get(stem) ?? this.#numbers.size;
    this.#numbers.set(stem, number);
    return number;
  }
}
