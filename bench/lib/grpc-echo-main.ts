import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { loadProtocol } from '../../src/protocol/load.ts';

const [certsDir = '', socket = ''] = process.argv.slice(2);
const read = (name: string): Buffer => readFileSync(join(certsDir, name));

/** Bare grpc-js with the daemon's certificates: answers each call with its input. Sends its parent a message once it listens. */
const server = new Server();
const { Execute, ...others } = loadProtocol().ToolService.service;
server.addService(
  { ...others, Execute },
  {
    Execute: ({ request }: { request: { input_json: Buffer } }, done: (error: null, answer: object) => void) =>
      done(null, { exit_code: 0, envelope_json: request.input_json }),
  },
);
const identity = { private_key: read('server.key'), cert_chain: read('server.pem') };
const secured = ServerCredentials.createSsl(read('ca.pem'), [identity], true);
server.bindAsync(`unix:${socket}`, secured, (error) => {
  if (error !== null) throw error;
  process.send?.('listening');
});
