import { connect, createServer, type Socket } from 'node:net';
import { splice } from './splice.ts';

/**
 * Runs in a sandbox on the loopback of a project, from this folder alone: `main.js SOCKET PORT`. It prints a line when it
 * listens on SOCKET. The first connection keeps it alive; it gets a line each time nothing answers at the port. Every
 * further connection is carried to the port.
 */
const [socketPath = '', port = ''] = process.argv.slice(2);

const FIRST_WITHIN_MS = 10_000;
const CONNECTIONS_MAX = 400;
/** Servers listen on one or both, and clients try both. */
const ADDRESSES = ['127.0.0.1', '::1'];

let holder: Socket | null = null;
const giveUp = setTimeout(() => process.exit(0), FIRST_WITHIN_MS);

const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
  client.on('error', () => {});
  if (holder === null) hold(client);
  else forward(client, ADDRESSES);
});
server.maxConnections = CONNECTIONS_MAX;
server.listen(socketPath, () => process.stdout.write('listening\n'));

function hold(client: Socket): void {
  clearTimeout(giveUp);
  holder = client;
  client.resume();
  client.once('end', () => client.end());
  client.once('close', () => process.exit(0));
}

function forward(client: Socket, [address, ...others]: readonly string[]): void {
  if (address === undefined) {
    client.destroy();
    holder?.write('refused\n');
    return;
  }
  const inside = connect({ host: address, port: Number(port), allowHalfOpen: true });
  const tryNext = (): void => forward(client, others);
  inside.once('error', tryNext);
  inside.once('connect', () => {
    inside.off('error', tryNext);
    splice(client, inside);
    client.resume();
  });
}
