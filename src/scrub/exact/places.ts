import { firstIndex } from '../../text/binary-search.ts';
import type { Pass } from './decode-pass.ts';
import { ENCODING_KINDS, type EncodingKind } from './encodings.ts';
import type { Range } from './pattern.ts';
import type { Hit } from './rule.ts';

/** As gitleaks counts: offsets in bytes of UTF-8. */
interface PlacedSegment {
  encoded: Range;
  decoded: Range;
  /** In the given text. */
  given: Range;
  /** Its own kind and those of the segments it was decoded from. */
  kinds: ReadonlySet<EncodingKind>;
}

/**
 * Where gitleaks says that something of a pass stands in the given text, in bytes. It is wrong about text that was
 * decoded two passes ago and stands beside what was decoded last; here it is as wrong.
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
  reported({ found, match }: Hit): Range {
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

  #toGiven(range: Range): Range {
    if (this.#previous === undefined) return range;
    let grown: Range | undefined;
    for (const { encoded, decoded, given } of this.#meeting(range)) {
      if (decoded.start <= range.start && range.end <= decoded.end) return given;
      const start = encoded.start - Math.max(0, decoded.start - range.start);
      const end = encoded.end + Math.max(0, range.end - decoded.end);
      grown = { start: Math.min(start, grown?.start ?? start), end: Math.max(end, grown?.end ?? end) };
    }
    return grown === undefined ? range : this.#previous.#toGiven(grown);
  }

  /** The segments whose decoded text overlaps or touches a range. */
  #meeting({ start, end }: Range): PlacedSegment[] {
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

  #inBytes({ start, end }: Range): Range {
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
