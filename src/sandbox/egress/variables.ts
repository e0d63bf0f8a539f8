import { PROXY_PORT } from '../../egress/messages.ts';

const NOT_PROXIED = 'localhost,127.0.0.1,::1,.localhost';

/**
 * What leads programs to the proxy, whose refusals say why. No ALL_PROXY with SOCKS and no JAVA_TOOL_OPTIONS: programs stop
 * or print more because of them; a program that ignores these variables is met at its address instead. A refusal is final,
 * so package managers try once more instead of three to five times. They do not look for newer versions of themselves: the
 * refusal of that would look like the cause of a failure. What the caller sets, in either case, stays alone.
 */
export function proxyVariables(lane: string, callers: Readonly<Record<string, string>>): Record<string, string> {
  const proxy = `http://${lane}:${PROXY_PORT}`;
  const all = {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: NOT_PROXIED,
    no_proxy: NOT_PROXIED,
    NODE_USE_ENV_PROXY: '1',
    PIP_RETRIES: '1',
    CARGO_NET_RETRY: '1',
    UV_HTTP_RETRIES: '1',
    npm_config_fetch_retries: '1',
    npm_config_fetch_retry_mintimeout: '1000',
    // From version 11 on, pnpm does not read those of npm.
    pnpm_config_fetch_retries: '1',
    pnpm_config_fetch_retry_mintimeout: '1000',
    npm_config_update_notifier: 'false',
    NO_UPDATE_NOTIFIER: '1',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
  };
  return withoutSet(all, callers);
}

/** Without variables that the caller sets, in either case. */
export function withoutSet(
  variables: Readonly<Record<string, string>>,
  callers: Readonly<Record<string, string>>,
): Record<string, string> {
  const set = new Set(Object.keys(callers).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !set.has(name.toLowerCase())));
}
