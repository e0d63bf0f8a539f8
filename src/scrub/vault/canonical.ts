/** Begins a block whose line breaks are often written as `\n`, once or in JSON within JSON. */
const PEM = '-----BEGIN ';

/**
 * What two spellings of one secret have in common, and what their identity is made of: CRLF is LF, and in a PEM block
 * an escaped line break is a line break. A spelling that differs in more is another secret, unless the guard says of
 * which known value it is a form.
 */
export function canonicalOf(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  if (!lines.includes('\\') || !lines.includes(PEM)) return lines;
  return lines.replace(/(?:\\+r)?\\+n/g, '\n');
}
