import type { LogFields } from '../core/log.ts';

/** One line of the log, before it is masked. */
export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  /** When it was logged, ISO. */
  time: string;
  event: string;
  fields: LogFields;
}

export interface LogQueueDeps {
  write(line: LogLine): void;
  /** Takes secrets out of one text, at once. Never throws. */
  mask(text: string): string;
  /** The same for several, off the main thread. Default: `mask`. */
  maskLater?(texts: readonly string[]): Promise<readonly string[]>;
}

/** Lines that wait for their mask; beyond them all are masked at once, on the main thread. */
const WAITING_MAX = 1000;
/** Lines that are masked together. */
const BATCH_MAX = 50;

/**
 * Log lines on their way to the mask and the file, in their order. The main thread has rules of its own for texts that
 * cannot wait; reading them takes longer than most calls, so that log lines are left to the search thread.
 */
export class LogQueue {
  readonly #deps: LogQueueDeps;
  readonly #waiting: LogLine[] = [];
  #isMasking = false;

  constructor(deps: LogQueueDeps) {
    this.#deps = deps;
  }

  push(line: LogLine): void {
    this.#waiting.push(line);
    const mustWait = this.#isMasking || textsOf(line.fields).length > 0;
    if (this.#deps.maskLater === undefined || !mustWait || this.#waiting.length > WAITING_MAX) this.flush();
    else void this.#work(this.#deps.maskLater);
  }

  /** Masks and writes at once what waits. */
  flush(): void {
    for (const line of this.#waiting.splice(0)) {
      const texts = textsOf(line.fields).map((text) => this.#deps.mask(text));
      this.#deps.write({ ...line, fields: withTexts(line.fields, texts) });
    }
  }

  async #work(maskLater: NonNullable<LogQueueDeps['maskLater']>): Promise<void> {
    if (this.#isMasking) return;
    this.#isMasking = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH_MAX);
      const masked = await maskLater(batch.flatMap(({ fields }) => textsOf(fields))).catch(() => undefined);
      if (masked === undefined) this.flush();
      // A flush may have written these lines in the meantime.
      else if (this.#waiting[0] === batch[0]) this.#writeFirst(batch.length, [...masked]);
    }
    this.#isMasking = false;
  }

  #writeFirst(count: number, masked: string[]): void {
    for (const line of this.#waiting.splice(0, count)) {
      const texts = masked.splice(0, textsOf(line.fields).length);
      this.#deps.write({ ...line, fields: withTexts(line.fields, texts) });
    }
  }
}

/** The texts of the fields, those in lists too. */
function textsOf(fields: LogFields): string[] {
  return Object.values(fields).flatMap((value) =>
    typeof value === 'string' ? [value] : Array.isArray(value) ? value.map(String) : [],
  );
}

/** The fields with other texts in them, in the order of `textsOf`. */
function withTexts(fields: LogFields, texts: readonly string[]): LogFields {
  const left = [...texts];
  const replaced = Object.entries(fields).map(([key, value]) => {
    if (typeof value === 'string') return [key, left.shift() ?? ''];
    return [key, Array.isArray(value) ? left.splice(0, value.length) : value];
  });
  return Object.fromEntries(replaced);
}
