/** Baked in by scripts/build-proxy.ts; absent where the sources run unbuilt, as in unit tests. */
declare const CONTEXTD_PROXY_PATH: string | undefined;
declare const CONTEXTD_RANK_FILE: string | undefined;

/** Facts of the installation this proxy was built for. */
export interface Installation {
  /** Real path of the one place this program may run from. */
  proxyPath: string;
  /** The daemon's launcher. */
  launcher: string;
  /** Token ranks, for the answers the proxy makes itself. */
  rankFile: string;
}

export function readInstallation(): Installation {
  const proxyPath = typeof CONTEXTD_PROXY_PATH === 'string' ? CONTEXTD_PROXY_PATH : '';
  return {
    proxyPath,
    launcher: `${proxyPath.slice(0, proxyPath.lastIndexOf('/'))}/contextd`,
    rankFile: typeof CONTEXTD_RANK_FILE === 'string' ? CONTEXTD_RANK_FILE : '',
  };
}
