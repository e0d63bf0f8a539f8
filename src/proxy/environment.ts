import { isAbsolute, join, resolve } from 'node:path';
import { ContextdError } from '../core/errors.ts';

/** What the proxy takes from the environment. Empty counts as unset. */
export interface ProxyEnvironment {
  /** HOME, or the account's own directory. */
  home: string;
  contextdHome: string | undefined;
  xdgConfigHome: string | undefined;
  xdgDataHome: string | undefined;
  xdgStateHome: string | undefined;
  xdgRuntimeDir: string | undefined;
  /** PATH, "" when unset. */
  path: string;
  /** Whose secrets and artifacts the call belongs to; "" lets the daemon choose. */
  sessionId: string;
  /** Set by the launcher of the Node stand-in: the name it was called by. */
  launchedAs: string | undefined;
}

/** The only reader of `process.env` in the proxy. */
export function readProxyEnvironment(source: NodeJS.ProcessEnv = process.env): ProxyEnvironment {
  return {
    home: given(source.HOME) ?? process.getBuiltinModule('node:os').homedir(), // importing it costs every call
    contextdHome: given(source.CONTEXTD_HOME),
    xdgConfigHome: given(source.XDG_CONFIG_HOME),
    xdgDataHome: given(source.XDG_DATA_HOME),
    xdgStateHome: given(source.XDG_STATE_HOME),
    xdgRuntimeDir: given(source.XDG_RUNTIME_DIR),
    path: source.PATH ?? '',
    sessionId: given(source.CONTEXTD_SESSION_ID) ?? given(source.CLAUDE_CODE_SESSION_ID) ?? '',
    launchedAs: given(source.CONTEXTD_PROXY_ARGV0),
  };
}

/** All that a daemon started from here inherits (design §4): nothing of the caller's steers it. */
export function daemonEnvironment(env: ProxyEnvironment): Record<string, string> {
  const all = {
    PATH: env.path,
    HOME: env.home,
    CONTEXTD_HOME: env.contextdHome,
    XDG_CONFIG_HOME: env.xdgConfigHome,
    XDG_DATA_HOME: env.xdgDataHome,
    XDG_STATE_HOME: env.xdgStateHome,
    XDG_RUNTIME_DIR: env.xdgRuntimeDir,
  };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function given(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

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
