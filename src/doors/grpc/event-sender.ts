import type { ServerWritableStream } from '@grpc/grpc-js';
import { UNREAD_MAX_BYTES } from '../../core/limits.ts';
import { leftUnread } from '../unread.ts';

/** A `vital` event is sent even to a slow caller. Returns whether the event was sent. */
export type Send<Event> = (event: Event, vital?: 'vital') => boolean;

type EventCall<Event> = Pick<
  ServerWritableStream<unknown, Event>,
  'cancelled' | 'writableEnded' | 'writableNeedDrain'
> & { write(event: Event, taken: () => void): unknown };

/** Sends the events of a call, and counts those that the peer has not taken. */
export class EventSender<Event> {
  readonly #call: EventCall<Event>;
  readonly #overflow = new AbortController();
  #unreadBytes = 0;
  /** Of vital events. */
  #vitalBytes = 0;

  constructor(call: EventCall<Event>) {
    this.#call = call;
  }

  /** Aborts with RESOURCE_LIMIT when a vital event would wait behind UNREAD_MAX_BYTES of others. Nothing is sent from then on. */
  get overflow(): AbortSignal {
    return this.#overflow.signal;
  }

  /** A slow reader must not delay the command, and its events must not fill the memory. */
  readonly send: Send<Event> = (event, vital) => {
    const { cancelled, writableEnded, writableNeedDrain } = this.#call;
    if (cancelled || writableEnded || this.overflow.aborted) return false;
    if (vital === undefined && (writableNeedDrain || this.#unreadBytes > UNREAD_MAX_BYTES)) return false;
    if (this.#vitalBytes > UNREAD_MAX_BYTES) {
      this.#overflow.abort(leftUnread());
      return false;
    }
    const bytes = bytesIn(event);
    const vitalBytes = vital === undefined ? 0 : bytes;
    this.#unreadBytes += bytes;
    this.#vitalBytes += vitalBytes;
    this.#call.write(event, () => {
      this.#unreadBytes -= bytes;
      this.#vitalBytes -= vitalBytes;
    });
    return true;
  };
}

/** Bytes of the texts in an event. The rest of it is small. */
function bytesIn(value: unknown): number {
  if (typeof value === 'string' || Buffer.isBuffer(value)) return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, inner) => sum + bytesIn(inner), 0);
}
