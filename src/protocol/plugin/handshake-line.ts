import { X509Certificate } from 'node:crypto';
import { ContextdError } from '../../core/errors.ts';
import { PEER_NAME } from './certificate.ts';
import { CORE_PROTOCOL_VERSION } from './environment.ts';
import { socketNameIn } from './socket-path.ts';

/** The longest handshake line, bytes: five times one with a P-521 certificate. */
export const HANDSHAKE_MAX_BYTES = 8_192;

/** Of what a process printed, characters that go into a message. */
const QUOTED_CHARS = 200;
const BASE64 = /^[A-Za-z0-9+/]+$/;
const NUMBER = /^\d{1,9}$/;

/** What a plugin says of itself: where it listens and who it is. */
export interface Handshake {
  appVersion: number;
  /** Name of its socket in the socket directory. */
  socketName: string;
  /** The only certificate it may show. */
  certificate: X509Certificate;
}

export interface Expected {
  /** The directory as the plugin names it. */
  socketDir: string;
  appVersions: readonly number[];
}

/** `1|APP|unix|ADDRESS|grpc|CERTIFICATE`, the certificate as base64 without padding; a seventh field about multiplexing. */
export function formatHandshake(appVersion: number, address: string, der: Buffer, multiplex?: boolean): string {
  const fields = [CORE_PROTOCOL_VERSION, appVersion, 'unix', address, 'grpc', base64(der)];
  return `${[...fields, ...(multiplex === undefined ? [] : [multiplex])].join('|')}\n`;
}

/**
 * Reads the line of a process that may print anything. Throws VERSION_MISMATCH for another core or application
 * version, TOOL_CRASHED for everything else that is not a handshake contextd takes.
 */
export function parseHandshake(line: string, expected: Expected): Handshake {
  const fields = line.trim().split('|');
  if (fields.length < 4) throw refuse(`it printed ${quote(line)} where its handshake belongs`);
  const [core = '', app = '', network = '', address = '', protocol = '', certificate = '', ...rest] = fields;
  checkCore(core);
  const appVersion = readAppVersion(app, expected.appVersions);
  if (network !== 'unix') throw refuse(`it listens on the network ${quote(network)}; only unix sockets are taken`);
  if (protocol !== 'grpc') throw refuse(`it speaks ${quote(protocol)}; only grpc is taken`);
  if (rest.length > 1) throw refuse(`its handshake has ${fields.length} fields; there are at most 7`);
  const socketName = socketNameIn(expected.socketDir, address);
  if (socketName === undefined) {
    throw refuse(`its address ${quote(address)} is not a plain name in the socket directory ${expected.socketDir}`);
  }
  return { appVersion, socketName, certificate: readCertificate(certificate) };
}

/** What a process printed, short and with its control characters made visible. */
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
  if (text === '') throw refuse('its handshake holds no certificate', 'Let the tool take part in AutoMTLS.');
  const der = Buffer.from(text, 'base64');
  if (!BASE64.test(text) || base64(der) !== text) throw refuse('its certificate is not base64 without padding');
  const certificate = parseCertificate(der);
  if (!certificate.raw.equals(der)) throw refuse('something follows its certificate');
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
    remedy: remedy ?? 'Let its author serve it with a go-plugin library of core protocol 1, over gRPC.',
    cause,
  });
}
