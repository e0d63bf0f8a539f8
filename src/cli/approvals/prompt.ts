import { createInterface, type Interface } from 'node:readline/promises';
import { setImmediate } from 'node:timers/promises';
import type { CliContext } from '../context.ts';
import { write } from '../render.ts';

const UNUSED = 'Nothing was waiting for this line: not used.\n';

/**
 * The person at the terminal. One reader takes all that is typed, also between questions, so that a line which was meant
 * for an earlier question never answers a later one.
 */
export class Prompt {
  readonly #context: CliContext;
  readonly #lines: Interface;
  readonly #closed = new AbortController();

  constructor(context: CliContext) {
    this.#context = context;
    const { stdin: input, stdout: output } = context;
    this.#lines = createInterface({ input, output, terminal: true, historySize: 0 });
    // Readline sends a line here only if no question is open.
    this.#lines.on('line', () => void write(context.stderr, UNUSED));
    this.#lines.on('close', () => this.#closed.abort());
  }

  /** Aborted once the person pressed Ctrl-C or the terminal is gone. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Resolves with a line that was typed after the question was shown. Rejects if a signal aborts or the prompt closes. */
  async ask(question: string, signal: AbortSignal): Promise<string> {
    await setImmediate();
    this.#dropTyped();
    const signals = AbortSignal.any([signal, this.#context.signal, this.closed]);
    return (await this.#lines.question(question, { signal: signals })).trim();
  }

  close(): void {
    this.#lines.close();
  }

  /** Forgets the beginning of a line, on both sides of the cursor. */
  #dropTyped(): void {
    if (this.closed.aborted) return;
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
  }
}
