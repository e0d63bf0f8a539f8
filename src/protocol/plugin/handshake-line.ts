import { X509Certificate } from 'node:crypto';
import { ContextdError } from '../../core/errors.ts';
import { PEER_NAME } from './certificate.ts';
import { CORE_PROTOCOL_VERSION } from './environment.ts';
import { socketNameIn } from './socket-path.ts';

/** The longest handshake line, bytes: five times one with a P-521 certificate. */
export const HANDSHAKE_MAX_BYTES = 8_192;

/** The most characters of a process's output that a message quotes. */
const QUOTED_CHARS = 200;
const BASE64 = /^[A-Za-z0-9+/]+$/;
const NUMBER = /^\d{1,9}$/;

/** Where a plugin listens, and its identity. */
export interface Handshake {
  appVersion: number;
  /** Name of its socket in the socket directory. */
  socketName: string;
  /** The only certificate it may present. */
  certificate: X509Certificate;
}

export interface Expected {
  /** The socket directory as the plugin names it. */
  socketDir: string;
  appVersions: readonly number[];
}

/**
 * Formats `1|APP|unix|ADDRESS|grpc|CERTIFICATE`, with the certificate in base64 without padding and an optional seventh
 * field for multiplexing.
 */
export function formatHandshake(appVersion: number, address: string, der: Buffer, multiplex?: boolean): string {
  const fields = [CORE_PROTOCOL_VERSION, appVersion, 'unix', address, 'grpc', base64(der)];
  return `${[...fields, ...(multiplex === undefined ? [] : [multiplex])].join('|')}\n`;
}

/**
 * Parses the first line of a process that may print anything. Throws VERSION_MISMATCH for another core or application
 * version, and TOOL_CRASHED for anything else that is not a valid handshake.
 */
export function parseHandshake(line: string, expected: Expected): Handshake {
  const fields = line.trim().split('|');
  if (fields.length < 4) throw refuse(`it printed ${quote(line)} instead of its handshake`);
  const [core = '', app = '', network = '', address = '', protocol = '', certificate = '', ...rest] = fields;
  checkCore(core);
  const appVersion = readAppVersion(app, expected.appVersions);
  if (network !== 'unix') throw refuse(`it listens on the network ${quote(network)}; only unix sockets are supported`);
  if (protocol !== 'grpc') throw refuse(`it speaks ${quote(protocol)}; only grpc is supported`);
  if (rest.length > 1) throw refuse(`its handshake has ${fields.length} fields; there are at most 7`);
  const socketName = socketNameIn(expected.socketDir, address);
  if (socketName === undefined) {
    throw refuse(`its address ${quote(address)} is not a plain name in the socket directory ${expected.socketDir}`);
  }
  return { appVersion, socketName, certificate: readCertificate(certificate) };
}

/** Quotes the output of a process: shortened, with control characters escaped. */
export function quote(printed: string): string {
  const shown = printed.length > QUOTED_CHARS ? `${printed.slice(0, QUOTED_CHARS)}…` : printed;
  return JSON.stringify(shown);
}

function checkCore(core: string): void {
  if (!NUMBER.test(core)) throw refuse(`its core protocol version ${quote(core)} is not a number`);
  if (Number(core) === CORE_PROTOCOL_VERSION) return;
  throw new ContextdError(
    'VERSION_MISMATCH',
    `the tool speaks version ${Number(core)} of go-plugin's core protocol, contextd version ${CORE_PROTOCOL_VERSION}`,
    { remedy: 'Build the tool again with a go-plugin library of core protocol 1.' },
  );
}

function readAppVersion(app: string, known: readonly number[]): number {
  if (!NUMBER.test(app)) throw refuse(`its application protocol version ${quote(app)} is not a number`);
  if (known.includes(Number(app))) return Number(app);
  throw new ContextdError(
    'VERSION_MISMATCH',
    `the tool speaks version ${Number(app)} of the tool protocol, contextd version ${known.join(', ')}`,
    { remedy: 'Build the tool again with the SDK of the installed contextd.' },
  );
}

function readCertificate(text: string): X509Certificate {
  if (text === '') throw refuse('its handshake has no certificate', 'Enable AutoMTLS in the tool.');
  const der = Buffer.from(text, 'base64');
  if (!BASE64.test(text) || base64(der) !== text) throw refuse('its certificate is not base64 without padding');
  const certificate = parseCertificate(der);
  if (!certificate.raw.equals(der)) throw refuse('its certificate is followed by other data');
  if (certificate.checkHost(PEER_NAME) === undefined) throw refuse(`its certificate is not for ${PEER_NAME}`);
  return certificate;
}

function parseCertificate(der: Buffer): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch (cause) {
    throw refuse('its certificate is not X.509 in DER', undefined, cause);
  }
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function refuse(reason: string, remedy?: string, cause?: unknown): ContextdError {
  return new ContextdError('TOOL_CRASHED', `the tool did not start: ${reason}`, {
    remedy: remedy ?? 'Its author must serve it over gRPC with a go-plugin library of core protocol 1.',
    cause,
  });
}
