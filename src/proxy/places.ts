import { isAbsolute, join, resolve } from 'node:path';
import { ContextdError } from '../core/errors.ts';
import type { ProxyEnvironment } from './environment.ts';

/** Where the daemon is found. The same rule as src/config/paths.ts, which a test compares with this one. */
export interface Places {
  runDir: string;
  socket: string;
  stateDir: string;
  certsDir: string;
  logFile: string;
  /** Held by whoever is starting a daemon. */
  startLock: string;
}

/** Bytes of a unix socket's path, without the final NUL. */
const SOCKET_PATH_MAX = process.platform === 'linux' ? 107 : 103;

/** Throws PATH_INVALID for a relative `CONTEXTD_HOME` and for a socket path over the system's limit. */
export function resolvePlaces(env: ProxyEnvironment): Places {
  const { runDir, stateDir } = env.contextdHome === undefined ? xdgBases(env) : homeBases(env.contextdHome);
  const socket = join(runDir, 'contextd.sock');
  checkSocketLength(socket);
  return {
    runDir,
    socket,
    stateDir,
    certsDir: join(stateDir, 'certs'),
    logFile: join(stateDir, 'daemon.log'),
    startLock: join(runDir, 'start.lock'),
  };
}

type Bases = Pick<Places, 'runDir' | 'stateDir'>;

function homeBases(contextdHome: string): Bases {
  if (!isAbsolute(contextdHome)) {
    throw new ContextdError('PATH_INVALID', `CONTEXTD_HOME is not an absolute path: ${contextdHome}`, {
      remedy: 'Set CONTEXTD_HOME to an absolute path.',
    });
  }
  return { runDir: resolve(contextdHome, 'run'), stateDir: resolve(contextdHome, 'state') };
}

function xdgBases(env: ProxyEnvironment): Bases {
  const stateHome = absoluteOnly(env.xdgStateHome) ?? join(env.home, '.local', 'state');
  const stateDir = join(stateHome, 'contextd');
  const runtimeDir = absoluteOnly(env.xdgRuntimeDir);
  return { stateDir, runDir: runtimeDir === undefined ? join(stateDir, 'run') : join(runtimeDir, 'contextd') };
}

function absoluteOnly(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? resolve(value) : undefined;
}

function checkSocketLength(socket: string): void {
  const size = Buffer.byteLength(socket);
  if (size <= SOCKET_PATH_MAX) return;
  throw new ContextdError(
    'PATH_INVALID',
    `the socket path has ${size} bytes, the system's limit is ${SOCKET_PATH_MAX}: ${socket}`,
    { remedy: 'Set CONTEXTD_HOME to a shorter path.', details: { path: socket, size, limit: SOCKET_PATH_MAX } },
  );
}
