/**
 * The part of a text that was not kept, because the text was longer than the limit. A line of contextd stands in its place.
 */
export interface OutputGap {
  /** Where the line of contextd begins and ends in the text: UTF-16 offsets, the end with its newline. */
  start: number;
  end: number;
  /** The number of bytes that are missing. */
  bytes: number;
  /** The first and the last line that are missing, wholly or in part, counted from 1 in the whole text. */
  firstLine: number;
  lastLine: number;
  /** The number of the line that the text after the gap begins with, or goes on with. */
  nextLine: number;
}

/** The missing lines as `12-900` or `12`. */
export function missingLines({ firstLine, lastLine }: Pick<OutputGap, 'firstLine' | 'lastLine'>): string {
  return firstLine === lastLine ? `${firstLine}` : `${firstLine}-${lastLine}`;
}

/**
 * The line that stands in the place of a gap. It holds nothing but figures. It is part of a text, so it does not begin like
 * the lines that contextd prints beside the texts.
 */
export function gapLine({ bytes, firstLine, lastLine }: Omit<OutputGap, 'start' | 'end' | 'nextLine'>): string {
  const lines = `line${firstLine === lastLine ? '' : 's'} ${missingLines({ firstLine, lastLine })}`;
  return `… ${bytes} bytes were not kept by contextd, ${lines} …\n`;
}

export function countNewlines(text: string, start = 0, end = text.length): number {
  let count = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
