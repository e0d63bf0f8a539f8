import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of this machine that ends every connection at once and counts them. */
export interface ConnectionCounter {
  readonly port: number;
  /** The first bytes of each connection: all of git's and HTTP's request, empty for ssh, which waits. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** Milliseconds for which a client may say nothing, as ssh does. */
const SILENT_MAX_MS = 50;

/** Bytes of the length of a line in git's protocol. */
const LENGTH_BYTES = 4;

export async function countConnections(): Promise<ConnectionCounter> {
  const requests: string[] = [];
  const server = createServer((socket) => {
    const at = requests.push('') - 1;
    socket.on('error', () => {});
    socket.setTimeout(SILENT_MAX_MS, () => socket.destroy());
    socket.on('data', (data) => {
      requests[at] += data.toString('latin1');
      // git sends the length of its first line first.
      if ((requests[at]?.length ?? 0) > LENGTH_BYTES) socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    port: address.port,
    requests,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}
