const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** True when there are line ends and each is CRLF. */
export function isCrlfThroughout(bytes: Buffer): boolean {
  let at = bytes.indexOf(NEWLINE);
  if (at === -1) return false;
  for (; at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) if (bytes[at - 1] !== RETURN) return false;
  return true;
}

/** A text with bare newlines as a CRLF file has it. */
export function toCrlf(text: string): string {
  return text.replaceAll('\n', '\r\n');
}
