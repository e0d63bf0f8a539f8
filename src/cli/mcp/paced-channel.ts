import type { Writable } from 'node:stream';
import type { Channel } from '../../proxy/channel.ts';

/** What a client reads. */
export type ClientOutput = Pick<Writable, 'writableNeedDrain'> & {
  once(event: 'drain', listener: () => void): unknown;
};

/** A channel that is not read while the client does not read: what comes would wait in this process. */
export function pacedChannel(channel: Channel, output: ClientOutput): Channel {
  return {
    protocol: channel.protocol,
    write: (bytes) => channel.write(bytes),
    end: () => channel.end(),
    pause: () => channel.pause(),
    resume: () => channel.resume(),
    listen: ({ data, closed }) =>
      channel.listen({
        data(chunk) {
          data(chunk);
          // What the chunk before this one held has been written by now.
          if (!output.writableNeedDrain) return;
          channel.pause();
          output.once('drain', () => channel.resume());
        },
        closed,
      }),
  };
}
