export type Task = () => Generator<void, void>;

interface Queued {
  readonly generation: number;
  readonly task: Task;
}

/** What is to be done, first in first out, what is urgent before the rest. A task may add others. */
export class TaskQueue {
  readonly #urgent: Queued[] = [];
  #queue: Queued[] = [];
  #head = 0;
  #current: { readonly generation: number; readonly work: Generator<void, void> } | null = null;
  /** Raised by every barrier; what a task adds is of its own generation. */
  #generation = 0;
  readonly #unfinished = new Map<number, number>();
  readonly #barriers: { readonly generation: number; readonly onPassed: () => void }[] = [];

  get isEmpty(): boolean {
    return this.#unfinished.size === 0;
  }

  add(task: Task): void {
    this.#queue.push(this.#count(task));
  }

  addUrgent(task: Task): void {
    this.#urgent.push(this.#count(task));
  }

  /** `onPassed` is called when all that was added until now is done, with all that it adds. */
  addBarrier(onPassed: () => void): void {
    this.#barriers.push({ generation: this.#generation++, onPassed });
    this.#passBarriers();
  }

  /** Goes on with one task to where it stops next. What it throws ends it. */
  step(): void {
    this.#current ??= this.#begin();
    if (this.#current === null) return;
    let isDone = true;
    try {
      isDone = this.#current.work.next().done === true;
    } finally {
      if (isDone) this.#end(this.#current.generation);
    }
  }

  /** Drops everything. */
  clear(): void {
    this.#urgent.length = 0;
    this.#queue = [];
    this.#head = 0;
    this.#unfinished.clear();
    if (this.#current !== null) this.#unfinished.set(this.#current.generation, 1);
  }

  #count(task: Task): Queued {
    const generation = this.#current?.generation ?? this.#generation;
    this.#unfinished.set(generation, (this.#unfinished.get(generation) ?? 0) + 1);
    return { generation, task };
  }

  #begin(): { generation: number; work: Generator<void, void> } | null {
    const next = this.#urgent.shift() ?? this.#takeFirst();
    return next === null ? null : { generation: next.generation, work: next.task() };
  }

  #end(generation: number): void {
    this.#current = null;
    const left = (this.#unfinished.get(generation) ?? 1) - 1;
    if (left > 0) this.#unfinished.set(generation, left);
    else this.#unfinished.delete(generation);
    this.#passBarriers();
  }

  #passBarriers(): void {
    for (let first = this.#barriers[0]; first !== undefined; first = this.#barriers[0]) {
      const { generation, onPassed } = first;
      if ([...this.#unfinished.keys()].some((one) => one <= generation)) return;
      this.#barriers.shift();
      onPassed();
    }
  }

  #takeFirst(): Queued | null {
    const next = this.#queue[this.#head];
    if (next === undefined) return null;
    this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return next;
  }
}
