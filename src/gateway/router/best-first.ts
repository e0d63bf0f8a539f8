export interface Candidate {
  readonly item: number;
  readonly score: number;
}

/** The best of many offers, in order: the highest score first, of equal scores the lowest number first. */
export class BestFirst {
  readonly #most: number;
  readonly #heap: Candidate[] = [];

  /** Keeps at most `most`. */
  constructor(most: number) {
    this.#most = most;
  }

  offer(item: number, score: number): void {
    const worst = this.#heap[0];
    if (this.#heap.length < this.#most) {
      this.#heap.push({ item, score });
      this.#rise(this.#heap.length - 1);
    } else if (worst !== undefined && order({ item, score }, worst) < 0) {
      this.#heap[0] = { item, score };
      this.#sink();
    }
  }

  candidates(): Candidate[] {
    return this.#heap.toSorted(order);
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (this.#isWorse(child, worst)) worst = child;
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }

  #isWorse(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    return a !== undefined && b !== undefined && order(a, b) > 0;
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a !== undefined) this.#heap[other] = a;
    if (b !== undefined) this.#heap[one] = b;
  }
}

function order(a: Candidate, b: Candidate): number {
  return b.score - a.score || a.item - b.item;
}
