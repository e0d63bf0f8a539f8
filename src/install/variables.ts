/**
 * Variables through which each ecosystem finds a person's credentials, proxies and certificates. The process that fetches
 * a tool gets these of the person's environment, PATH, HOME, and nothing else.
 */
export const FETCH_VARIABLES = [
  ...['SSH_AUTH_SOCK', 'GIT_SSH_COMMAND', 'GIT_ASKPASS', 'GIT_SSL_CAINFO'],
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'XDG_CONFIG_HOME'],
] as const;

/** True for a variable that may be passed on: one of the list, PATH, HOME, or of the AWS family. */
export function isFetchVariable(name: string): boolean {
  return (
    name === 'PATH' || name === 'HOME' || /^AWS_[A-Z0-9_]+$/.test(name) || FETCH_VARIABLES.some((one) => one === name)
  );
}

/** The whole environment of the child. Temporary files are in `work`; nothing may ask a question on a terminal. */
export function fetchEnvironment(variables: Readonly<Record<string, string>>, work: string): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(variables).filter(([name]) => isFetchVariable(name))),
    LC_ALL: 'C',
    TMPDIR: work,
    GIT_TERMINAL_PROMPT: '0',
    // Node's own clients then use the proxy variables.
    NODE_USE_ENV_PROXY: '1',
  };
}
