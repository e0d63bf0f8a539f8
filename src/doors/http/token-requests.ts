import { ContextdError } from '../../core/errors.ts';

/**
 * The requests under way of each token. No token has more than half as many as there are connections: calls that wait for a
 * person may stay for minutes, and the person's answer needs a connection too.
 */
export class TokenRequests {
  readonly #max: number;
  readonly #underWay = new Map<string, number>();

  constructor(maxConnections: number) {
    this.#max = Math.max(1, Math.floor(maxConnections / 2));
  }

  /** Counts a request until the returned function is called. Throws RATE_LIMITED if the token has too many. */
  enter(token: string): () => void {
    const count = this.#underWay.get(token) ?? 0;
    if (count >= this.#max) {
      throw new ContextdError('RATE_LIMITED', `the token ${token} has ${count} requests under way`, {
        remedy: 'Wait for answers before sending more, or raise http.max_connections.',
        retryAfterMs: 1_000,
      });
    }
    this.#underWay.set(token, count + 1);
    return () => this.#leave(token);
  }

  #leave(token: string): void {
    const left = (this.#underWay.get(token) ?? 1) - 1;
    if (left === 0) this.#underWay.delete(token);
    else this.#underWay.set(token, left);
  }
}
