import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';
import { credentials } from '@grpc/grpc-js';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { loadProtocol } from '../../protocol/load.ts';
import { readIdentity } from './certificates.ts';
import { authorityFile, readPrivate, SERVER_NAME } from './identities.ts';

/** Who holds a socket path. Only a `dead` socket may be removed. */
export type Occupant =
  | { kind: 'none' }
  /** A socket that nobody listens on. */
  | { kind: 'dead' }
  | { kind: 'contextd'; pid: number; version: string }
  /** Anything else; `what` describes it in a few words. */
  | { kind: 'foreign'; what: string };

export interface ProbeDeps {
  socket: string;
  certsDir: string;
  /** Milliseconds for an answer; default 2,000. */
  probeTimeoutMs?: number;
}

const PROBE_TIMEOUT_MS = 2_000;

/** Dials the path before it is unlinked. Changes nothing. */
export async function probeSocket(deps: ProbeDeps): Promise<Occupant> {
  const kind = await kindOf(deps.socket);
  if (kind !== 'socket') return kind === 'none' ? { kind } : { kind: 'foreign', what: 'it is not a socket' };
  const dialled = await dial(deps.socket, deps.probeTimeoutMs ?? PROBE_TIMEOUT_MS);
  return dialled ?? askStatus(deps);
}

/** Throws CONFLICT if somebody holds the path. Otherwise the path may be replaced. */
export async function ensureVacant(deps: ProbeDeps): Promise<void> {
  const occupant = await probeSocket(deps);
  if (occupant.kind === 'contextd') throw alreadyRunning(deps.socket, occupant.pid, occupant.version);
  if (occupant.kind === 'foreign') throw heldByAnother(deps.socket, occupant.what);
}

async function kindOf(path: string): Promise<'none' | 'socket' | 'other'> {
  try {
    return (await lstat(path)).isSocket() ? 'socket' : 'other';
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return 'none';
    throw thrown;
  }
}

/** Returns undefined if somebody accepted the connection. */
function dial(path: string, timeoutMs: number): Promise<Occupant | undefined> {
  return new Promise((resolve) => {
    const stream = connect(path);
    const end = (occupant: Occupant | undefined): void => {
      stream.destroy();
      resolve(occupant);
    };
    stream.setTimeout(timeoutMs, () => end({ kind: 'foreign', what: 'it accepts no connection' }));
    stream.once('connect', () => end(undefined));
    stream.once('error', (error) => end(occupantOf(error)));
  });
}

function occupantOf(error: Error): Occupant {
  if (isErrno(error, 'ECONNREFUSED')) return { kind: 'dead' };
  if (isErrno(error, 'ENOENT')) return { kind: 'none' };
  return { kind: 'foreign', what: isErrno(error) ? `connecting fails with ${error.code}` : 'connecting fails' };
}

const OTHER_TIME = /certificate is not yet valid|certificate has expired/;

async function askStatus(deps: ProbeDeps): Promise<Occupant> {
  try {
    const identity = await readIdentity(deps.certsDir, 'cli');
    const authority = await readPrivate(authorityFile(deps.certsDir));
    const { pid, version } = await status(deps, authority, identity.privateKey, identity.certificate);
    return { kind: 'contextd', pid, version };
  } catch (thrown) {
    const unasked = isErrno(thrown, 'ENOENT');
    const what = unasked ? 'there is no certificate to connect with' : 'it does not answer as contextd';
    const isOfAnotherTime = thrown instanceof Error && OTHER_TIME.test(thrown.message);
    return {
      kind: 'foreign',
      what: isOfAnotherTime ? 'its certificate is not valid at the time of this machine' : what,
    };
  }
}

async function status(deps: ProbeDeps, authority: string, privateKey: string, certificate: string) {
  const channel = credentials.createSsl(Buffer.from(authority), Buffer.from(privateKey), Buffer.from(certificate));
  const { ManagementService } = loadProtocol();
  const client = new ManagementService(`unix:${deps.socket}`, channel, {
    'grpc.ssl_target_name_override': SERVER_NAME,
    'grpc.default_authority': SERVER_NAME,
    'grpc.enable_http_proxy': 0,
  });
  const deadline = Date.now() + (deps.probeTimeoutMs ?? PROBE_TIMEOUT_MS);
  try {
    return await new Promise<{ pid: number; version: string }>((resolve, reject) => {
      client.ServerStatus({}, { deadline }, (error, value) => (value === undefined ? reject(error) : resolve(value)));
    });
  } finally {
    client.close();
  }
}

function alreadyRunning(socket: string, pid: number, version: string): ContextdError {
  return new ContextdError('CONFLICT', `contextd ${version} is already running with pid ${pid} on ${socket}`, {
    remedy: `Use it, or stop it with \`ctxd server stop\` (or \`kill ${pid}\`).`,
    details: { path: socket, pid },
  });
}

function heldByAnother(socket: string, what: string): ContextdError {
  return new ContextdError('CONFLICT', `${socket} is held by something that is not this contextd: ${what}`, {
    remedy:
      'Nothing was changed. If it is a daemon of yours, `ctxd server restart` replaces it. Otherwise find the process that holds it with `lsof` and end it, or set CONTEXTD_HOME.',
    details: { path: socket },
  });
}
