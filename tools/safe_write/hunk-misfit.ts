import type { JsonObject, ToolOutput, ToolStream } from '../../src/sdk/tool.ts';
import { dropCutEnd, dropCutStart } from '../../src/sdk/utf8.ts';
import { findNearMiss } from './near-miss.ts';
import type { Hunk } from './parse-patch.ts';

/** Of the line that stands in the place of another, this much is shown, bytes. */
const SHOWN_MAX_BYTES = 300;
/** Searched for secrets on both sides of what is shown. */
const MARGIN_BYTES = 8 * 1024;
const NEWLINE = 0x0a;

/** What to answer when a hunk does not fit: CONFLICT, and as `data.found` the line that stands there instead. */
export class HunkMisfit {
  readonly #file: Buffer;
  readonly #shown: string;
  readonly #hunk: Hunk;
  readonly #line: number;

  /** `line`: where the hunk was expected, counted from 1. */
  constructor(file: Buffer, shown: string, hunk: Hunk, line: number) {
    this.#file = file;
    this.#shown = shown;
    this.#hunk = hunk;
    this.#line = line;
  }

  withoutContext(): ToolOutput {
    return this.#conflict(`has no lines to know its place by, and line ${this.#line} is not sure to be it`, {
      remedy: 'Give the hunk three lines of context.',
    });
  }

  ambiguous(lines: readonly number[]): ToolOutput {
    return this.#conflict(
      `is not at line ${this.#line} and fits in more than one place, as at ${lines.join(' and ')}`,
      {
        remedy: 'Correct the line in its header, or give it more context.',
        details: { lines: [...lines] },
      },
    );
  }

  tooMany(limit: number): ToolOutput {
    return this.#conflict(`is not at line ${this.#line}, as ${limit} before it were not where the patch says`, {});
  }

  /** `old`: what it expects. `at`: offset of the expected line, null when the file ends before it. */
  nowhere(old: Buffer, at: number | null, done: number): ToolOutput {
    const near = findNearMiss(this.#file, old);
    const differs =
      near === null ? '' : `; what stands at line ${near.line} differs in white space alone: ${near.differs}`;
    const details = near === null ? {} : { nearest_line: near.line };
    if (at === null) {
      const where = this.#line < done ? 'the hunk before it ends behind that line' : 'the file ends before that line';
      return this.#conflict(`is expected at line ${this.#line}, but ${where}${differs}`, { details });
    }
    const end = this.#ending(old, at);
    if (end !== null) return this.#conflict(`does not fit: ${end}`, { details });
    const { line, found } = this.#firstOther(old, at);
    return this.#conflict(`does not fit: line ${line} is not what it expects${differs}`, { details, found });
  }

  /** What is wrong when every line stands there, and only the end of the file is another. */
  #ending(old: Buffer, at: number): string | null {
    const { old: side } = this.#hunk;
    if (!side.endsFile && old.at(-1) === NEWLINE && this.#file.subarray(at).equals(old.subarray(0, -1)))
      return 'the file ends without a newline there, which takes "\\ No newline at end of file" below its last line';
    const isThere = this.#file.subarray(at, at + old.length).equals(old);
    return isThere ? 'it says that the file ends there without a newline, and it does not' : null;
  }

  #firstOther(old: Buffer, at: number): { line: number; found: ToolStream } {
    let same = 0;
    while (same < old.length && this.#file[at + same] === old[same]) same += 1;
    const before = old.subarray(0, same);
    const start = at + before.lastIndexOf(NEWLINE) + 1;
    const newline = this.#file.indexOf(NEWLINE, start);
    const line = this.#line + countLines(before);
    return { line, found: excerpt(this.#file, start, newline === -1 ? this.#file.length : newline) };
  }

  #conflict(
    what: string,
    { remedy, details = {}, found }: { remedy?: string; details?: JsonObject; found?: ToolStream },
  ): ToolOutput {
    const { number, patchLine } = this.#hunk;
    const message = `in ${this.#shown}, hunk ${number} (line ${patchLine} of the patch) ${what}`;
    return {
      data: { path: this.#shown },
      ...(found === undefined ? {} : { streams: [found] }),
      failure: {
        code: 'CONFLICT',
        message,
        remedy: `${remedy ?? 'Read the file again and make the patch for what stands there.'} Nothing was written.`,
        details: { path: this.#shown, hunk: number, patch_line: patchLine, line: this.#line, ...details },
      },
    };
  }
}

/** A secret that is cut, or known by what stands before it, is found with the text around it. */
function excerpt(file: Buffer, start: number, end: number): ToolStream {
  const shown = dropCutEnd(file.subarray(start, Math.min(end, start + SHOWN_MAX_BYTES)));
  const shownEnd = start + shown.length;
  const before = dropCutStart(file.subarray(Math.max(0, start - MARGIN_BYTES), start)).toString();
  const after = dropCutEnd(file.subarray(shownEnd, shownEnd + MARGIN_BYTES)).toString();
  return {
    field: 'found',
    text: before + shown.toString() + after,
    margin: { before: before.length, after: after.length },
  };
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
