import { firstIndex } from '../../text/binary-search.ts';
import type { Span } from '../../text/offset-map.ts';
import { decodeRun, ENCODING_KINDS, type EncodedRun, type EncodingKind, findEncoded } from './encodings.ts';
import { PercentPlaces } from './percent-places.ts';
import { areFew, linesAround } from './windows.ts';

/** A place of the previous pass that was decoded. */
export interface Segment {
  kind: EncodingKind;
  /** In the text of the previous pass. */
  encoded: Span;
  /** In the text of this pass. */
  decoded: Span;
  /** Where each decoded unit comes from; only of percent encoding, whose runs go to the last escape of a line. */
  places?: PercentPlaces;
}

/** A text as the rules see it: first the given text, then the text with its encoded places decoded, and so on. */
export interface Pass {
  text: string;
  /** How often it was decoded: 0 for the given text. */
  depth: number;
  /** In order of place, without overlap. Empty at depth 0, otherwise at least one. */
  segments: readonly Segment[];
  previous: Pass | undefined;
}

export function firstPass(text: string): Pass {
  return { text, depth: 0, segments: [], previous: undefined };
}

/** Decodes one more layer of the text. Returns undefined if nothing in it is encoded. */
export function decodeOnce(previous: Pass): Pass | undefined {
  const { text } = previous;
  const mayHold = previous.depth === 0 ? undefined : mayBeEncoded(previous);
  const segments: Segment[] = [];
  let decodedText = '';
  let from = 0;
  for (const run of withoutOutranked(findEncoded(text, mayHold))) {
    const value = decodeRun(text, run);
    if (value === '') continue;
    decodedText += text.slice(from, run.start);
    const decoded = { start: decodedText.length, end: decodedText.length + value.length };
    const places = run.kind === 'percent' ? { places: new PercentPlaces(text, run) } : {};
    segments.push({ kind: run.kind, encoded: { start: run.start, end: run.end }, decoded, ...places });
    decodedText += value;
    from = run.end;
  }
  if (segments.length === 0) return undefined;
  return { text: decodedText + text.slice(from), depth: previous.depth + 1, segments, previous };
}

/**
 * The lines that may hold what the pass before did not decode: those of decoded text, with a line on either side, because a
 * run of code points goes on over line ends.
 */
function mayBeEncoded({ text, segments }: Pass): Span[] | undefined {
  const places = segments.map(({ decoded: { start, end } }) => ({
    start: lineBefore(text, start),
    end: lineAfter(text, end),
  }));
  const lines = linesAround(text, places);
  return areFew(text, lines) ? lines : undefined;
}

const CODE_POINT_END = /U\+[0-9A-Fa-f]{4}$/;

/** The start of the line before the one of an offset; if that goes on from a code point in the line before, of this one. */
function lineBefore(text: string, offset: number): number {
  let end = text.lastIndexOf('\n', offset - 1);
  for (;;) {
    const start = end <= 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    if (end <= 0 || start === 0 || !CODE_POINT_END.test(text.slice(Math.max(0, start - 7), start - 1))) return start;
    end = start - 1;
  }
}

/** The start of the line after the one of an offset, or the end of the text. */
function lineAfter(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

/** If two runs touch, the one of lower precedence waits for the next pass. */
function withoutOutranked(runs: EncodedRun[]): EncodedRun[] {
  const outranks = (other: EncodedRun | undefined, run: EncodedRun): boolean =>
    other !== undefined &&
    other.start <= run.end &&
    other.end >= run.start &&
    ENCODING_KINDS.indexOf(other.kind) < ENCODING_KINDS.indexOf(run.kind);
  return runs.filter((run, i) => !outranks(runs[i - 1], run) && !outranks(runs[i + 1], run));
}

/** The segments whose decoded text overlaps or touches a range. */
export function segmentsAt(segments: readonly Segment[], { start, end }: Span): Segment[] {
  const found: Segment[] = [];
  for (let i = firstIndex(0, segments.length, (k) => (segments[k]?.decoded.end ?? 0) >= start); ; i++) {
    const segment = segments[i];
    if (segment === undefined || segment.decoded.start > end) return found;
    found.push(segment);
  }
}

/** Maps a range of a pass to the given text. A range that touches decoded text becomes the whole encoded place. */
export function toGivenText(pass: Pass, range: Span): Span {
  return mapped(pass, range, { start: ({ encoded }) => encoded.start, end: ({ encoded }) => encoded.end });
}

/** The same, but of percent encoding only what stands for the range: a run of it has whole URLs between two escapes. */
export function toGivenPlace(pass: Pass, range: Span): Span {
  return mapped(pass, range, {
    start: ({ encoded, decoded, places }, offset) => places?.startOf(offset - decoded.start) ?? encoded.start,
    end: ({ encoded, decoded, places }, offset) => places?.startOf(offset - decoded.start) ?? encoded.end,
  });
}

interface Inside {
  start(segment: Segment, offset: number): number;
  end(segment: Segment, offset: number): number;
}

function mapped(pass: Pass, { start, end }: Span, inside: Inside): Span {
  if (pass.previous === undefined) return { start, end };
  const { segments } = pass;
  const from = segments[firstIndex(0, segments.length, (k) => (segments[k]?.decoded.end ?? 0) > start)];
  const last = segments[firstIndex(0, segments.length, (k) => (segments[k]?.decoded.start ?? 0) >= end) - 1];
  const behind = segments[firstIndex(0, segments.length, (k) => (segments[k]?.decoded.end ?? 0) > start) - 1];
  const inFrom = from !== undefined && from.decoded.start <= start;
  const shifted = (offset: number, before: Segment | undefined): number =>
    before === undefined ? offset : offset - before.decoded.end + before.encoded.end;
  const given = {
    start: inFrom ? inside.start(from, start) : shifted(start, behind),
    end: last !== undefined && end <= last.decoded.end ? inside.end(last, end) : shifted(end, last),
  };
  return mapped(pass.previous, given, inside);
}
