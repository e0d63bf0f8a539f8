import type { Server as NetServer } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import {
  ResponderBuilder,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js';
import type { AnswerHook } from '../../call/client-hook.ts';
import type { PassingRequests } from '../../call/passing.ts';
import type { Dispatch, Refuse } from '../../call/request.ts';
import type { Clock } from '../../core/clock.ts';
import { MESSAGE_MAX_BYTES } from '../../core/limits.ts';
import type { Logger } from '../../core/log.ts';
import { loadProtocol } from '../../protocol/load.ts';
import type { Management } from '../../protocol/management-contract.ts';
import { type CallsInFlight, createCallsInFlight } from '../calls-in-flight.ts';
import { withAnyRequest } from './call-request.ts';
import { ensureCertificates } from './certificates.ts';
import {
  CONNECTION_LIMITS,
  type ConnectionLimits,
  Connections,
  createTlsServer,
  secureContextOf,
} from './connections.ts';
import { PassedQuestions } from './passed-questions.ts';
import { managementRoutes, toolRoutes } from './routes.ts';
import { createEventRoute, createRoute } from './rpc.ts';
import { type BoundSocket, bindSocket } from './socket.ts';

export interface GrpcDoorDeps {
  paths: { socket: string; certsDir: string };
  dispatch: Dispatch;
  refuse: Refuse;
  management: Management;
  passing: PassingRequests;
  /** Default: of this door alone. */
  questions?: PassedQuestions;
  answerHook: AnswerHook;
  /** Masks secrets in the text of an error before it leaves. */
  mask(text: string): string;
  /** True if the door replaces that of the daemon before, which still answers. Default: false. */
  replaces?(): boolean;
  clock: Clock;
  logger: Logger;
  /** Overrides CONNECTION_LIMITS. */
  limits?: Partial<ConnectionLimits>;
}

/** A door is open once `start` resolves. `stop` interrupts running calls and waits for them. Idempotent. */
export interface Door {
  name: string;
  /** Loads the certificates and the protocol for `start`. Optional: it can run while other parts start. */
  prepare(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Accepts no more connections, because the next daemon does. Calls that run go on. Optional. */
  leave?(): void;
  /** Replaces the certificates if they end soon. Open connections go on. Optional: a door without certificates. */
  renew?(): Promise<void>;
  /** Open connections. */
  connections(): number;
}

interface Preparation {
  certificates: Awaited<ReturnType<typeof ensureCertificates>>;
  protocol: ReturnType<typeof loadProtocol>;
}

interface OpenDoor {
  inFlight: CallsInFlight;
  grpc: Server;
  connections: Connections;
  tls: TlsServer;
  farewellMs: number;
  socket: BoundSocket;
  /** Once the door listens no more: settles when the last connection is closed. */
  closed?: Promise<void>;
}

/** Maximum concurrent calls of one connection. The proxy makes one, other programs may make several. */
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
    async renew() {
      if (open === undefined || ready === undefined) return;
      const certificates = await ensureCertificates({ ...deps, certsDir: deps.paths.certsDir });
      if (isDeepStrictEqual(certificates, ready.certificates)) return;
      ready = { ...ready, certificates };
      open.tls.setSecureContext(secureContextOf(certificates));
    },
    connections: () => open?.connections.count ?? 0,
    leave() {
      // Asks every peer to leave after its last answer.
      open?.grpc.tryShutdown(() => {});
      if (open === undefined) return;
      open.closed = closed(open.connections.server);
      // The path is the next daemon's. Its inode tells nothing: a file system uses the number of a removed socket again.
      open.socket = { async release() {} };
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
  const grpc = createServer(deps, protocol, inFlight, limits, () => connections);
  const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const tls = createTlsServer(certificates, limits.handshakeMs);
  const connections = new Connections(tls, {
    limits,
    logger: deps.logger,
    // grpc-js accepts neither a minimum TLS version nor a socket for its own TLS server. To it these connections are plain
    // HTTP/2, but it still finds the peer certificate.
    onProven: (connection) => injector.injectConnection(connection),
  });
  const socket = await bindSocket(connections.server, deps.paths, deps.replaces?.() ?? false);
  return { inFlight, grpc, connections, tls, socket, farewellMs: limits.farewellMs };
}

function createServer(
  deps: GrpcDoorDeps,
  protocol: ReturnType<typeof loadProtocol>,
  inFlight: CallsInFlight,
  { idleMs, requestMs }: ConnectionLimits,
  connections: () => Pick<Connections, 'hold' | 'endCurrent'>,
): Server {
  const route = createRoute({ ...deps, inFlight });
  const eventRoute = createEventRoute({ ...deps, inFlight });
  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_MAX_BYTES,
    'grpc.max_send_message_length': MESSAGE_MAX_BYTES,
    'grpc.enable_channelz': 0,
    'grpc.max_connection_idle_ms': idleMs,
    'grpc.max_concurrent_streams': STREAMS_MAX,
    interceptors: [countCalls(connections), createRequestDeadline(requestMs, () => connections().endCurrent())],
  });
  const { Execute, ExecuteWithProgress, ...others } = protocol.ToolService.service;
  const calls = { Execute: withAnyRequest(Execute), ExecuteWithProgress: withAnyRequest(ExecuteWithProgress) };
  server.addService(
    { ...others, ...calls },
    toolRoutes({ ...deps, questions: deps.questions ?? new PassedQuestions() }, route, eventRoute),
  );
  server.addService(protocol.ManagementService.service, managementRoutes(deps.management, route, eventRoute));
  return server;
}

/** Accepts no more calls. Running calls are interrupted, and their answers are still sent. */
async function closeDoor(door: OpenDoor): Promise<void> {
  const { socket, grpc, inFlight, connections, farewellMs } = door;
  await socket.release();
  door.closed ??= closed(connections.server);
  // Asks every peer to leave after its last answer.
  grpc.tryShutdown(() => {});
  await inFlight.interrupt();
  const late = setTimeout(() => cutOff(grpc, connections), farewellMs);
  await door.closed;
  clearTimeout(late);
}

/** Stops listening. Resolves when the last connection is closed. */
function closed(server: NetServer): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function cutOff(grpc: Server, connections: Connections): void {
  grpc.forceShutdown();
  connections.cutOff();
}

/** A call counts for its connection until it is answered or cancelled. */
function countCalls(connections: () => Pick<Connections, 'hold'>): ServerInterceptor {
  return (_method, call) => {
    const leave = connections().hold();
    const listener = new ServerListenerBuilder().withOnCancel(leave).build();
    const responder = new ResponderBuilder()
      .withStart((next) => next(listener))
      .withSendStatus((answer, next) => {
        leave();
        next(answer);
      })
      .build();
    return new ServerInterceptingCall(call, responder);
  };
}

/**
 * Ends a call whose request is not complete within `requestMs` milliseconds, before any handler sees it. `onLate` is
 * called in the context of the connection, because gRPC can answer such a call but cannot close a stream that the peer
 * keeps open.
 */
function createRequestDeadline(requestMs: number, onLate: () => void): ServerInterceptor {
  return (_method, call) => {
    const late = setTimeout(() => {
      call.sendStatus({
        code: status.DEADLINE_EXCEEDED,
        details: `the request was not complete within ${requestMs} ms`,
      });
      onLate();
    }, requestMs).unref();
    const listener = new ServerListenerBuilder()
      .withOnReceiveHalfClose((next) => {
        clearTimeout(late);
        next();
      })
      .withOnCancel(() => clearTimeout(late))
      .build();
    const responder = new ResponderBuilder().withStart((next) => next(listener)).build();
    return new ServerInterceptingCall(call, responder);
  };
}
