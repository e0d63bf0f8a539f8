import { basename, isAbsolute, join, resolve } from 'node:path';
import { ContextdError } from '../core/errors.ts';
import { SHELL_PROGRAM } from '../core/shell-names.ts';

/** What the proxy reads from the environment. An empty variable counts as unset. */
export interface ProxyEnvironment {
  /** HOME, or the home directory of the account. */
  home: string;
  contextdHome: string | undefined;
  xdgConfigHome: string | undefined;
  xdgDataHome: string | undefined;
  xdgStateHome: string | undefined;
  xdgRuntimeDir: string | undefined;
  /** PATH; "" if unset. */
  path: string;
  /** The session the call belongs to; "" lets the daemon choose. */
  sessionId: string;
  /** The branch of that session; "" is its base. */
  branch: string;
  /** The name the launcher was called by; set only where the proxy runs on Node. */
  launchedAs: string | undefined;
  /** The kind of terminal. */
  term?: string | undefined;
}

/** This file is the only reader of `process.env` in the proxy. */
export function readProxyEnvironment(source: NodeJS.ProcessEnv = process.env): ProxyEnvironment {
  return {
    home: nonEmpty(source.HOME) ?? process.getBuiltinModule('node:os').homedir(), // an import would cost every call time
    contextdHome: nonEmpty(source.CONTEXTD_HOME),
    xdgConfigHome: nonEmpty(source.XDG_CONFIG_HOME),
    xdgDataHome: nonEmpty(source.XDG_DATA_HOME),
    xdgStateHome: nonEmpty(source.XDG_STATE_HOME),
    xdgRuntimeDir: nonEmpty(source.XDG_RUNTIME_DIR),
    path: source.PATH ?? '',
    sessionId: nonEmpty(source.CONTEXTD_SESSION_ID) ?? nonEmpty(source.CLAUDE_CODE_SESSION_ID) ?? '',
    branch: source.CONTEXTD_BRANCH ?? '',
    launchedAs: nonEmpty(source.CONTEXTD_PROXY_ARGV0),
    term: nonEmpty(source.TERM),
  };
}

/** What the program as a client's shell reads from the environment. */
export interface ShellEnvironment {
  /** True if a client started the program. */
  isOfClient: boolean;
  isClaude: boolean;
  isOpenCode: boolean;
  isCodex: boolean;
  isGemini: boolean;
  /** Directories for temporary files. */
  temporary: readonly string[];
  /** The person's own shell. */
  ownShell: string;
}

/** What clients set for the commands of their agents, as seen in Claude Code, OpenCode, Codex, Gemini CLI and Cursor. */
const CLIENT_VARIABLES = [
  ...['CLAUDECODE', 'AI_AGENT', 'AGENT', 'OPENCODE', 'GEMINI_CLI', 'CURSOR_AGENT'],
  ...['CODEX_SANDBOX', 'CODEX_CI', 'CODEX_THREAD_ID'],
];

/** The client whose sandbox may be around the program; null for one that is not known. */
export type SandboxClient = 'claude' | 'codex' | 'gemini' | 'cursor';

/** What clients set for the commands of their agents. The first that matches counts, because a client may have started another. */
const SANDBOX_VARIABLES: readonly (readonly [SandboxClient, readonly string[]])[] = [
  ['codex', ['CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_THREAD_ID']],
  ['gemini', ['GEMINI_CLI']],
  ['cursor', ['CURSOR_AGENT']],
  ['claude', ['CLAUDECODE']],
];

export function readSandboxClient(source: NodeJS.ProcessEnv = process.env): SandboxClient | null {
  const found = SANDBOX_VARIABLES.find(([, names]) => names.some((name) => nonEmpty(source[name]) !== undefined));
  return found?.[0] ?? null;
}

export function readShellEnvironment(source: NodeJS.ProcessEnv = process.env): ShellEnvironment {
  const isSet = (name: string): boolean => nonEmpty(source[name]) !== undefined;
  const shell = nonEmpty(source.SHELL) ?? '/bin/bash';
  return {
    isOfClient: CLIENT_VARIABLES.some(isSet),
    isClaude: isSet('CLAUDECODE'),
    isOpenCode: isSet('OPENCODE'),
    isCodex: isSet('CODEX_THREAD_ID'),
    isGemini: isSet('GEMINI_CLI'),
    temporary: ['/tmp', ...[source.TMPDIR, source.CLAUDE_CODE_TMPDIR].filter((path) => path !== undefined)],
    ownShell: basename(shell) === SHELL_PROGRAM ? '/bin/bash' : shell,
  };
}

/** Where the package is installed, as the launcher of a package says; undefined for a program that was built for its place. */
export function readPackageRoot(source: NodeJS.ProcessEnv = process.env): string | undefined {
  return nonEmpty(source.CONTEXTD_PROXY_ROOT);
}

/** The whole environment of a daemon started from here: nothing else of the caller's may influence it. */
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

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}

/** The paths of the daemon. The rule is that of src/config/paths.ts; a test compares the two. */
export interface Places {
  runDir: string;
  socket: string;
  stateDir: string;
  certsDir: string;
  logFile: string;
  /** Held by the process that is starting a daemon. */
  startLock: string;
}

/** The longest path of a unix socket, bytes, without the final NUL. */
const SOCKET_PATH_MAX = process.platform === 'linux' ? 107 : 103;

/** Throws PATH_INVALID for a relative `CONTEXTD_HOME` and for a socket path over the system's limit. */
export function resolvePlaces(env: Bearings): Places {
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
/** The variables that decide where everything is. */
type Bearings = Pick<ProxyEnvironment, 'home' | 'contextdHome' | 'xdgStateHome' | 'xdgRuntimeDir'>;

function homeBases(contextdHome: string): Bases {
  if (!isAbsolute(contextdHome)) {
    throw new ContextdError('PATH_INVALID', `CONTEXTD_HOME is not an absolute path: ${contextdHome}`, {
      remedy: 'Set CONTEXTD_HOME to an absolute path.',
    });
  }
  return { runDir: resolve(contextdHome, 'run'), stateDir: resolve(contextdHome, 'state') };
}

function xdgBases(env: Bearings): Bases {
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
