import { within } from '../../core/deadline.ts';
import type { ScopeKey } from '../../egress/messages.ts';

/** Milliseconds that a sandbox waits for the certificate of its scope. The proxy process may be starting. */
const WAIT_MAX_MS = 5_000;

interface Known {
  /** True if a credential is bound in the scope. */
  isNeeded: boolean;
  /** PEM; null: not known. */
  certificate: string | null;
  /** Commands that the proxy process has not answered yet. */
  unanswered: number;
}

/** The certificates that the proxy process made: a sandbox that starts must trust the one of its scope. */
export class Authorities {
  readonly #scopes = new Map<ScopeKey, Known>();
  readonly #waiting = new Set<() => void>();

  /** Call when the proxy process gets credentials. `isSent`: the proxy process runs and answers. */
  told(scope: ScopeKey, isNeeded: boolean, isSent: boolean): void {
    const known = this.#scopes.get(scope) ?? { isNeeded, certificate: null, unanswered: 0 };
    known.isNeeded = isNeeded;
    known.unanswered += isSent ? 1 : 0;
    this.#scopes.set(scope, known);
    this.#wake();
  }

  answered(scope: ScopeKey, certificate: string | null): void {
    const known = this.#scopes.get(scope);
    if (known === undefined) return;
    known.certificate = certificate;
    known.unanswered = Math.max(0, known.unanswered - 1);
    this.#wake();
  }

  /** The proxy process is gone, and its keys with it. */
  lost(): void {
    for (const known of this.#scopes.values()) Object.assign(known, { certificate: null, unanswered: 0 });
  }

  certificateOf(scope: ScopeKey): string | null {
    return this.#scopes.get(scope)?.certificate ?? null;
  }

  /** Settles when the certificate of the scope is known, if it needs one. */
  async settled(scope: ScopeKey): Promise<void> {
    if (!this.#isWaitedFor(scope)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      if (!this.#isWaitedFor(scope)) resolve();
    };
    this.#waiting.add(wake);
    await within(WAIT_MAX_MS, promise, () => {});
    this.#waiting.delete(wake);
  }

  #isWaitedFor(scope: ScopeKey): boolean {
    const known = this.#scopes.get(scope);
    return known?.isNeeded === true && (known.certificate === null || known.unanswered > 0);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
