import { homedir } from 'node:os';
import { isInstallVariable, isNetworkVariable, projectRunner, TOOLCHAIN_VARIABLES } from '../core/variable-names.ts';

/** What the daemon and the CLI read from the environment. Nothing else has an effect. Empty counts as unset. */
export interface Environment {
  /** HOME, or the account's home directory. */
  home: string;
  /** One directory for everything. Overrides the XDG directories. */
  contextdHome: string | undefined;
  xdgConfigHome: string | undefined;
  xdgDataHome: string | undefined;
  xdgStateHome: string | undefined;
  xdgRuntimeDir: string | undefined;
  /** PATH, or "" if unset. */
  path: string;
  /** The variables that lead to toolchains, as far as they are set. */
  toolchains: Readonly<Record<string, string>>;
  /** The variables that lead network clients to registries and certificates, as far as they are set. */
  network: Readonly<Record<string, string>>;
  /** The variables that lead the fetching of a tool to credentials, proxies and certificates. */
  install: Readonly<Record<string, string>>;
  /** The program that may have set them from the files of a project, such as npm; null if none shows itself. */
  projectRunner: string | null;
  /** CONTEXTD_SESSION_ID, or else CLAUDE_CODE_SESSION_ID: the session of a call. */
  sessionId: string | undefined;
  /** CONTEXTD_BRANCH: the branch of a call. */
  branch: string | undefined;
  /** True if NO_COLOR is set: plain text even on a terminal. */
  noColor: boolean;
  /** NODE_V8_COVERAGE, passed on to a daemon that is started from here, so that tests can measure it. */
  coverageDir: string | undefined;
  /** Variables whose names say that their value is secret. Used only for masking. */
  secretVariables: readonly { name: string; value: string }[];
}

/** The only reader of `process.env` in the daemon and the CLI. */
export function readEnvironment(source: NodeJS.ProcessEnv = process.env): Environment {
  return {
    home: given(source.HOME) ?? homedir(),
    contextdHome: given(source.CONTEXTD_HOME),
    xdgConfigHome: given(source.XDG_CONFIG_HOME),
    xdgDataHome: given(source.XDG_DATA_HOME),
    xdgStateHome: given(source.XDG_STATE_HOME),
    xdgRuntimeDir: given(source.XDG_RUNTIME_DIR),
    path: source.PATH ?? '',
    toolchains: Object.fromEntries(
      TOOLCHAIN_VARIABLES.flatMap((name) => {
        const value = given(source[name]);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    network: Object.fromEntries(
      Object.entries(source).flatMap(([name, value]) =>
        value !== undefined && value !== '' && isNetworkVariable(name) ? [[name, value]] : [],
      ),
    ),
    install: Object.fromEntries(
      Object.entries(source).flatMap(([name, value]) =>
        value !== undefined && value !== '' && isInstallVariable(name) ? [[name, value]] : [],
      ),
    ),
    projectRunner: projectRunner(Object.keys(source)),
    sessionId: given(source.CONTEXTD_SESSION_ID) ?? given(source.CLAUDE_CODE_SESSION_ID),
    branch: given(source.CONTEXTD_BRANCH),
    noColor: given(source.NO_COLOR) !== undefined,
    coverageDir: given(source.NODE_V8_COVERAGE),
    secretVariables: secretsIn(source),
  };
}

/** A variable that a person named as the place of a secret. */
export function readVariable(name: string, source: NodeJS.ProcessEnv = process.env): string | undefined {
  return given(source[name]);
}

/**
 * The whole environment of a daemon that is started from here: PATH, HOME, XDG_* and CONTEXTD_HOME, and
 * NODE_V8_COVERAGE if a test run measures coverage. No other variable of the caller is passed on.
 */
export function daemonEnvironment(env: Environment): Record<string, string> {
  const all = {
    PATH: env.path,
    HOME: env.home,
    CONTEXTD_HOME: env.contextdHome,
    XDG_CONFIG_HOME: env.xdgConfigHome,
    XDG_DATA_HOME: env.xdgDataHome,
    XDG_STATE_HOME: env.xdgStateHome,
    XDG_RUNTIME_DIR: env.xdgRuntimeDir,
    NODE_V8_COVERAGE: env.coverageDir,
  };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Names under which programs look for credentials. The value decides whether it is masked. */
const SECRET_NAME =
  /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|(?:^|_)(?:PASS|PWD|PAT|DSN)$|(?:API|ACCESS|PRIVATE|_)_?KEY$|_(?:KEY|AUTH|COOKIE)_|_URL$|_URI$)/i;

/** The variables whose names say that their value is secret. */
export function secretsIn(source: NodeJS.ProcessEnv): { name: string; value: string }[] {
  return Object.entries(source).flatMap(([name, value]) =>
    value !== undefined && value !== '' && SECRET_NAME.test(name) ? [{ name, value }] : [],
  );
}

function given(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}
