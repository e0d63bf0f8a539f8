import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { Channel, Identity, OpenChannel } from './channel.ts';
import { openBunChannel } from './channel-bun.ts';
import type { Places } from './environment.ts';

/** Timeout for the handshake in milliseconds. */
const HANDSHAKE_LIMIT_MS = 10_000;
/** A peer that closes the connection may be a stopping daemon: number of retries, and delay between them. */
const RESETS_MAX = 3;
const RESET_PAUSE_MS = 30;

/** Outcome of one attempt: a connection, no daemon (or not yet), or a daemon with a full queue. */
export type Attempt = { kind: 'connected'; channel: Channel } | { kind: 'absent' } | { kind: 'busy' };

/**
 * Tries once to connect. Sends no request, so the caller may retry. Throws errors that a retry would not fix, and
 * CANCELLED if the signal is aborted.
 */
export async function attemptConnection(places: Places, signal: AbortSignal): Promise<Attempt> {
  for (let resets = 0; ; resets++) {
    const attempt = await attemptOnce(places, signal);
    if (attempt.kind !== 'reset') return attempt;
    if (resets === RESETS_MAX) throw notAnswering(places, 'accepts connections and closes them');
    await new Promise((resolve) => setTimeout(resolve, RESET_PAUSE_MS));
  }
}

async function attemptOnce(places: Places, signal: AbortSignal): Promise<Attempt | { kind: 'reset' }> {
  const identity = readIdentity(places.certsDir);
  if (identity === undefined) return { kind: 'absent' };
  const limit = new AbortController();
  const abort = () => limit.abort(cancelled());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  const timer = setTimeout(() => limit.abort(notAnswering(places, SILENT)), HANDSHAKE_LIMIT_MS);
  try {
    const openChannel = await loadTransport();
    return { kind: 'connected', channel: await openChannel(places.socket, identity, limit.signal) };
  } catch (error) {
    return classify(error, places);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Loads `node:tls` only if needed. */
async function loadTransport(): Promise<OpenChannel> {
  return process.versions.bun === undefined ? (await import('./channel-node.ts')).openNodeChannel : openBunChannel;
}

/** Unique per daemon's socket, even if the file system reuses the inode number. */
export function socketIdentity({ socket }: Places): string {
  try {
    const { ino, ctimeNs } = statSync(socket, { bigint: true });
    return `${ino} ${ctimeNs}`;
  } catch (error) {
    if (!isErrno(error)) throw error;
    return 'none';
  }
}

export function cancelled(): ContextdError {
  return new ContextdError('CANCELLED', 'the call was ended by a signal');
}

const SILENT = `did not answer within ${HANDSHAKE_LIMIT_MS / 1000} seconds`;

/** Does not claim that the listener is not the daemon: a busy or stopping daemon behaves the same. */
function notAnswering(places: Places, what: string): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', `the process that listens on ${places.socket} ${what}`, {
    remedy: 'The daemon may be busy or stopping: call again. If it stays so, run `ctxd server restart`.',
    details: { socket: places.socket },
  });
}

/** The process that listens on the socket is not the daemon. */
export function notContextd(places: Places, reason: string): ContextdError {
  return new ContextdError(
    'DAEMON_UNAVAILABLE',
    `the process that listens on ${places.socket} is not contextd: ${reason}`,
    {
      remedy: 'End the process that holds this socket, or remove the file, then call again.',
      details: { socket: places.socket },
    },
  );
}

/** The peer is a daemon that rejects this proxy's certificate. */
export function certificateRejected(places: Places, reason: string): ContextdError {
  return new ContextdError('AUTH_FAILED', `the daemon rejected the certificate in ${places.certsDir} (${reason})`, {
    remedy: 'Run `ctxd server restart`. If that does not help, check that CONTEXTD_HOME is the same for both.',
  });
}

/** True for an error that the peer sent as a TLS alert. */
export function isAlert(error: Error): boolean {
  return /alert/i.test(error.message);
}

/** Undefined if there are no certificates yet: no daemon has ever run. */
function readIdentity(certsDir: string): Identity | undefined {
  try {
    return {
      ca: readFileSync(join(certsDir, 'ca.pem')),
      cert: readFileSync(join(certsDir, 'proxy.pem')),
      key: readFileSync(join(certsDir, 'proxy.key')),
    };
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (!isErrno(error)) throw error;
    throw new ContextdError('AUTH_FAILED', `cannot read the certificates in ${certsDir} (${error.code})`, {
      remedy: 'Make them readable by this user, who must be the user that runs the daemon.',
    });
  }
}

/** Outcome of a failed attempt. The two TLS libraries share the system's error codes but not their own. */
function classify(error: unknown, places: Places): Attempt | { kind: 'reset' } {
  if (error instanceof ContextdError || !isErrno(error)) throw error;
  switch (error.code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return { kind: 'absent' };
    case 'EAGAIN':
      return { kind: 'busy' };
    case 'EPERM':
    case 'EACCES':
      throw isWritable(places.socket) ? socketForbidden(error.code) : socketUnreadable(places, error.code);
    case 'ECONNRESET':
    case 'EPIPE':
      return { kind: 'reset' };
  }
  if (UNUSABLE_IDENTITY.test(error.code ?? '')) return { kind: 'absent' };
  throw isTlsFault(error) ? notContextd(places, 'it does not speak TLS 1.3') : impostor(places, error.message);
}

/** The files do not match each other or are not certificates. A starting daemon writes new ones. */
const UNUSABLE_IDENTITY = /^ERR_(OSSL_|BORINGSSL)/;

/** True if the handshake failed; false if a certificate was read and rejected. */
function isTlsFault(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPROTO' || error.code?.startsWith('ERR_SSL') === true;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    return isErrno(error, 'ENOENT');
  }
}

/** The agent's own sandbox filters socket(). run.ts adds the remedy, which depends on the project. */
function socketForbidden(code: string | undefined): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', `the agent's own sandbox forbids unix sockets (${code})`, {
    details: SOCKET_FORBIDDEN,
  });
}

const SOCKET_FORBIDDEN = { reason: 'socket_forbidden' } as const;

export function isSocketForbidden(error: unknown): error is ContextdError {
  return error instanceof ContextdError && error.details.reason === SOCKET_FORBIDDEN.reason;
}

function socketUnreadable(places: Places, code: string | undefined): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', `the socket ${places.socket} belongs to another user (${code})`, {
    remedy: 'Call as the user that runs the daemon, or set CONTEXTD_HOME to a directory of your own.',
  });
}

function impostor(places: Places, reason: string): ContextdError {
  return new ContextdError(
    'AUTH_FAILED',
    `the process that listens on ${places.socket} has no certificate of this installation (${reason})`,
    { remedy: 'Run `ctxd server restart`. If that does not help, end the process that holds the socket.' },
  );
}
