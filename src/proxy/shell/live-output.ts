import { ownLine } from '../../core/own-line.ts';

/** Milliseconds from the first line, after which a client sees the output of a command while it runs, such as that of a server. */
const LIVE_AFTER_MS = 10_000;
/** Characters shown while the command runs. A command that prints more before it is shown is shown at its end only. */
const LIVE_MAX_CHARS = 16 * 1024;

/**
 * What a client sees of a command. A short command is shown when it has ended, exactly as the daemon answers. A longer one is shown
 * while it runs, in whole scrubbed lines, and then only what is new in the answer.
 */
export class LiveOutput {
  readonly #write: ((text: string) => void) | null;
  #timer: NodeJS.Timeout | undefined;
  #held = '';
  #shown = '';
  #isLive = false;
  #received = 0;

  /** `write`: null shows nothing before the end, to a caller that keeps stdout and stderr apart. */
  constructor(write: ((text: string) => void) | null) {
    this.#write = write;
  }

  /** Takes lines of the running command, in the order in which they are to be seen. */
  add(text: string): void {
    if (this.#write !== null) this.#timer ??= setTimeout(() => this.#begin(), LIVE_AFTER_MS);
    this.#received += text.length;
    this.#held = `${this.#held}${text}`.slice(-LIVE_MAX_CHARS);
    if (this.#isLive) this.#show();
  }

  /** What was not shown, of a command that the client ended. */
  held(): Buffer {
    return Buffer.from(this.#held);
  }

  /** What is left to show of the answer. It is shown whole if it does not continue what was shown. */
  rest(answer: Buffer): Buffer {
    const text = answer.toString('utf8');
    if (text.startsWith(this.#shown)) return Buffer.from(text.slice(this.#shown.length));
    return Buffer.concat([Buffer.from(`${ownLine(COMPLETE)}\n`), answer]);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #begin(): void {
    this.#isLive = true;
    this.#show();
  }

  #show(): void {
    if (this.#held === '' || this.#received > LIVE_MAX_CHARS) return;
    this.#shown += this.#held;
    this.#write?.(this.#held);
    this.#held = '';
  }
}

const COMPLETE = 'the command has ended; its output:';
