import type { LiveEvent, LiveFeed } from '../../call/live.ts';
import { ANSWER_HEADERS } from './hardening.ts';

export interface WatcherDeps {
  feed: LiveFeed;
  /** The only project whose events are sent; '' for all. */
  scope: string;
  /** The header Last-Event-ID; '' if the client has seen none. */
  lastEventId: string;
  /** False ends the stream. Asked before each event and heartbeat. */
  isAllowed(): boolean;
  /** Ends the stream when the door closes or the client is gone. */
  signal: AbortSignal;
}

/** Milliseconds between two comments, so that a client and whatever is between notice a dead connection. */
const HEARTBEAT_MS = 15_000;
/** Bytes that wait for a slow client. Beyond them the stream ends, and the client may go on from its last event. */
const WAITING_MAX_BYTES = 256 * 1024;
/** Milliseconds after which a client connects again. */
const RETRY_MS = 2_000;

/** Server-sent events, as they happen. An id is `<epoch>-<number>`. */
export function eventStream(deps: WatcherDeps): Response {
  const headers = { ...ANSWER_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };
  let stop = (): void => undefined;
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = follow(deps, controller);
      },
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: WAITING_MAX_BYTES }),
  );
  return new Response(stream, { headers });
}

function follow(deps: WatcherDeps, controller: ReadableStreamDefaultController<Uint8Array>): () => void {
  const { feed, scope, signal } = deps;
  let isOpen = true;
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    clearInterval(heartbeat);
    unfollow();
    signal.removeEventListener('abort', end);
    controller.close();
  };
  const send = (text: string): void => {
    if (!isOpen) return;
    if (!deps.isAllowed() || (controller.desiredSize ?? 0) <= 0) end();
    else controller.enqueue(Buffer.from(text));
  };
  const sendEvent = (event: LiveEvent): void => {
    if (scope === '' || event.project === scope) send(textOf(event, feed.epoch));
  };
  const unfollow = feed.follow(sendEvent);
  const heartbeat = setInterval(() => send(': still here\n\n'), HEARTBEAT_MS).unref();
  signal.addEventListener('abort', end, { once: true });
  send(`retry: ${RETRY_MS}\n\n`);
  const missed = missedBy(deps);
  if (missed === null) send('event: gap\ndata: {"reason":"events before this one are not kept"}\n\n');
  for (const event of missed ?? []) sendEvent(event);
  if (signal.aborted) end();
  return () => {
    // The reader is gone: the stream is closed already.
    isOpen = false;
    clearInterval(heartbeat);
    unfollow();
    signal.removeEventListener('abort', end);
  };
}

/** Null if it cannot be said what the client missed. */
function missedBy({ feed, lastEventId }: WatcherDeps): readonly LiveEvent[] | null {
  if (lastEventId === '') return [];
  const [epoch, number = ''] = lastEventId.split('-');
  return epoch === feed.epoch && /^\d{1,15}$/.test(number) ? feed.since(Number(number)) : null;
}

function textOf({ number, topic, json }: LiveEvent, epoch: string): string {
  return `id: ${epoch}-${number}\nevent: ${topic}\ndata: ${json}\n\n`;
}
