import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { Clock } from '../core/clock.ts';
import { MESSAGE_MAX_BYTES } from '../core/limits.ts';
import type { Logger } from '../core/log.ts';
import { loadProtocol } from '../protocol/load.ts';
import { type CallsInFlight, createCallsInFlight } from './calls-in-flight.ts';
import { ensureCertificates } from './certificates.ts';
import { CONNECTION_LIMITS, type ConnectionLimits, Connections } from './connections.ts';
import type { Dispatch, Management, Refuse } from './door.ts';
import { createEventRoute } from './event-route.ts';
import { createTlsServer } from './mtls.ts';
import { createRequestDeadline } from './request-deadline.ts';
import { managementRoutes, toolRoutes } from './routes.ts';
import { type BoundSocket, bindSocket } from './socket.ts';
import { createRoute } from './unary.ts';
import { withAnyRequest } from './unreadable-request.ts';

export interface GrpcDoorDeps {
  paths: { socket: string; certsDir: string };
  dispatch: Dispatch;
  refuse: Refuse;
  management: Management;
  /** Takes secrets out of the text of an error before it leaves. */
  mask(text: string): string;
  clock: Clock;
  logger: Logger;
  /** Instead of CONNECTION_LIMITS. */
  limits?: Partial<ConnectionLimits>;
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
  connections: Connections;
  farewellMs: number;
  socket: BoundSocket;
}

/** Calls of one connection at once: the proxy makes one, a program of a person's some. */
const STREAMS_MAX = 256;

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
  const limits = { ...CONNECTION_LIMITS, ...deps.limits };
  const grpc = createServer(deps, protocol, inFlight, limits, () => connections.endCurrent());
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = new Connections(createTlsServer(certificates, limits.handshakeMs), {
    limits,
    logger: deps.logger,
    // Only behind our own TLS server: grpc-js' own cannot be told the least TLS version nor handed a socket. To it these
    // are plain HTTP/2, whose peer certificate it still finds.
    onProven: (connection) => injector.injectConnection(connection),
  });
  const socket = await bindSocket(connections.server, deps.paths);
  return { inFlight, grpc, connections, socket, farewellMs: limits.farewellMs };
}

function createServer(
  deps: GrpcDoorDeps,
  protocol: ReturnType<typeof loadProtocol>,
  inFlight: CallsInFlight,
  { idleMs, requestMs }: ConnectionLimits,
  onLateRequest: () => void,
): Server {
  const route = createRoute({ ...deps, inFlight });
  const eventRoute = createEventRoute({ ...deps, inFlight });
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_MAX_BYTES,
    'grpc.max_send_message_length': MESSAGE_MAX_BYTES,
    'grpc.enable_channelz': 0,
    'grpc.max_connection_idle_ms': idleMs,
    'grpc.max_concurrent_streams': STREAMS_MAX,
    interceptors: [createRequestDeadline(requestMs, onLateRequest)],
  });
  const { Execute, ExecuteWithProgress, ...others } = protocol.ToolService.service;
  const calls = { Execute: withAnyRequest(Execute), ExecuteWithProgress: withAnyRequest(ExecuteWithProgress) };
  server.addService({ ...others, ...calls }, toolRoutes(deps, route, eventRoute));
  server.addService(protocol.ManagementService.service, managementRoutes(deps, route));
  return server;
}

/** No further calls; those under way are interrupted, and their answers still go out. */
async function closeDoor({ socket, grpc, inFlight, connections, farewellMs }: OpenDoor): Promise<void> {
  await socket.release();
  const closed = new Promise<void>((resolve) => connections.server.close(() => resolve()));
  // Tells every peer to go, once its last call is answered.
  grpc.tryShutdown(() => {});
  await inFlight.interrupt();
  const late = setTimeout(() => cutOff(grpc, connections), farewellMs);
  await closed;
  clearTimeout(late);
}

function cutOff(grpc: Server, connections: Connections): void {
  grpc.forceShutdown();
  connections.cutOff();
}
