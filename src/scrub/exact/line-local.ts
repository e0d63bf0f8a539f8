/**
 * Whether no match of a pattern (RE2 syntax) can reach over a line end or see beyond its line, so that the lines of a
 * text can be searched one by one with the same result. Where it is not sure it says no: that only costs time.
 */
export function isLineLocal(source: string): boolean {
  const multiline = /^\(\?i?mi?\)/.test(source);
  for (let at = 0; at < source.length; ) {
    const token = TOKEN.exec(source.slice(at))?.[0];
    if (token === undefined || !isLocal(token, multiline)) return false;
    at += token.length;
  }
  return true;
}

/** A class (a leading `]` is a member), an escape, flags of a group, or one character. */
const TOKEN = /^(?:\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]|\\x[0-9A-Fa-f]{2}|\\[\s\S]|\(\?[A-Za-z-]*[:)]|[^[\\])/;
const ESCAPES = /^\\(?:[dwSbBtr]|[^A-Za-z0-9\n]|x(?!0[Aa])..)$/;
/** `\s`, `\W`, `\D`, a named class, a range that begins below the space: each may take in a line end. */
const MAY_HOLD_LINE_END = /\\[^dwtr\W]|\[:\^?\w+:\]|\\t-|\p{Cc}/u;
/** After `\\` pairs are gone: `\n` or `\s` is among what the class does not match. */
const LEAVES_OUT_LINE_END = /\\[ns]/;

function isLocal(token: string, multiline: boolean): boolean {
  if (token === '^' || token === '$') return multiline;
  if (token.startsWith('(?')) return !/[s-]/.test(token);
  if (token.startsWith('[^')) return LEAVES_OUT_LINE_END.test(token.replaceAll('\\\\', ''));
  if (token.startsWith('[')) return !MAY_HOLD_LINE_END.test(token);
  if (token.startsWith('\\')) return ESCAPES.test(token);
  return token !== '\n';
}
