import { X509Certificate } from 'node:crypto';
import { writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Server, type ServiceError, status } from '@grpc/grpc-js';
import type { GRPCBrokerHandlers } from '../../protocol/generated/grpc_broker-service.ts';
import type { GRPCControllerHandlers } from '../../protocol/generated/grpc_controller-service.ts';
import { _plugin_StdioData_Channel as StdioChannel } from '../../protocol/generated/grpc_stdio.ts';
import type { GRPCStdioHandlers } from '../../protocol/generated/grpc_stdio-service.ts';
import { _grpc_health_v1_HealthCheckResponse_ServingStatus as ServingStatus } from '../../protocol/generated/health.ts';
import type { HealthHandlers } from '../../protocol/generated/health-service.ts';
import { createCertificate } from '../../protocol/plugin/certificate.ts';
import {
  CLIENT_CERT_KEY,
  COOKIE_KEY,
  COOKIE_VALUE,
  HEALTH_SERVICE,
  MULTIPLEX_KEY,
  SOCKET_DIR_KEY,
} from '../../protocol/plugin/environment.ts';
import { formatHandshake } from '../../protocol/plugin/handshake-line.ts';
import { loadPluginProtocol, type PluginProtocol } from '../../protocol/plugin/load-plugin-protocol.ts';
import { listenPinned, MESSAGE_OPTIONS, type Pair } from '../../protocol/plugin/pinned-tls.ts';
import { newSocket, PluginBroker } from './plugin-broker.ts';
import { StdioStream } from './stdio-stream.ts';

/** The time for the last answers after the host has asked to shut down, milliseconds. */
const FAREWELL_MS = 250;

const NO_COOKIE = `This program is a plugin of contextd and is not meant to be started by hand.
contextd starts it when one of its tools is called.
`;
const NO_MTLS = `This plugin of contextd takes connections only with AutoMTLS, and ${CLIENT_CERT_KEY} holds no certificate.
`;

export interface PluginServeOptions {
  /** Version of the tool protocol that this program speaks. */
  appVersion: number;
  /** The environment of the process. */
  env: Readonly<Record<string, string | undefined>>;
  /**
   * Adds the plugin's own services before the host can connect. The broker works once the host is connected. `protocol` is
   * the result of `loadPluginProtocol`, passed on because loading takes time.
   */
  register(server: Server, broker: PluginBroker, protocol: PluginProtocol): void;
}

export interface ServedPlugin {
  readonly broker: PluginBroker;
  /** Settles, and never rejects, when the host has asked to shut down or is gone. The process has nothing left to do. */
  readonly closed: Promise<void>;
}

/**
 * The plugin's side of go-plugin's core protocol 1, for a whole process: checks the cookie, listens on a unix socket for
 * the host alone, prints the handshake line, and from then on sends stdout and stderr to the host. Ignores SIGINT: an
 * interrupt at the terminal is for the host. Without the cookie or the host's certificate it prints an error and exits
 * with code 1.
 */
export async function servePlugin(options: PluginServeOptions): Promise<ServedPlugin> {
  const { env, appVersion } = options;
  if (env[COOKIE_KEY] !== COOKIE_VALUE) refuse(NO_COOKIE);
  process.on('SIGINT', () => {});
  const pair = { own: createCertificate(Date.now()), peer: readHostCertificate(env[CLIENT_CERT_KEY]) };
  const socketDir = env[SOCKET_DIR_KEY] || tmpdir();
  const protocol = loadPluginProtocol();
  const plugin = new Plugin(pair, socketDir, protocol);
  options.register(plugin.server, plugin.broker, protocol);
  const address = newSocket(socketDir);
  await plugin.listen(address);
  const multiplex = env[MULTIPLEX_KEY] ? false : undefined;
  process.stdout.write(formatHandshake(appVersion, address, pair.own.der, multiplex));
  plugin.captureOutput();
  return plugin;
}

/** The gRPC server with the services of every plugin. */
class Plugin implements ServedPlugin {
  readonly server = new Server(MESSAGE_OPTIONS);
  readonly broker: PluginBroker;
  readonly closed: Promise<void>;
  readonly #pair: Pair;
  readonly #stdio = new StdioStream();
  #close: () => void = () => {};
  #isEnding = false;

  constructor(pair: Pair, socketDir: string, { Health, GRPCBroker, GRPCController, GRPCStdio }: PluginProtocol) {
    this.#pair = pair;
    this.broker = new PluginBroker(pair, socketDir);
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
    this.server.addService(Health.service, createHealth());
    this.server.addService(GRPCBroker.service, createBrokerService(this.broker));
    this.server.addService(
      GRPCController.service,
      createController(() => this.#end()),
    );
    this.server.addService(GRPCStdio.service, createStdioService(this.#stdio));
  }

  async listen(address: string): Promise<void> {
    const listener = await listenPinned(this.server, address, this.#pair);
    void listener.left.then(() => this.#end());
    void this.closed.then(() => {
      listener.close();
      this.broker.close();
    });
  }

  captureOutput(): void {
    this.#stdio.capture(process.stdout, StdioChannel.STDOUT);
    this.#stdio.capture(process.stderr, StdioChannel.STDERR);
  }

  /** Lets requests under way finish, for a short time. */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const late = setTimeout(this.#close, FAREWELL_MS);
    this.#stdio.end();
    this.server.tryShutdown(() => {
      clearTimeout(late);
      this.#close();
    });
  }
}

function readHostCertificate(pem: string | undefined): Buffer {
  try {
    return new X509Certificate(pem ?? '').raw;
  } catch {
    return refuse(NO_MTLS);
  }
}

function refuse(message: string): never {
  writeSync(process.stderr.fd, message);
  process.exit(1);
}

export function createHealth(): HealthHandlers {
  return {
    Check({ request }, respond) {
      if (isKnown(request.service)) respond(null, { status: ServingStatus.SERVING });
      else respond({ code: status.NOT_FOUND, details: 'unknown service' });
    },
    Watch(call) {
      call.write({ status: isKnown(call.request.service) ? ServingStatus.SERVING : ServingStatus.SERVICE_UNKNOWN });
    },
  };
}

export function createBrokerService(broker: PluginBroker): GRPCBrokerHandlers {
  return {
    StartStream(stream) {
      if (!broker.attach(stream)) stream.emit('error', taken('the broker has its stream'));
    },
  };
}

export function createController(onShutdown: () => void): GRPCControllerHandlers {
  return {
    Shutdown(_call, respond) {
      respond(null, {});
      onShutdown();
    },
  };
}

export function createStdioService(stdio: StdioStream): GRPCStdioHandlers {
  return {
    StreamStdio(call) {
      if (!stdio.attach(call)) call.emit('error', taken('the output is already being read'));
    },
  };
}

function taken(details: string): Partial<ServiceError> {
  return { code: status.FAILED_PRECONDITION, details };
}

function isKnown(service: string): boolean {
  return service === HEALTH_SERVICE || service === '';
}
