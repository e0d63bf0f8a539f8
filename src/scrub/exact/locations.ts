import { firstIndex } from '../../text/binary-search.ts';
import type { Span } from '../../text/offset-map.ts';
import type { Pass } from './decode-pass.ts';
import { ENCODING_KINDS, type EncodingKind } from './encodings.ts';
import type { Hit } from './rule.ts';

/** Lines from 1; columns from 1, in bytes, one too high from the second line on. */
export interface Location {
  startLine: number;
  endLine: number;
  startColumn: number;
  endColumn: number;
  /** What gitleaks calls the line, in bytes of the text: from the second one on with the line end before it. */
  line: Span;
}

const LINE_END = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const ALLOW_COMMENT = 'gitleaks:allow';

/** The given text in bytes, as gitleaks counts lines and columns. Everything is computed on first use. */
export class GivenText {
  readonly #text: string;
  #encoded: Buffer | undefined;
  #knownLineEnds: number[] | undefined;
  #allowComments: number[] | undefined;
  #line = { start: 0, end: 0, text: '' };

  constructor(text: string) {
    this.#text = text;
  }

  locate(place: Span): Location {
    const ends = this.#lineEnds;
    const index = firstIndex(0, ends.length, (i) => (ends[i] ?? 0) > place.start);
    return index === ends.length ? this.#onLastLine(place) : this.#onLine(index, place);
  }

  /** Whether the line of a place has the comment that tells gitleaks to ignore it. */
  hasAllowComment({ start, end }: Span): boolean {
    this.#allowComments ??= offsetsOf(this.#bytes, ALLOW_COMMENT);
    const comments = this.#allowComments;
    const first = comments[firstIndex(0, comments.length, (i) => (comments[i] ?? 0) >= start)];
    return first !== undefined && first + ALLOW_COMMENT.length <= end;
  }

  /** Bytes that are no whole character become U+FFFD. */
  slice({ start, end }: Span): string {
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

  #onLine(index: number, { start, end }: Span): Location {
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

  /** After the last line end, gitleaks takes the whole text up to there for the line. */
  #onLastLine({ start, end }: Span): Location {
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

/** As gitleaks counts: offsets in bytes of UTF-8. */
interface PlacedSegment {
  encoded: Span;
  decoded: Span;
  /** In the given text. */
  given: Span;
  /** Its own kind and those of the segments it was decoded from. */
  kinds: ReadonlySet<EncodingKind>;
}

/**
 * Where gitleaks says that something of a pass is in the given text, in bytes. gitleaks is wrong about text that was
 * decoded two passes ago and is next to what was decoded last; this is wrong in the same way.
 */
export class Places {
  readonly pass: Pass;
  readonly #previous: Places | undefined;
  #bytes: ByteOffsets | undefined;
  #segments: PlacedSegment[] | undefined;

  constructor(pass: Pass, previous: Places | undefined) {
    this.pass = pass;
    this.#previous = previous;
  }

  /** In the given text itself, line ends after a match are left out and those before it are not. */
  reported({ found, match }: Hit): Span {
    const range = this.#inBytes(found);
    if (this.#previous !== undefined) return this.#toGiven(range);
    const { start, end } = this.#inBytes(match);
    return { start: range.start, end: range.start + end - start };
  }

  /** What was decoded to find a hit; none at depth 0. */
  tags({ found }: Hit): string[] {
    const met = this.#meeting(this.#inBytes(found));
    if (met.length === 0) return [];
    const kinds = ENCODING_KINDS.filter((kind) => met.some((segment) => segment.kinds.has(kind)));
    return [...kinds.map((kind) => `decoded:${kind}`), `decode-depth:${this.pass.depth}`];
  }

  #toGiven(range: Span): Span {
    if (this.#previous === undefined) return range;
    let grown: Span | undefined;
    for (const { encoded, decoded, given } of this.#meeting(range)) {
      if (decoded.start <= range.start && range.end <= decoded.end) return given;
      const start = encoded.start - Math.max(0, decoded.start - range.start);
      const end = encoded.end + Math.max(0, range.end - decoded.end);
      grown = { start: Math.min(start, grown?.start ?? start), end: Math.max(end, grown?.end ?? end) };
    }
    return grown === undefined ? range : this.#previous.#toGiven(grown);
  }

  /** The segments whose decoded text overlaps or touches a range. */
  #meeting({ start, end }: Span): PlacedSegment[] {
    const segments = this.#placedSegments();
    const from = firstIndex(0, segments.length, (i) => (segments[i]?.decoded.end ?? 0) >= start);
    return segments.slice(
      from,
      firstIndex(0, segments.length, (i) => (segments[i]?.decoded.start ?? 0) > end),
    );
  }

  #placedSegments(): PlacedSegment[] {
    const previous = this.#previous;
    if (previous === undefined) return [];
    this.#segments ??= this.pass.segments.map(({ kind, encoded: inUnits, decoded }) => {
      const encoded = previous.#inBytes(inUnits);
      const kinds = new Set([kind, ...previous.#meeting(encoded).flatMap((segment) => [...segment.kinds])]);
      return { encoded, decoded: this.#inBytes(decoded), given: previous.#toGiven(encoded), kinds };
    });
    return this.#segments;
  }

  #inBytes({ start, end }: Span): Span {
    this.#bytes ??= new ByteOffsets(this.pass.text);
    return { start: this.#bytes.at(start), end: this.#bytes.at(end) };
  }
}

/** From UTF-16 offsets to bytes of UTF-8. */
class ByteOffsets {
  /** Undefined: the text is ASCII. */
  readonly #offsets: Uint32Array | undefined;

  constructor(text: string) {
    if (Buffer.byteLength(text) === text.length) return;
    this.#offsets = new Uint32Array(text.length + 1);
    let bytes = 0;
    let unit = 0;
    for (const rune of text) {
      this.#offsets[unit] = bytes;
      if (rune.length === 2) this.#offsets[unit + 1] = bytes;
      unit += rune.length;
      bytes += byteLength(rune.codePointAt(0) ?? 0);
    }
    this.#offsets[unit] = bytes;
  }

  at(unit: number): number {
    return this.#offsets === undefined ? unit : (this.#offsets[unit] ?? 0);
  }
}

function byteLength(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x1_0000 ? 3 : 4;
}
