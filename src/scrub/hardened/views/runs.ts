import type { Span } from './view.ts';

/** 1 for each character code below 128 that a pattern of one character matches. */
export function characterTable(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

/** The longest runs of at least `min` characters of a table. Most characters of other text are not even looked at. */
export function* runsOf(text: string, table: Uint8Array, min: number): Generator<Span> {
  for (let from = 0; from + min <= text.length; ) {
    const gap = lastOther(text, table, from, from + min);
    if (gap >= from) {
      from = gap + 1;
      continue;
    }
    const end = runEnd(text, table, from + min);
    yield { start: from, end };
    from = end + 1;
  }
}

/** Where a run that holds `from` ends. */
export function runEnd(text: string, table: Uint8Array, from: number): number {
  let at = from;
  while (table[text.charCodeAt(at)] === 1) at++;
  return at;
}

/** The last character of a range that is not of the table; before it when all are. */
function lastOther(text: string, table: Uint8Array, from: number, to: number): number {
  let at = to - 1;
  while (at >= from && table[text.charCodeAt(at)] === 1) at--;
  return at;
}
