import type { Socket } from 'node:net';
import {
  checkServerIdentity,
  createSecureContext,
  createServer,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls';
import { ChannelCredentials, type ChannelOptions, type Server, ServerCredentials } from '@grpc/grpc-js';
import { PEER_NAME, type PluginCertificate, toPem } from './certificate.ts';
import { PLUGIN_MESSAGE_MAX_BYTES } from './environment.ts';
import { checkSocketPath } from './socket-path.ts';

const MIN_TLS_VERSION = 'TLSv1.2';
/** The longest the TLS handshake may take, milliseconds. */
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** The most connections to one socket at once. The peer is one process and needs one. */
const MAX_CONNECTIONS = 16;
/** The flow-control window, bytes. Saves one round trip for every 64 KiB of a long output. */
const FLOW_CONTROL_BYTES = 1024 * 1024;
/** The longest a timer can run. */
const IDLE_TIMEOUT_MS = 2 ** 31 - 1;

/** The two ends of a plugin connection. */
export interface Pair {
  own: PluginCertificate;
  /** The only certificate the other side may present, DER. */
  peer: Buffer;
}

/** The arguments for a grpc-js client. */
export interface DialTarget {
  address: string;
  credentials: ChannelCredentials;
  options: ChannelOptions;
}

/** Options of every client and server on a plugin connection. */
export const MESSAGE_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': PLUGIN_MESSAGE_MAX_BYTES,
  'grpc.max_send_message_length': PLUGIN_MESSAGE_MAX_BYTES,
  'grpc.enable_channelz': 0,
};

const DIAL_OPTIONS: ChannelOptions = {
  ...MESSAGE_OPTIONS,
  'grpc.ssl_target_name_override': PEER_NAME,
  'grpc.default_authority': PEER_NAME,
  // A call is never sent twice, and nothing outside decides where it goes.
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc-node.flow_control_window': FLOW_CONTROL_BYTES,
  // Idle connections stay open: a closed connection means that the other side is gone.
  'grpc.client_idle_timeout_ms': IDLE_TIMEOUT_MS,
};

/** The target for a client that connects to `path` as `own` and only accepts the holder of `peer`. */
export function dialPinned(path: string, { own, peer }: Pair): DialTarget {
  const context = createSecureContext({
    ca: toPem(peer),
    cert: own.certificate,
    key: own.privateKey,
    minVersion: MIN_TLS_VERSION,
  });
  const credentials = ChannelCredentials.createFromSecureContext(context, {
    checkServerIdentity: (host, shown) =>
      shown.raw.equals(peer) ? checkServerIdentity(host, shown) : new Error('the certificate is not the announced one'),
  });
  return { address: `unix:${checkSocketPath(path)}`, credentials, options: DIAL_OPTIONS };
}

/** A socket that serves one peer. */
export interface PinnedListener {
  /** Settles, and never rejects, when the peer has disconnected: it does not come back. */
  readonly left: Promise<void>;
  /** Stops listening and closes all connections. Does not wait. */
  close(): void;
}

/**
 * Serves `server` on the unix socket `path`, which must not exist, to the holder of `peer` only. TLS is our own, because
 * that of grpc-js cannot compare the certificate itself.
 */
export async function listenPinned(server: Server, path: string, { own, peer }: Pair): Promise<PinnedListener> {
  const tls = createServer({
    ca: toPem(peer),
    cert: own.certificate,
    key: own.privateKey,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: MIN_TLS_VERSION,
    ALPNProtocols: ['h2'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  });
  tls.maxConnections = MAX_CONNECTIONS;
  const { connections, left } = admit(tls, server, peer);
  await bind(tls, checkSocketPath(path));
  return {
    left,
    close() {
      tls.close();
      for (const connection of connections) connection.destroy();
    },
  };
}

interface Admitted {
  /** All connections, also before their handshake: one whose handshake never ends must not outlive the listener. */
  connections: Set<Socket>;
  left: Promise<void>;
}

function admit(tls: TlsServer, server: Server, peer: Buffer): Admitted {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = new Set<Socket>();
  tls.on('connection', (connection) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  tls.on('tlsClientError', (_error, connection) => connection.destroy());
  const left = new Promise<void>((resolve) => {
    let verified = 0;
    tls.on('secureConnection', (connection: TLSSocket) => {
      connection.on('error', () => connection.destroy());
      if (!connection.getPeerX509Certificate()?.raw.equals(peer)) {
        connection.destroy();
        return;
      }
      verified += 1;
      connection.once('close', () => {
        verified -= 1;
        if (verified === 0) resolve();
      });
      injector.injectConnection(connection);
    });
  });
  return { connections, left };
}

function bind(tls: TlsServer, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    tls.once('error', reject);
    tls.listen(path, () => {
      tls.off('error', reject);
      resolve();
    });
  });
}
