import type { ShipPlace } from '../../../audit/shipped.ts';

/** A head of the audit log on its way to another machine. */
export interface ShippedHead {
  readonly seq: number;
  /** As `ctxd audit head` prints it. */
  readonly line: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
}

/** A place elsewhere that keeps heads. */
export interface Destination {
  readonly place: ShipPlace;
  /** Resolves once the place has the head. Throws Error with a reason that holds no secret. */
  send(head: ShippedHead, signal: AbortSignal): Promise<void>;
}
