import { ContextdError } from '../../core/errors.ts';
import { LinePattern, SEARCHED_MAX_CHARS } from './grep/line-pattern.ts';
import { type Line, NumberedLines } from './grep/numbered-lines.ts';
import { LineNumbers } from './line-numbers.ts';
import type { Viewed } from './view.ts';

/** ARGS_INVALID at `/view/grep` for a pattern that RE2 does not take. */
export function checkPattern(pattern: string): void {
  try {
    new LinePattern(pattern, '');
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'it does not parse';
    const fault = `is not a pattern: ${reason}`;
    throw new ContextdError('ARGS_INVALID', `/view/grep ${fault}`, {
      remedy:
        'Use RE2 syntax, without look-around and back-references. Put \\ before a character that must stand for itself.',
      details: { faults: [{ pointer: '/view/grep', fault }] },
    });
  }
}

/**
 * Shows lines that match a RE2 pattern, `12:text`, with `before` and `after` lines around each, `11-text`, and `--`
 * between groups, as the tool safe_read prints them. Of a line above 1 MiB only the beginning is searched (fact
 * `long_lines`); one above 2,000 characters is shown in parts (`shortened_lines`). Facts: `lines` of the text,
 * `matches` among them, and `matches_left_out` if the view is too large to be made whole. Time is linear in the text.
 */
export function viewGrep(
  text: string,
  { pattern, before, after }: { pattern: string; before: number; after: number },
  numbers = new LineNumbers(text, undefined),
): Viewed {
  const wanted = new LinePattern(pattern, text);
  const out = new NumberedLines(text, { separated: before > 0 || after > 0, numbers });
  let matches = 0;
  let longLines = 0;
  const line: Line = { number: 0, start: 0, end: -1 };
  while (line.end + 1 < text.length) {
    nextLine(text, line);
    if (line.end - line.start > SEARCHED_MAX_CHARS) longLines += 1;
    if (numbers.isInGap(line.start) || !wanted.matches(line)) continue;
    matches += 1;
    out.add(line, { before, after }, () => wanted.placesIn(line));
  }
  const shown = out.finish();
  const facts = {
    lines: numbers.of(line.number),
    matches,
    ...(longLines > 0 && { long_lines: longLines }),
    ...(out.shortened > 0 && { shortened_lines: out.shortened }),
    ...(out.leftOut > 0 && { matches_left_out: out.leftOut }),
  };
  return { kind: 'text', text: shown, facts, cut: 'head' };
}

/** One object for all lines: there may be millions. */
function nextLine(text: string, line: Line): void {
  line.number += 1;
  line.start = line.end + 1;
  const newline = text.indexOf('\n', line.start);
  line.end = newline === -1 ? text.length : newline;
}
