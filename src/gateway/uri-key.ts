/**
 * The same text for spellings of a URI that servers take for one (RFC 3986 §6.2): case of the scheme, of the host and of escapes,
 * escaped characters that need no escape, dot segments, an empty query, the fragment, and what a URL parser leaves out. For comparing only: a server gets the URI
 * as it was written.
 */
export function uriKey(uri: string): string {
  const plain = withoutNeedlessEscapes(uri);
  if (!URL.canParse(plain)) return plain;
  const url = new URL(plain);
  url.hash = '';
  // A URL parser keeps the case of a host whose scheme it does not know.
  const href = url.href.replace(/^[^/]*\/\/[^/?]*/, (start) => start.toLowerCase());
  return withoutNeedlessEscapes(href.replace(/\?$/, ''));
}

function withoutNeedlessEscapes(uri: string): string {
  return uri.replace(/%([0-9A-Fa-f]{2})/g, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : escaped.toUpperCase();
  });
}
