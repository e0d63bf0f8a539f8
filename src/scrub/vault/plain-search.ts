import type { Finding } from '../finding.ts';

/** A shorter value would be masked in every word. */
const MIN_CHARS = 3;
/** Hits of one value in one text. */
const MAX_HITS = 10_000;

export interface PlainValue {
  value: string;
  rule: string;
}

/** Every place of the values in a text. For the few values a program of this call was given, whatever they look like. */
export function findPlain(text: string, values: readonly PlainValue[]): Finding[] {
  return values.filter(({ value }) => value.length >= MIN_CHARS).flatMap((known) => placesOf(text, known));
}

function placesOf(text: string, { value, rule }: PlainValue): Finding[] {
  const found: Finding[] = [];
  let start = text.indexOf(value);
  while (start !== -1 && found.length < MAX_HITS) {
    found.push({ rule, start, end: start + value.length });
    start = text.indexOf(value, start + value.length);
  }
  // So often a value is a piece of ordinary text; from here on all of it goes, rather than any of it shows.
  if (start !== -1) found.push({ rule, start, end: text.length });
  return found;
}
