/** Host and port of a URL; null for ''. */
export function placeOf(url: string): { host: string; port: number } | null {
  if (url === '') return null;
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/** The host of a URL as rules name it. */
export function targetOf(url: string): string {
  return new URL(url).host;
}
