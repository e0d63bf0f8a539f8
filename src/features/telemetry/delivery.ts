import type { Clock } from '../../core/clock.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';

interface DeliveryDeps {
  /** The collector, for messages. */
  readonly place: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/** How the collector takes what is sent. A fault is logged when it begins, and again only after something was taken. */
export class Delivery {
  readonly #deps: DeliveryDeps;
  #fault: string | null = null;
  #sentMs: number | null = null;
  #dropped = 0;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
  }

  succeeded(): void {
    const { place, clock, logger } = this.#deps;
    if (this.#fault !== null) logger.info('telemetry.sent_again', { place, calls_dropped: this.#dropped });
    this.#fault = null;
    this.#sentMs = clock.now();
  }

  failed(thrown: unknown): void {
    const fault = reasonOf(thrown);
    if (this.#fault === null) this.#deps.logger.warn('telemetry.not_sent', { place: this.#deps.place, fault });
    this.#fault = fault;
  }

  /** The spans of a call did not fit. */
  dropped(): void {
    this.#dropped += 1;
  }

  state() {
    return { place: this.#deps.place, fault: this.#fault, sentMs: this.#sentMs, dropped: this.#dropped };
  }
}

/** Holds nothing that the collector sent, and no address. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof ContextdError) return `is not asked: ${thrown.message}`;
  const code: unknown = Object(thrown).code;
  if (typeof code === 'number') return `answered ${code}`;
  const cause = thrown instanceof Error && isErrno(thrown.cause) ? thrown.cause : thrown;
  return isErrno(cause) ? `cannot be reached (${cause.code})` : 'did not answer';
}
