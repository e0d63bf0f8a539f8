import { ContextdError } from '../core/errors.ts';

/** Milliseconds for which a server that failed twice is left alone, doubled with each further failure up to the longest. */
const FIRST_REST_MS = 500;
const LONGEST_REST_MS = 300_000;

/** The failures of a server in a row, and how long it is left alone because of them. Times are monotonic milliseconds. */
export class Failures {
  readonly #name: string;
  #count = 0;
  #last: ContextdError | null = null;
  #restUntil = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get count(): number {
    return this.#count;
  }

  /** Null after a success. */
  get last(): ContextdError | null {
    return this.#last;
  }

  add(fault: ContextdError, nowMs: number): void {
    this.#last = fault;
    this.#count += 1;
    // The first one may have been an accident.
    if (this.#count > 1) this.#restUntil = nowMs + Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (this.#count - 2));
  }

  clear(): void {
    this.#count = 0;
    this.#last = null;
    this.#restUntil = 0;
  }

  /** Throws UPSTREAM_UNAVAILABLE with the time to wait while the server is left alone. */
  checkRested(nowMs: number): void {
    const retryAfterMs = Math.ceil(this.#restUntil - nowMs);
    if (retryAfterMs <= 0) return;
    const what = `the MCP server ${this.#name} failed ${this.#count} times and is left alone for now`;
    throw new ContextdError('UPSTREAM_UNAVAILABLE', this.#last === null ? what : `${what}: ${this.#last.message}`, {
      remedy: `A person can look with \`ctxd upstream list\` and start it with \`ctxd upstream restart ${this.#name}\`.`,
      retryAfterMs,
      details: { server: this.#name },
    });
  }
}
