/** Most UTF-16 characters given up to end on a whole line; never more than half of the text. */
const LINE_MAX_CHARS = 64 * 1024;
/** Characters that secrets consist of: a cut between two of these could leave half of one. */
const TOKEN = /[A-Za-z0-9_+/=.~%-]/;

/**
 * Joins the first and the last part of a text that was too long, with a line between them that says how many bytes are
 * missing. Lines that were cut apart are dropped too, because no pattern recognises half a secret.
 */
export function joinAroundGap(
  head: string,
  tail: string,
  missingBytes: number,
): { text: string; droppedBytes: number } {
  const first = dropCutLineEnd(head);
  const last = dropCutLineStart(tail);
  const cutOff =
    Buffer.byteLength(head.slice(first.length)) + Buffer.byteLength(tail.slice(0, tail.length - last.length));
  const droppedBytes = missingBytes + cutOff;
  return { text: `${first}\n[contextd: ${droppedBytes} bytes were not kept]\n${last}`, droppedBytes };
}

/** Of a line that is very long, or the only one, only the word at its end is dropped. */
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
