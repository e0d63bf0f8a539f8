import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/**
 * `download-main.js <address> <file with a key and a certificate>`: an HTTPS server that sends its parent its port.
 * `/large` has 300 MB, everything else a few bytes. `?close` ends the connection.
 */
const [, , address = '', identity = ''] = process.argv;
const pem = readFileSync(identity, 'utf8');
const CHUNK = Buffer.alloc(1_000_000, 7);
const CHUNKS = 300;

const server = createServer({ key: pem, cert: pem }, (request, response) => {
  if (request.url?.includes('?close')) response.setHeader('connection', 'close');
  if (!request.url?.startsWith('/large')) return void response.end('a few bytes\n');
  response.writeHead(200, { 'content-length': CHUNK.length * CHUNKS });
  let left = CHUNKS;
  const send = (): void => {
    while (left > 0) {
      left -= 1;
      if (!response.write(CHUNK)) return;
    }
    response.end();
  };
  response.on('drain', send);
  send();
});
server.listen(0, address, () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
