import type { Finding } from '../finding.ts';
import { isMadeOfWords } from '../words.ts';
import { findKeyLines, keyLinesEnd } from './key-lines.ts';

/**
 * The first digits of a private key in base64: DER of RSA and PKCS #8 keys of any length (a sequence that begins with
 * the version 0), of EC and Edwards keys, of encrypted ones, OpenSSH's own format, and PKCS #12, in
 * which keys are stored with their certificates (version 3). Certificates and public keys
 * begin otherwise.
 */
const FIRST_LINE =
  /(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{3}IBA(?:[A-P]|zCC)|MIACAQMwgA|MI[GHIJ][A-Za-z0-9+/]Ag(?:EA|EB)|M[A-P][A-Za-z0-9+/]CAQ(?:EE|Aw)|MI[A-Za-z0-9+/]{3,8}BgkqhkiG9w0BBQ0|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/]{30,}={0,2}/g;
/** The next line of it, with what grep, diff, a quote or JSON put between. */
const NEXT_LINE = /(?:[ \t"'`+,|>\\]|\\+[nrt]|\r?\n|[0-9]{1,6}[:-]){1,12}([A-Za-z0-9+/]{4,}={0,2})(?![A-Za-z0-9])/y;
/** A shorter line is the last one of a key. */
const FULL_LINE_CHARS = 40;
/** The end of a key whose beginning is not there. */
const END = /-----END[ A-Z0-9]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
/** A whole line of base64, as it stands before such an end. */
const BODY_LINE = /^[ \t"'`+,|>]*(?:[0-9]{1,6}[:-])?[ \t"'`+,|>]*[A-Za-z0-9+/]{16,}={0,2}[ \t"'`+,|>\r]*$/;
const LAST_LINE = /^[ \t"'`+,|>]*(?:[0-9]{1,6}[:-])?[ \t"'`+,|>]*[A-Za-z0-9+/]{1,64}={0,2}[ \t"'`+,|>\r]*$/;
/** A word in the place of a key: REDACTED. */
const OMITTED = /^[ \t"'`#*<[]*(?:[A-Z]{6,12}|[a-z]{6,12})[ \t"'`#*>\]]*\s*$/;
const MAX_LINE_CHARS = 120;

/** Words as if they were base64: `FAKEKEY==`. */
function isOmitted(body: string): boolean {
  return OMITTED.test(body) || (/^\s*[A-Za-z]{4,24}={0,2}\s*$/.test(body) && isMadeOfWords(body));
}

/** The id under which parts of private keys are reported. */
export const KEY_BODY_RULE = 'private-key-body';

/**
 * Finds private keys that are incomplete: without their BEGIN line, or from anywhere up to their END line; and complete ones
 * whatever stands between their lines.
 */
export function findKeyBodies(text: string): Finding[] {
  const found: Finding[] = [];
  let done = 0;
  for (const { 0: line, index } of text.matchAll(FIRST_LINE)) {
    if (index < done) continue;
    const first = { start: index, end: index + line.length };
    done = Math.max(bodyEnd(text, first.end), keyLinesEnd(text, first));
    found.push({ rule: KEY_BODY_RULE, start: index, end: done });
  }
  for (const { index } of text.matchAll(END)) {
    const start = bodyStart(text, index);
    if (start < index && !isOmitted(text.slice(start, index))) found.push({ rule: KEY_BODY_RULE, start, end: index });
  }
  for (const span of findKeyLines(text)) found.push({ rule: KEY_BODY_RULE, ...span });
  return found;
}

function bodyEnd(text: string, from: number): number {
  let end = from;
  NEXT_LINE.lastIndex = from;
  for (let width = 0; text[end - 1] !== '='; ) {
    const [, line] = NEXT_LINE.exec(text) ?? [];
    if (line === undefined || !isBodyLine(line, width)) break;
    end = NEXT_LINE.lastIndex;
    // A short line is the last one.
    if (line.length < width) break;
    width = line.length;
  }
  return end;
}

/** Whether a line is part of a key: as long as the line before it, or a short rest that no word or number looks like. */
function isBodyLine(line: string, width: number): boolean {
  if (line.length >= FULL_LINE_CHARS && (width === 0 || line.length === width)) return true;
  if (line.length > width && width > 0) return false;
  return !/^(?:0x)?[0-9a-f]+$/i.test(line) && !isMadeOfWords(line) && isMixed(line);
}

function isMixed(line: string): boolean {
  return [/[a-z]/, /[A-Z]/, /[0-9+/=]/].filter((kind) => kind.test(line)).length >= 2;
}

/** What may stand in the body of a key besides base64: headers, comments of a folded copy, dots for what was left out. */
const BODY_NOISE =
  /(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID)[ \t]*:[^\n\\"']{0,80}|\.{3}|…|\[SECRET_0\]/g;
const BODY_SEPARATORS = /(?:\s|\\+[nrt]|[\\"'`+,|>:;()-]|%0[AD]|%20|<br ?\/?>|&#\d+;)+/;
const MIN_BODY_CHARS = 16;
/** Parts of a body that need not be base64: line numbers, a name before each line. */
const FOREIGN_SHARE = 0.25;

/**
 * A private key counts only if base64 stands between its lines: BEGIN and END in the strings of a program have code
 * between them. Without an END line, what follows the last line of base64 is no part of it.
 */
export function judgeKey(text: string, finding: Finding): Finding | null {
  const { rule, start, end } = finding;
  const whole = text.slice(start, end);
  const [head = ''] = HEAD.exec(whole) ?? [];
  const tail = TAIL.exec(whole);
  const body = whole.slice(head.length, tail?.index ?? whole.length).replace(BODY_NOISE, ' ');
  const parts = body.split(BODY_SEPARATORS).filter((part) => part !== '' && !/^[0-9]{1,6}$/.test(part));
  const isBase64 = (part: string): boolean => /^[A-Za-z0-9+/_-]+={0,3}$/.test(part);
  const isLong = (part: string): boolean => part.length >= MIN_BODY_CHARS && isBase64(part) && !isMadeOfWords(part);
  const base64Chars = parts.filter(isBase64).reduce((sum, { length }) => sum + length, 0);
  const allChars = parts.reduce((sum, { length }) => sum + length, 0);
  if (!parts.some(isLong) || allChars - base64Chars > FOREIGN_SHARE * allChars) return null;
  if (tail !== null) return finding;
  // The last line may be an ordinary one: it is cut off if words or a number follow a full line.
  const last = LAST_OF_BODY.exec(whole);
  if (last === null || last.index <= head.length || isBodyLine(last[1] ?? '', Number.POSITIVE_INFINITY)) return finding;
  return { rule, start, end: start + last.index };
}

const HEAD = /^-----BEGIN[^\n"'\\]{0,100}?-----/;
const TAIL = /-----END[^\n]{0,60}$/;
const LAST_OF_BODY = /(?:\s|\\+[nrt])+([A-Za-z0-9+/]{1,63}={0,2})(?:\s|\\+[nrt]|["'])*$/;

/** Goes up line by line: the one before the END may be short, the others are lines of base64. */
function bodyStart(text: string, end: number): number {
  let start = end;
  let lineEnd = text.lastIndexOf('\n', end - 1);
  if (end - lineEnd > MAX_LINE_CHARS) return end;
  for (let line = LAST_LINE; lineEnd > 0; line = BODY_LINE) {
    const from = Math.max(0, lineEnd - MAX_LINE_CHARS);
    const lineStart = from + text.slice(from, lineEnd).lastIndexOf('\n') + 1;
    if (!line.test(text.slice(lineStart, lineEnd))) break;
    start = lineStart;
    lineEnd = lineStart - 1;
  }
  return start;
}
