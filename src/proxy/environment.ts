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
