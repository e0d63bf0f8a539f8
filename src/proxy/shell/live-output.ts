import { ownLine } from '../../core/own-line.ts';

/** Milliseconds from the first line, after which a client sees the output of a command while it runs, such as that of a server. */
const LIVE_AFTER_MS = 10_000;
/** Bytes shown while the command runs. A command that prints more before it is shown is shown at its end only. */
const LIVE_MAX_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * What a client sees of a command. A short command is shown when it has ended, exactly as the daemon answers. A longer one is shown
 * while it runs, in whole scrubbed lines, and then only what is new in the answer.
 */
export class LiveOutput {
  readonly #write: ((bytes: Buffer) => number) | null;
  #timer: NodeJS.Timeout | undefined;
  #held: Buffer = NOTHING;
  #shown: Buffer = NOTHING;
  #receivedBytes = 0;
  #isLive = false;

  /**
   * `write`: writes what the reader takes now, and returns how many bytes. Null shows nothing before the end, to a caller that keeps
   * stdout and stderr apart.
   */
  constructor(write: ((bytes: Buffer) => number) | null) {
    this.#write = write;
  }

  /** Takes lines of the running command, in the order in which they are to be seen. */
  add(text: string): void {
    if (this.#write !== null) this.#timer ??= setTimeout(() => this.#begin(), LIVE_AFTER_MS);
    const bytes = Buffer.from(text);
    this.#receivedBytes += bytes.length;
    this.#held = Buffer.concat([this.#held, bytes]).subarray(-LIVE_MAX_BYTES);
    if (this.#isLive) this.#show();
  }

  /** What was not shown, of a command that the client ended: the newest. */
  held(): Buffer {
    return this.#held;
  }

  /** What is left to show of the answer. It is shown whole if it does not continue what was shown. */
  rest(answer: Buffer): Buffer {
    const { length } = this.#shown;
    if (answer.subarray(0, length).equals(this.#shown)) return answer.subarray(length);
    // A command that did not run has no output; why is on standard error.
    if (answer.length === 0) return NOTHING;
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
    if (this.#write === null || this.#held.length === 0 || this.#receivedBytes > LIVE_MAX_BYTES) return;
    const written = this.#write(this.#held);
    this.#shown = Buffer.concat([this.#shown, this.#held.subarray(0, written)]);
    this.#held = this.#held.subarray(written);
  }
}

const COMPLETE = 'the command has ended; its output:';
