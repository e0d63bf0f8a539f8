import { NOT_SHIPPED, readShipments, type Shipment, writeShipments } from '../../../audit/shipped.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Logger } from '../../../core/log.ts';
import { Breaker } from '../../shared/breaker.ts';
import type { Chore } from '../../shared/chores.ts';
import type { Destination, ShippedHead } from './destination.ts';

export interface HeadShippingDeps {
  /** Paths.auditDir. */
  readonly dir: string;
  readonly destinations: readonly Destination[];
  /** The last line of the log that is on disk; null for an empty log. */
  head(): Omit<ShippedHead, 'timeMs'> | null;
  readonly intervalMs: number;
  readonly clock: Clock;
  /** Numbers from 0 to below 1. */
  random(): number;
  readonly logger: Logger;
}

const LOOK_EVERY_MS = 1_000;
const SEND_MS = 30_000;

interface Route {
  readonly destination: Destination;
  readonly breaker: Breaker;
  shipment: Shipment;
  /** When something was last sent, monotonic. */
  sentAt: number;
}

/**
 * Sends heads of the audit log to other machines: when a segment was sealed, and else in intervals if there are new records. No
 * call waits for it. What fails is tried again.
 */
export class HeadShipping {
  readonly #deps: HeadShippingDeps;
  readonly #routes: readonly Route[];
  #isSealed = false;

  constructor(deps: HeadShippingDeps) {
    this.#deps = deps;
    const known = readShipments(deps.dir);
    this.#routes = deps.destinations.map((destination) => ({
      destination,
      breaker: new Breaker(deps),
      shipment: { ...(known[destination.place.key] ?? NOT_SHIPPED), place: destination.place.name },
      sentAt: Number.NEGATIVE_INFINITY,
    }));
  }

  /** The log began a new segment. */
  sealed(): void {
    this.#isSealed = true;
  }

  chores(): Chore[] {
    if (this.#routes.length === 0) return [];
    return [{ name: 'ship audit heads', everyMs: LOOK_EVERY_MS, run: () => this.ship() }];
  }

  /** Sends what is due. */
  async ship(): Promise<void> {
    const isSealed = this.#isSealed;
    this.#isSealed = false;
    await Promise.all(this.#routes.map((route) => this.#shipTo(route, isSealed)));
  }

  async #shipTo(route: Route, isSealed: boolean): Promise<void> {
    const { clock, intervalMs, logger } = this.#deps;
    const { breaker, destination, shipment } = route;
    const isDue = isSealed || breaker.fault !== null || clock.monotonic() - route.sentAt >= intervalMs;
    if (!isDue || breaker.waitMs > 0) return;
    const head = this.#deps.head();
    if (head === null || head.seq === shipment.seq) return;
    const timeMs = clock.now();
    try {
      await destination.send({ ...head, timeMs }, AbortSignal.timeout(SEND_MS));
      breaker.succeeded();
      route.sentAt = clock.monotonic();
      this.#keep(route, { ...shipment, seq: head.seq, sent: new Date(timeMs).toISOString(), fault: '' });
    } catch (thrown) {
      const fault = thrown instanceof Error ? thrown.message : 'failed';
      if (breaker.fault === null) logger.warn('audit.not_shipped', { place: destination.place.name, fault });
      breaker.failed(fault);
      if (shipment.fault !== fault) this.#keep(route, { ...shipment, fault });
    }
  }

  #keep(route: Route, shipment: Shipment): void {
    route.shipment = shipment;
    try {
      const shipments = this.#routes.map((one) => [one.destination.place.key, one.shipment] as const);
      writeShipments(this.#deps.dir, Object.fromEntries(shipments));
    } catch (error) {
      this.#deps.logger.error('audit.shipments_not_noted', {}, error);
    }
  }
}
