import { UNREAD_MAX_BYTES } from '../../core/limits.ts';

/**
 * Holds what a client has not read of a stream whose source queues without limit. When a part would wait behind UNREAD_MAX_BYTES
 * the source is cancelled, and the stream ends with `farewell`.
 */
export function boundedStream(
  source: ReadableStream<Uint8Array>,
  farewell: Uint8Array,
  onOverflow: () => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const take = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if ((controller.desiredSize ?? 0) <= 0) {
        controller.enqueue(farewell);
        onOverflow();
        await reader.cancel();
        break;
      }
      controller.enqueue(part.value);
    }
    controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // A stream that was cancelled meanwhile is closed already.
        void take(controller).catch((thrown: unknown) => controller.error(thrown));
      },
      cancel: (reason) => reader.cancel(reason),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: UNREAD_MAX_BYTES }),
  );
}
