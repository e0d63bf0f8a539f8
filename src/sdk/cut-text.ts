import { countNewlines, gapLine, type OutputGap } from '../core/gap.ts';

/** The most UTF-16 characters that are dropped to end on a whole line; never more than half of the text. */
const LINE_MAX_CHARS = 64 * 1024;
/** Characters that occur in secrets: a cut between two of them could leave half of a secret. */
const TOKEN = /[A-Za-z0-9_+/=.~%-]/;

/** What lies between the two parts of a text that was too long. */
export interface Missing {
  bytes: number;
  newlines: number;
}

/**
 * Joins the first and the last part of a text that was too long, with a line between them that says which bytes and lines
 * are missing. Also drops the lines that the cut split: no pattern recognizes half a secret.
 */
export function joinAroundGap(head: string, tail: string, missing: Missing): { text: string; gap: OutputGap } {
  const first = dropCutLineEnd(head);
  const last = dropCutLineStart(tail);
  const cutStart = tail.slice(0, tail.length - last.length);
  const bytes = missing.bytes + Buffer.byteLength(head.slice(first.length)) + Buffer.byteLength(cutStart);
  const firstLine = countNewlines(first) + 1;
  const nextLine = firstLine + missing.newlines + countNewlines(cutStart);
  // The tail begins a line only if the newline before it was seen.
  const lastLine = cutStart.endsWith('\n') ? nextLine - 1 : nextLine;
  const words = gapLine({ bytes, firstLine, lastLine });
  const line = first === '' || first.endsWith('\n') ? words : `\n${words}`;
  const gap = { start: first.length, end: first.length + line.length, bytes, firstLine, lastLine, nextLine };
  return { text: `${first}${line}${last}`, gap };
}

/** Drops the incomplete last line. If it is very long, or the only line, drops only the word at its end. */
function dropCutLineEnd(text: string): string {
  const newline = text.lastIndexOf('\n');
  const most = mostDropped(text);
  if (newline !== -1 && text.length - newline - 1 <= most) return text.slice(0, newline + 1);
  let end = text.length;
  while (end > text.length - most && TOKEN.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}

function dropCutLineStart(text: string): string {
  const newline = text.indexOf('\n');
  const most = mostDropped(text);
  if (newline !== -1 && newline < most) return text.slice(newline + 1);
  let start = 0;
  while (start < most && TOKEN.test(text[start] ?? '')) start += 1;
  return text.slice(start);
}

function mostDropped(text: string): number {
  return Math.min(LINE_MAX_CHARS, text.length >> 1);
}

/** Removes an incomplete character at the end. Bytes that are not UTF-8 at all stay. */
export function dropCutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return sequenceLength(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Removes the rest of an incomplete character at the start. */
export function dropCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start] ?? 0)) start += 1;
  return bytes.subarray(start);
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
