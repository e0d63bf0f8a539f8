import { McpError } from './passing.ts';

/** A server that asks more than this at once does not wait for answers. */
const OPEN_MAX = 64;

/** Bounds the questions of MCP servers that a client has not answered. */
export class OpenQuestions {
  #open = 0;

  /** Rejects with McpError, without asking, if too many are open. */
  async ask<T>(put: () => Promise<T>): Promise<T> {
    if (this.#open >= OPEN_MAX)
      throw new McpError(-32_603, `${OPEN_MAX} questions to the client are open already; none more is asked`);
    this.#open += 1;
    try {
      return await put();
    } finally {
      this.#open -= 1;
    }
  }
}
