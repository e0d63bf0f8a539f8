/** Paths that say which API is asked, and nothing else. */
const USUAL_PATHS = ['', '/', '/v1', '/v1/logs', '/v1/embeddings'];

/** An address for messages, logs and records: without user, path and query, any of which may hold a token. */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return '(an address)';
  const { protocol, host, pathname, search } = new URL(address);
  const isUsual = USUAL_PATHS.includes(pathname) && search === '';
  const path = address.endsWith(host) ? '' : pathname;
  return `${protocol}//${host}${isUsual ? path : '/…'}`;
}
