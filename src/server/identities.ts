/** The three that take part in mutual TLS. Each has a key of its own: the proxy's opens no management rpc. */
export const IDENTITIES = {
  server: { commonName: 'contextd', usage: 'serverAuth' },
  proxy: { commonName: 'contextd-proxy', usage: 'clientAuth' },
  cli: { commonName: 'ctxd', usage: 'clientAuth' },
} as const;

export type IdentityName = keyof typeof IDENTITIES;
export type Caller = Exclude<IdentityName, 'server'>;

/** The DNS name in the server's certificate; clients check it whatever the socket's path. */
export const SERVER_NAME = 'contextd';

/** Who a verified client certificate speaks for; undefined for a name we never gave out. */
export function callerNamed(commonName: unknown): Caller | undefined {
  if (commonName === IDENTITIES.proxy.commonName) return 'proxy';
  if (commonName === IDENTITIES.cli.commonName) return 'cli';
  return undefined;
}
