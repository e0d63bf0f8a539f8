import type { JsonObject } from '../../core/json.ts';
import { isReasonAlone } from './errors/error-line.ts';
import { errorLines } from './errors/find-errors.ts';
import type { Span } from './grep/long-line.ts';
import { type Line, NumberedLines } from './grep/numbered-lines.ts';
import { lastLines } from './lines.ts';
import type { Viewed } from './view.ts';

export { lastErrorBlock } from './errors/last-error-block.ts';

/** So often the same error is shown; and the same reason, of whatever name, where nothing calls it an error. */
const REPEATS_SHOWN = 3;
const REASONS_SHOWN = 10;
/** Names, as they differ from one line of a program's talk to the next. */
const NAMES = /"[^"]*"|'[^']*'|`[^`']*['`]|\S*[/\\]\S*|\d+/g;
/** How much of an error is compared, UTF-16 units, and how many different ones are remembered. */
const KEY_MAX_CHARS = 300;
const KEYS_MAX = 5_000;
/** Lines shown of a text without any error. */
const LAST_LINES = 20;

/**
 * What a person looks for in a failed build or test: the lines that tell of errors, `12:text`, with their messages and
 * `context` lines around, `13-text`, and `--` between groups; in the order of the text. An error that comes again (the
 * same but for digits) is shown three times, a reason that nothing calls an error (`File 'a' does not exist`, the same
 * but for names) ten times. Without any error the last 20 lines. Facts: `lines` of the text, `errors`
 * (lines that tell of one), `repeats` (those not shown), and those of viewGrep. Time is linear in the text.
 */
export function viewErrors(text: string, { context }: { context: number }): Viewed {
  const out = new NumberedLines(text, { separated: true });
  const count = new LineCount(text);
  const repeats = new Repeats();
  let errors = 0;
  for (const found of errorLines(text, 0)) {
    errors += 1;
    if (repeats.isOne(found.body)) continue;
    const { heading, start, place } = found;
    if (heading !== null) out.add(count.numbered(heading), { before: 0, after: 0 }, () => [], '-');
    const around = { before: found.before + context, after: found.after + context };
    out.add(count.numbered(found), around, () => [{ start: place - start, end: place - start }]);
  }
  if (errors === 0) showEnd(text, out, count);
  const shown = out.finish();
  const facts: JsonObject = {
    lines: count.all(),
    errors,
    ...(repeats.count > 0 && { repeats: repeats.count }),
    ...(out.shortened > 0 && { shortened_lines: out.shortened }),
    ...(out.leftOut > 0 && { matches_left_out: out.leftOut }),
  };
  return { kind: 'text', text: shown, facts, cut: 'head_tail' };
}

function showEnd(text: string, out: NumberedLines, count: LineCount): void {
  const { start, end } = lastLines(text, LAST_LINES);
  if (start < end) out.add(count.numbered({ start, end }), { before: 0, after: LAST_LINES - 1 }, () => [], '-');
}

/** Tells which errors were shown often enough. */
class Repeats {
  readonly #seen = new Map<string, number>();
  /** Those that were. */
  count = 0;

  isOne(body: string): boolean {
    const isReason = isReasonAlone(body);
    const key = body.slice(0, KEY_MAX_CHARS).replace(isReason ? NAMES : /\d+/g, '0');
    const times = (this.#seen.get(key) ?? 0) + 1;
    if (times > 1 || this.#seen.size < KEYS_MAX) this.#seen.set(key, times);
    const isRepeat = times > (isReason ? REASONS_SHOWN : REPEATS_SHOWN);
    if (isRepeat) this.count += 1;
    return isRepeat;
  }
}

/** Numbers lines, which must come in their order. */
class LineCount {
  readonly #text: string;
  #number = 1;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  numbered({ start, end }: Span): Line {
    // A heading of one error may stand before the error that came last.
    if (start < this.#at) return { number: 0, start, end };
    this.#countTo(start);
    return { number: this.#number, start, end };
  }

  /** How many lines there are in all: a line end that closes the text begins no further one. */
  all(): number {
    this.#countTo(this.#text.length);
    return this.#at === this.#text.length ? this.#number - 1 : this.#number;
  }

  #countTo(place: number): void {
    for (let at = this.#text.indexOf('\n', this.#at); at !== -1 && at < place; at = this.#text.indexOf('\n', at + 1)) {
      this.#number += 1;
      this.#at = at + 1;
    }
  }
}
