import type { Viewed } from './view.ts';

/** Half open, UTF-16 offsets. */
interface Span {
  start: number;
  end: number;
}

/**
 * Lines `first` to `last`, counted from 1, both included, with their line ends; `last` Infinity: to the end. A line end
 * that closes the text begins no further line. Facts: `lines` of the whole text, `beyond_end` where there are too few.
 */
export function viewLines(text: string, { first, last }: { first: number; last: number }): Viewed {
  let start = text.length;
  let end = text.length;
  let lines = 0;
  for (let at = 0; at < text.length; ) {
    lines += 1;
    if (lines === first) start = at;
    at = lineEnd(text, at);
    if (lines === last) end = at;
  }
  return { kind: 'range', start, end, facts: first > lines ? { lines, beyond_end: true } : { lines } };
}

/** The first `count` lines with their line ends. */
export function firstLines(text: string, count: number): Span {
  let end = 0;
  for (let left = count; left > 0 && end < text.length; left -= 1) end = lineEnd(text, end);
  return { start: 0, end };
}

/** The last `count` lines with their line ends. */
export function lastLines(text: string, count: number): Span {
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left -= 1) start = lineStartBefore(text, start);
  return { start, end: text.length };
}

function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? text.length : at + 1;
}

/** Where the line begins that ends just before `end`. */
function lineStartBefore(text: string, end: number): number {
  return end < 2 ? 0 : text.lastIndexOf('\n', end - 2) + 1;
}
