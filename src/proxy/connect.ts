import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { Channel, Identity, OpenChannel } from './channel.ts';
import { openBunChannel } from './channel-bun.ts';
import type { Places } from './environment.ts';

/** How long a peer may take over the handshake, milliseconds. */
const HANDSHAKE_LIMIT_MS = 10_000;
/** A peer that closes may be a daemon that is dying: it is asked again so often, with so long between, milliseconds. */
const RESETS_MAX = 3;
const RESET_PAUSE_MS = 30;

/** What one attempt came to: a connection, nobody there (or nobody yet), or a reason to give up. */
export type Attempt = { kind: 'connected'; channel: Channel } | { kind: 'absent' } | { kind: 'busy' };

/** One attempt. Nothing is sent, so it may be repeated. Throws what no repetition would mend; aborting: CANCELLED. */
export async function attemptConnection(places: Places, signal: AbortSignal): Promise<Attempt> {
  for (let resets = 0; ; resets++) {
    const attempt = await attemptOnce(places, signal);
    if (attempt.kind !== 'reset') return attempt;
    if (resets === RESETS_MAX) throw foreign(places, 'it closes the connection');
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
  const timer = setTimeout(() => limit.abort(foreign(places, 'it does not answer')), HANDSHAKE_LIMIT_MS);
  try {
    const openChannel = await loadTransport();
    return { kind: 'connected', channel: await openChannel(places.socket, identity, limit.signal) };
  } catch (error) {
    return judge(error, places);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** `node:tls` is loaded only where it is needed. */
async function loadTransport(): Promise<OpenChannel> {
  return process.versions.bun === undefined ? (await import('./channel-node.ts')).openNodeChannel : openBunChannel;
}

export function cancelled(): ContextdError {
  return new ContextdError('CANCELLED', 'the call was ended by a signal');
}

/** Whoever holds the socket is not the daemon. */
export function foreign(places: Places, reason: string): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', `what listens on ${places.socket} is not contextd: ${reason}`, {
    remedy: 'End the process that holds this socket, or remove the file, and call again.',
    details: { socket: places.socket },
  });
}

/** The peer is a daemon that does not know this proxy's certificate. */
export function turnedDown(places: Places, reason: string): ContextdError {
  return new ContextdError('AUTH_FAILED', `the daemon turned down the certificate in ${places.certsDir} (${reason})`, {
    remedy: 'Run `ctxd server restart`; if that does not help, check that CONTEXTD_HOME is the same for both.',
  });
}

/** True for an error that the peer's TLS sent instead of going on. */
export function isAlert(error: Error): boolean {
  return /alert/i.test(error.message);
}

/** Undefined when there are no certificates yet: then no daemon has ever run. */
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
      remedy: 'Make them readable for this user, who must be the one that runs the daemon.',
    });
  }
}

/** What an attempt that failed came to. The two TLS libraries agree on the system's codes, not on their own. */
function judge(error: unknown, places: Places): Attempt | { kind: 'reset' } {
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
  throw isTlsFault(error) ? foreign(places, 'it does not speak TLS 1.3') : impostor(places, error.message);
}

/** The files do not belong together or are no certificates: a daemon that starts writes new ones. */
const UNUSABLE_IDENTITY = /^ERR_(OSSL_|BORINGSSL)/;

/** The handshake broke, as opposed to a certificate that was read and not accepted. */
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

/** An agent's own sandbox filters socket(); both settings were seen to help Claude Code. */
function socketForbidden(code: string | undefined): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', `this sandbox forbids unix sockets (${code})`, {
    remedy:
      'In the settings of the agent whose sandbox this is, set sandbox.excludedCommands: [".claude/tools/*"], or sandbox.network.allowAllUnixSockets: true.',
  });
}

function socketUnreadable(places: Places, code: string | undefined): ContextdError {
  return new ContextdError('DAEMON_UNAVAILABLE', `the socket ${places.socket} is not this user's (${code})`, {
    remedy: 'Call as the user that runs the daemon, or set CONTEXTD_HOME to a directory of your own.',
  });
}

function impostor(places: Places, reason: string): ContextdError {
  return new ContextdError(
    'AUTH_FAILED',
    `what listens on ${places.socket} has no certificate of this installation (${reason})`,
    { remedy: 'Run `ctxd server restart`; if that does not help, end the process that holds the socket.' },
  );
}
