import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import { MESSAGE_MAX_BYTES } from '../protocol/limits.ts';
import { loadProtocol } from '../protocol/load.ts';
import { type CallsInFlight, createCallsInFlight } from './calls-in-flight.ts';
import { ensureCertificates } from './certificates.ts';
import type { Dispatch, Management, Refuse } from './door.ts';
import { createEventRoute } from './event-route.ts';
import { createTlsServer } from './mtls.ts';
import { managementRoutes, toolRoutes } from './routes.ts';
import { type BoundSocket, bindSocket } from './socket.ts';
import { createRoute } from './unary.ts';

export interface GrpcDoorDeps {
  paths: { socket: string; certsDir: string };
  dispatch: Dispatch;
  refuse: Refuse;
  management: Management;
  /** Takes secrets out of the text of an error before it leaves. */
  mask(text: string): string;
  clock: Clock;
  logger: Logger;
}

/** A door that is open once `start` resolves. `stop` interrupts what is under way, waits for it and is idempotent. */
export interface Door {
  name: string;
  /** Reads what `start` needs: certificates and the protocol. Optional; while other parts start it costs no time. */
  prepare(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Preparation {
  certificates: Awaited<ReturnType<typeof ensureCertificates>>;
  protocol: ReturnType<typeof loadProtocol>;
}

interface OpenDoor {
  inFlight: CallsInFlight;
  grpc: Server;
  tls: TlsServer;
  connections: Set<Socket>;
  socket: BoundSocket;
}

/** How long a peer may take to hang up after its last answer, milliseconds. */
const FAREWELL_MS = 500;

/** gRPC over mutual TLS on the unix socket: the door of the proxy and the CLI. */
export function createGrpcDoor(deps: GrpcDoorDeps): Door {
  let open: OpenDoor | undefined;
  let ready: Preparation | undefined;
  const prepare = async (): Promise<Preparation> => {
    ready ??= {
      certificates: await ensureCertificates({ ...deps, certsDir: deps.paths.certsDir }),
      protocol: loadProtocol(),
    };
    return ready;
  };
  return {
    name: 'grpc',
    async prepare() {
      await prepare();
    },
    async start() {
      open = await openDoor(deps, await prepare());
      deps.logger.info('grpc.listening');
    },
    async stop() {
      const door = open;
      open = undefined;
      if (door !== undefined) await closeDoor(door);
    },
  };
}

async function openDoor(deps: GrpcDoorDeps, { certificates, protocol }: Preparation): Promise<OpenDoor> {
  const inFlight = createCallsInFlight();
  const grpc = createServer(deps, protocol, inFlight);
  const tls = createTlsServer(certificates);
  const connections = admit(tls, grpc, deps.logger);
  const socket = await bindSocket(tls, deps.paths);
  return { inFlight, grpc, tls, connections, socket };
}

function createServer(deps: GrpcDoorDeps, protocol: ReturnType<typeof loadProtocol>, inFlight: CallsInFlight): Server {
  const route = createRoute({ ...deps, inFlight });
  const eventRoute = createEventRoute({ ...deps, inFlight });
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_MAX_BYTES,
    'grpc.max_send_message_length': MESSAGE_MAX_BYTES,
    'grpc.enable_channelz': 0,
  });
  server.addService(protocol.ToolService.service, toolRoutes(deps, route, eventRoute));
  server.addService(protocol.ManagementService.service, managementRoutes(deps, route));
  return server;
}

/**
 * Connections reach gRPC only behind our own TLS server: grpc-js' own cannot be told the least TLS version nor handed
 * a socket. To it they are plain HTTP/2, whose peer certificate it still finds.
 */
function admit(tls: TlsServer, grpc: Server, logger: Logger): Set<Socket> {
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = new Set<Socket>();
  // Before the handshake already: one that never ends must not outlive the door.
  tls.on('connection', (connection) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  tls.on('secureConnection', (connection) => {
    connection.on('error', (error) => logger.debug('grpc.connection_failed', { why: error.message }));
    injector.injectConnection(connection);
  });
  tls.on('tlsClientError', (error) => logger.warn('grpc.handshake_refused', { why: error.message }));
  return connections;
}

/** No further calls; those under way are interrupted, and their answers still go out. */
async function closeDoor({ socket, tls, grpc, inFlight, connections }: OpenDoor): Promise<void> {
  await socket.release();
  const closed = new Promise<void>((resolve) => tls.close(() => resolve()));
  // Tells every peer to go, once its last call is answered.
  grpc.tryShutdown(() => {});
  await inFlight.interrupt();
  const late = setTimeout(() => cutOff(grpc, connections), FAREWELL_MS);
  await closed;
  clearTimeout(late);
}

function cutOff(grpc: Server, connections: ReadonlySet<Socket>): void {
  grpc.forceShutdown();
  for (const connection of connections) connection.destroy();
}
