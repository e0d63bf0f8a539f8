/** What gitleaks decodes. The order is its precedence, high to low, and the order of its tags. */
export const ENCODING_KINDS = ['percent', 'unicode', 'hex', 'base64'] as const;

export type EncodingKind = (typeof ENCODING_KINDS)[number];

/** A place that looks encoded. Half open, UTF-16 offsets. */
export interface EncodedRun {
  kind: EncodingKind;
  start: number;
  end: number;
}

const OTHER = 0;
const TOKEN = 1;
const PERCENT = 2;
const BACKSLASH = 3;
/** Of each character below 128, what it may begin. */
const CLASS = new Uint8Array(65_536);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/+-')
  CLASS[char.charCodeAt(0)] = TOKEN;
CLASS[0x25] = PERCENT;
CLASS[0x5c] = BACKSLASH;

const MIN_BASE64_CHARS = 16;
const MIN_HEX_CHARS = 32;
/** `U+` and four digits. */
const CODE_POINT_CHARS = 6;
const PLUS = 0x2b;

/**
 * All places that look encoded, leftmost first, without overlap, as one scan of gitleaks' joined pattern gives them;
 * whether they decode is another matter. Time is linear in the text.
 */
export function findEncoded(text: string): EncodedRun[] {
  const found: EncodedRun[] = [];
  for (let at = 0; at < text.length; ) {
    const kind = CLASS[text.charCodeAt(at)];
    if (kind === OTHER) {
      at++;
      continue;
    }
    let end = at + 1;
    if (kind === TOKEN) {
      while (CLASS[text.charCodeAt(end)] === TOKEN) end++;
      // Nearly every word of a text ends here.
      if (end - at < MIN_BASE64_CHARS && text.charCodeAt(end - CODE_POINT_CHARS + 1) !== PLUS) {
        at = end;
        continue;
      }
    }
    const run = kind === TOKEN ? inToken(text, at, end) : kind === PERCENT ? percentAt(text, at) : escapesAt(text, at);
    if (typeof run === 'number') {
      at = run;
      continue;
    }
    found.push(run);
    at = run.end;
  }
  return found;
}

/** A place, or where to look on. */
type Step = EncodedRun | number;

/** A run of `[\w/+-]`: hex, base64, or code points at the end of a run too short for either. */
function inToken(text: string, start: number, end: number): Step {
  if (end - start < MIN_BASE64_CHARS) return codePointsBefore(text, start, end);
  const hexEnd = hexEndFrom(text, start, end);
  if (hexEnd - start >= MIN_HEX_CHARS) return { kind: 'hex', start, end: hexEnd };
  let padded = end;
  while (padded < end + 2 && text[padded] === '=') padded++;
  return { kind: 'base64', start, end: padded };
}

/** `(?:U\+HHHH(?:\s|$))+`, whose first code point must end its run of token characters. */
function codePointsBefore(text: string, runStart: number, runEnd: number): Step {
  const start = runEnd - CODE_POINT_CHARS;
  if (start < runStart) return runEnd;
  let end = start;
  for (let next = codePointEnd(text, start); next !== -1; next = codePointEnd(text, end)) end = next;
  return end === start ? runEnd : { kind: 'unicode', start, end };
}

function codePointEnd(text: string, at: number): number {
  const end = at + CODE_POINT_CHARS;
  if (!text.startsWith('U+', at) || hexEndFrom(text, at + 2, end) !== end) return -1;
  if (end === text.length) return end;
  return '\t\n\f\r '.includes(text.charAt(end)) ? end + 1 : -1;
}

/** `(?i)(?:\\{1,2}uHHHH)+` */
function escapesAt(text: string, start: number): Step {
  let end = start;
  for (let next = escapeEnd(text, start); next !== -1; next = escapeEnd(text, end)) end = next;
  return end === start ? start + 1 : { kind: 'unicode', start, end };
}

function escapeEnd(text: string, at: number): number {
  if (text[at] !== '\\') return -1;
  const letter = text[at + 1] === '\\' ? at + 2 : at + 1;
  if (text[letter] !== 'u' && text[letter] !== 'U') return -1;
  return hexEndFrom(text, letter + 1, letter + 5) === letter + 5 ? letter + 5 : -1;
}

/** `%HH(?:.*%HH)?`: from the first escape of a line to its last. */
function percentAt(text: string, start: number): Step {
  if (!isPercentEscape(text, start)) return start + 1;
  const lineEnd = text.indexOf('\n', start);
  const last = (lineEnd === -1 ? text.length : lineEnd) - 3;
  for (let at = text.lastIndexOf('%', last); at > start + 2; at = text.lastIndexOf('%', at - 1))
    if (isPercentEscape(text, at)) return { kind: 'percent', start, end: at + 3 };
  return { kind: 'percent', start, end: start + 3 };
}

function isPercentEscape(text: string, at: number): boolean {
  return text[at] === '%' && hexEndFrom(text, at + 1, at + 3) === at + 3;
}

/** Where the hexadecimal digits from `start` on end, `limit` at the latest. */
function hexEndFrom(text: string, start: number, limit: number): number {
  let at = start;
  while (at < limit && isHexDigit(text.charCodeAt(at))) at++;
  return at;
}

function isHexDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66);
}
