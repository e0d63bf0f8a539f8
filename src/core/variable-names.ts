const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Names that by custom carry a secret, although other names of their family steer a program. */
const HARMLESS = /^(?:NODE_AUTH_TOKEN|GIT_(?:TOKEN|PASSWORD|USERNAME)|GITHUB_|GITLAB_)/;

/**
 * Variables that the loader, the shell, the sandbox or an interpreter acts on. With one of them a caller could choose
 * what runs, or where it looks.
 */
const STEERING =
  /^(?:PATH|HOME|PWD|OLDPWD|SHELL|USER|LOGNAME|TMPDIR|TEMP|TMP|LANG|LANGUAGE|LC_.*|IFS|ENV|PS[0-9]|CDPATH|GLOBIGNORE|FIGNORE|SHELLOPTS|BASH.*|POSIXLY_CORRECT|PROMPT_COMMAND|HIST.*|EXECIGNORE|INPUTRC|TERM.*|LD_.*|DYLD_.*|GLIBC_.*|MALLOC_.*|LOCPATH|NLSPATH|GCONV_PATH|HOSTALIASES|RES_OPTIONS|RESOLV_.*|NODE_.*|NPM_CONFIG_.*|DENO_.*|BUN_.*|PYTHON.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|LUA_.*|PHP.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|GOFLAGS|GOROOT|GOPATH|GOENV|CARGO_.*|RUSTC.*|MAKEFLAGS|MAKEFILES|GIT_.*|SSH_.*|.*_?ASKPASS|.*EDITOR|VISUAL|.*PAGER|LESS.*|BROWSER|.*_PROXY|OPENSSL_.*|SSL_CERT_.*|CURL_.*|XDG_.*|DBUS_.*|CONTEXTD_.*|CTXD_.*|PLUGIN_.*)$/i;

/** True if something other than the requested program may act on the variable. */
export function steers(name: string): boolean {
  return !VARIABLE_NAME.test(name) || (STEERING.test(name) && !HARMLESS.test(name));
}

/** Says why `name` is not a variable that only the requested program reads. Null if it is one. */
export function faultOfName(name: string): string | null {
  if (!VARIABLE_NAME.test(name)) return 'is not the name of a variable';
  return steers(name) ? 'steers the shell, the loader or an interpreter' : null;
}

/** Variables with which programs find a toolchain. A person's values reach commands if the person allowed the toolchain. */
export const TOOLCHAIN_VARIABLES = [
  'ANDROID_HOME',
  'ANT_HOME',
  'ASDF_DATA_DIR',
  'BUN_INSTALL',
  'CARGO_HOME',
  'DENO_INSTALL',
  'DOTNET_ROOT',
  'FNM_DIR',
  'GOENV_ROOT',
  'GOROOT',
  'GRADLE_HOME',
  'GROOVY_HOME',
  'HOMEBREW_PREFIX',
  'JAVA_HOME',
  'JENV_ROOT',
  'KOTLIN_HOME',
  'M2_HOME',
  'MAVEN_HOME',
  'MISE_DATA_DIR',
  'NODENV_ROOT',
  'NVM_DIR',
  'PHPENV_ROOT',
  'PIPX_HOME',
  'PYENV_ROOT',
  'PYTHONUSERBASE',
  'RBENV_ROOT',
  'RUSTUP_HOME',
  'SCALA_HOME',
  'SDKMAN_DIR',
  'UV_PYTHON_INSTALL_DIR',
  'VOLTA_HOME',
] as const;

export function isToolchainVariable(name: string): boolean {
  return TOOLCHAIN_VARIABLES.some((one) => one === name);
}

/** Variables with which a person names the file of certificates that a program trusts. */
export const CA_VARIABLES = [
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'PIP_CERT',
  'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO',
  'AWS_CA_BUNDLE',
  'NPM_CONFIG_CAFILE',
  'NIX_SSL_CERT_FILE',
  'HTTPLIB2_CA_CERTS',
  'DENO_CERT',
  'YARN_HTTPS_CA_FILE_PATH',
  'BUNDLE_SSL_CA_CERT',
  'PERL_LWP_SSL_CA_FILE',
  'COMPOSER_CAFILE',
  'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
  'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE',
] as const;

/** What a variable may be called that leads a network client to its registry, its certificates or its settings. */
const NETWORK =
  /^(?:npm_config_(?:(?:@[^:]+:)?registry|userconfig|globalconfig)|YARN_(?:NPM_REGISTRY_SERVER|REGISTRY)|PIP_(?:INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|TRUSTED_HOST|CONFIG_FILE)|UV_(?:DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|CONFIG_FILE)|CARGO_HOME|CARGO_REGISTRIES_\w+_INDEX|GO(?:ENV|PROXY|SUMDB|NOSUMDB|NOPROXY|PRIVATE|INSECURE|FLAGS)|MAVEN_HOME|M2_HOME|SSL_CERT_DIR|XDG_CONFIG_HOME)$/i;

/** True for the variables that `ctxd` reads to find mirrors. Their values reach the daemon without credentials. */
export function isNetworkVariable(name: string): boolean {
  return NETWORK.test(name) || CA_VARIABLES.some((one) => one === name.toUpperCase());
}

/** Variables through which git, HTTP and S3 find a person's credentials, proxies and certificates, besides the AWS family. */
export const INSTALL_VARIABLES = [
  'SSH_AUTH_SOCK',
  'GIT_SSH_COMMAND',
  'GIT_ASKPASS',
  'GIT_SSL_CAINFO',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'XDG_CONFIG_HOME',
] as const;

/** True for the variables of a person's shell that `ctxd tool install` passes on to what fetches the tool. */
export function isInstallVariable(name: string): boolean {
  return /^AWS_[A-Z0-9_]+$/.test(name) || INSTALL_VARIABLES.some((one) => one === name);
}

/** Those of them whose value is a file or a directory. */
const NETWORK_PATH =
  /^(?:npm_config_(?:user|global)config|(?:PIP|UV)_CONFIG_FILE|CARGO_HOME|GOENV|MAVEN_HOME|M2_HOME|XDG_CONFIG_HOME)$/i;

/** True for the variables that name a file of settings or certificates, or a directory of such files. `SSL_CERT_DIR` is a list. */
export function isNetworkPath(name: string): boolean {
  return NETWORK_PATH.test(name) || CA_VARIABLES.some((one) => one === name.toUpperCase());
}

/**
 * Programs that take variables for what they start from the files of a project, without asking a person, and the variables
 * that show them: npm exports all settings of a project's `.npmrc`, pipenv its `.env`.
 */
const PROJECT_RUNNERS: Readonly<Record<string, readonly string[]>> = {
  'npm, yarn, pnpm or bun': ['npm_execpath', 'npm_lifecycle_event', 'npm_command', 'INIT_CWD', 'PROJECT_CWD'],
  pipenv: ['PIPENV_ACTIVE'],
  PDM: ['PDM_PROJECT_ROOT'],
  Hatch: ['HATCH_ENV_ACTIVE'],
  tox: ['TOX_ENV_NAME'],
  pixi: ['PIXI_PROJECT_ROOT'],
  devbox: ['DEVBOX_PROJECT_ROOT'],
  Nix: ['IN_NIX_SHELL'],
};

/** The name of the program of `PROJECT_RUNNERS` that an environment shows; null if it shows none. */
export function projectRunner(names: readonly string[]): string | null {
  const set = new Set(names);
  const found = Object.entries(PROJECT_RUNNERS).find(([, shown]) => shown.some((name) => set.has(name)));
  return found?.[0] ?? null;
}
