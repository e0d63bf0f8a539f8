import type { Finding } from '../finding.ts';

/**
 * The first digits of a private key in base64: DER of RSA and PKCS #8 keys of any length (a sequence that begins with
 * the version 0), of EC and Edwards keys, of encrypted ones, and OpenSSH's own format. Certificates and public keys
 * begin otherwise.
 */
const FIRST_LINE =
  /(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{3}IBA[A-P]|MI[GHIJ][A-Za-z0-9+/]Ag(?:EA|EB)|M[A-P][A-Za-z0-9+/]CAQ(?:EE|Aw)|MI[A-Za-z0-9+/]{3,8}BgkqhkiG9w0BBQ0|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/]{30,}={0,2}/g;
/** The next line of it, with what grep, diff, a quote or JSON put between. */
const NEXT_LINE = /(?:[ \t"'`+,|>\\]|\\+[nrt]|\r?\n|[0-9]{1,6}[:-]){1,12}[A-Za-z0-9+/]{4,}={0,2}(?![A-Za-z0-9])/y;
/** The end of a key whose beginning is not there. */
const END = /-----END[ A-Z0-9]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
/** A whole line of base64, as it stands before such an end. */
const BODY_LINE = /^[ \t"'`+,|>]*(?:[0-9]{1,6}[:-])?[ \t"'`+,|>]*[A-Za-z0-9+/]{16,}={0,2}[ \t"'`+,|>\r]*$/;
const LAST_LINE = /^[ \t"'`+,|>]*(?:[0-9]{1,6}[:-])?[ \t"'`+,|>]*[A-Za-z0-9+/]{1,64}={0,2}[ \t"'`+,|>\r]*$/;
const MAX_LINE_CHARS = 120;

const RULE = 'private-key-body';

/** Private keys of which a part is not there: without their BEGIN line, or from anywhere up to their END line. */
export function findKeyBodies(text: string): Finding[] {
  const found: Finding[] = [];
  let done = 0;
  for (const { 0: line, index } of text.matchAll(FIRST_LINE)) {
    if (index < done) continue;
    done = bodyEnd(text, index + line.length);
    found.push({ rule: RULE, start: index, end: done });
  }
  for (const { index } of text.matchAll(END)) {
    const start = bodyStart(text, index);
    if (start < index) found.push({ rule: RULE, start, end: index });
  }
  return found;
}

function bodyEnd(text: string, from: number): number {
  NEXT_LINE.lastIndex = from;
  let end = from;
  while (text[end - 1] !== '=' && NEXT_LINE.test(text)) end = NEXT_LINE.lastIndex;
  return end;
}

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
