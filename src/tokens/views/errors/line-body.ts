import { CONTROL_SEQUENCES } from '../../../text/terminal.ts';

/** What builders and loggers put before a line: a time, `#8 1.234 ` of docker, `web-1  | ` of compose. */
const PREFIX =
  /^(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]{0,10}(?:Z|[+-]\d\d:?\d\d)?\s+|#\d{1,5} \d{1,7}\.\d{1,6} |[A-Za-z][\w.-]{0,40} {1,20}\| )/;

/** A line as its program wrote it: without colours, what a carriage return wrote over, and the prefix of a builder. */
export function bodyOf(line: string): string {
  const plain = line.includes('\u001b') ? line.replace(CONTROL_SEQUENCES, '') : line;
  const ended = plain.endsWith('\r') ? plain.slice(0, -1) : plain;
  return ended.slice(ended.lastIndexOf('\r') + 1).replace(PREFIX, '');
}

/** How far a line is indented, in characters. */
export function indentOf(body: string): number {
  const at = body.search(/\S/);
  return at === -1 ? body.length : at;
}
