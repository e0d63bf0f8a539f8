import { createServer, type Server } from 'node:tls';
import type { ServerUnaryCall } from '@grpc/grpc-js';
import type { CertificateSet } from './certificate-files.ts';
import { type Caller, callerNamed } from './identities.ts';

/**
 * The TLS end of the door: TLS 1.3 only, and no connection without a client certificate of our own authority. It
 * speaks HTTP/2 alone; a client that does not ask for that is cut off by the handshake. `handshakeMs`: milliseconds for it.
 */
export function createTlsServer(certificates: CertificateSet, handshakeMs: number): Server {
  return createServer({
    ca: certificates.authority,
    cert: certificates.server.certificate,
    key: certificates.server.privateKey,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['h2'],
    handshakeTimeout: handshakeMs,
  });
}

/** Whom the verified certificate of this call's connection speaks for. */
export function callerOf(call: Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'>): Caller | undefined {
  return callerNamed(call.getAuthContext().sslPeerCertificate?.subject.CN);
}
