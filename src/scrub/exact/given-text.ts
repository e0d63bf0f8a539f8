import { firstIndex } from '../../text/binary-search.ts';
import type { Range } from './pattern.ts';

/** Lines from 1; columns from 1, in bytes, one too high from the second line on. */
export interface Location {
  startLine: number;
  endLine: number;
  startColumn: number;
  endColumn: number;
  /** What gitleaks calls the line, in bytes of the text: from the second one on with the line end before it. */
  line: Range;
}

const LINE_END = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const ALLOW_COMMENT = 'gitleaks:allow';

/** The text that was given, in bytes, as gitleaks counts its lines and columns. Nothing is made before it is asked. */
export class GivenText {
  readonly #text: string;
  #encoded: Buffer | undefined;
  #knownLineEnds: number[] | undefined;
  #allowComments: number[] | undefined;
  #line = { start: 0, end: 0, text: '' };

  constructor(text: string) {
    this.#text = text;
  }

  locate(place: Range): Location {
    const ends = this.#lineEnds;
    const index = firstIndex(0, ends.length, (i) => (ends[i] ?? 0) > place.start);
    return index === ends.length ? this.#onLastLine(place) : this.#onLine(index, place);
  }

  /** Whether the line of a place bears the comment that tells gitleaks to pass over it. */
  hasAllowComment({ start, end }: Range): boolean {
    this.#allowComments ??= offsetsOf(this.#bytes, ALLOW_COMMENT);
    const comments = this.#allowComments;
    const first = comments[firstIndex(0, comments.length, (i) => (comments[i] ?? 0) >= start)];
    return first !== undefined && first + ALLOW_COMMENT.length <= end;
  }

  /** Bytes that are no whole character become U+FFFD. */
  slice({ start, end }: Range): string {
    if (this.#line.start !== start || this.#line.end !== end)
      this.#line = { start, end, text: this.#bytes.toString('utf8', start, end) };
    return this.#line.text;
  }

  get #bytes(): Buffer {
    this.#encoded ??= Buffer.from(this.#text);
    return this.#encoded;
  }

  /** Offsets of the line ends; the text's end where it has none. */
  get #lineEnds(): number[] {
    if (this.#knownLineEnds === undefined) {
      const ends = offsetsOf(this.#bytes, '\n');
      this.#knownLineEnds = ends.length === 0 ? [this.#bytes.length] : ends;
    }
    return this.#knownLineEnds;
  }

  #onLine(index: number, { start, end }: Range): Location {
    const ends = this.#lineEnds;
    const before = (line: number): number => (line === 0 ? 0 : (ends[line - 1] ?? 0));
    const endIndex = end === 0 ? ends.length : firstIndex(0, ends.length, (i) => (ends[i] ?? 0) >= end);
    const isEndFound = endIndex < ends.length;
    // An empty match at a line end ends a line before it starts.
    const lastIndex = isEndFound ? Math.max(index, endIndex) : index;
    return {
      startLine: index + 1,
      endLine: lastIndex + 1,
      startColumn: start - before(index) + 1,
      endColumn: isEndFound ? end - before(endIndex) : 0,
      line: { start: before(index), end: Math.max(end, ends[lastIndex] ?? 0) },
    };
  }

  /** After the last line end: gitleaks takes all of the text up to there for the line. */
  #onLastLine({ start, end }: Range): Location {
    const last = this.#lineEnds.at(-1) ?? 0;
    let lineEnd = end;
    while (
      lineEnd < this.#bytes.length &&
      this.#bytes[lineEnd] !== LINE_END &&
      this.#bytes[lineEnd] !== CARRIAGE_RETURN
    )
      lineEnd++;
    const line = this.#lineEnds.length + 1;
    return {
      startLine: line,
      endLine: line,
      startColumn: start - last + 1,
      endColumn: end - last,
      line: { start: 0, end: lineEnd },
    };
  }
}

function offsetsOf(bytes: Buffer, text: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) found.push(at);
  return found;
}
