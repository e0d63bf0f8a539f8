import type { Asked } from './gate.ts';
import { SAME_REFUSALS, SAME_REFUSALS_MS } from './limits.ts';

/** Tunnels that are remembered at once. */
const TUNNELS_MAX = 1_000;

/**
 * Tunnels that were refused, so that a program which asks again at once ends. Node's HTTP agent, and npm with it, asks
 * for ever if more requests wait than it opens connections: it takes the refusal for a connection that closed. It stops if
 * the connection ends without an answer.
 */
export class RefusedTunnels {
  readonly #counts = new Map<string, number>();
  #sinceMs = 0;

  /** Counts a refusal. True if the command has the reason often enough. */
  isRepeated({ scope, namespace, lane, host, port }: Asked): boolean {
    const now = performance.now();
    if (now - this.#sinceMs > SAME_REFUSALS_MS || this.#counts.size >= TUNNELS_MAX) {
      this.#counts.clear();
      this.#sinceMs = now;
    }
    const key = JSON.stringify([scope, namespace, lane, host, port]);
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count > SAME_REFUSALS;
  }
}
