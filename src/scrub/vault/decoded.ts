import { firstIndex } from '../../text/binary-search.ts';
import { isBzip2 } from '../../text/bunzip.ts';
import { type Alphabet, BASE64, HEX, inflate, isCompressed, lastOutside, runEnd } from '../../text/encodings.ts';
import { unescapedRuns } from '../../text/escapes.ts';

/** Text that was found encoded in another text. */
export interface Decoded {
  text: string;
  /** `escape`: a text as another format writes it; `code`: anything that must be decoded. */
  kind: 'escape' | 'code';
  /** The part of the original that a part of the decoded text is made of. */
  toOriginal(start: number, end: number): { start: number; end: number };
}

/** How much of one text may be inflated, in characters of the result. */
export interface InflateAllowance {
  chars: number;
}

/** Shorter runs are not decoded. */
const MIN_RUN = 16;
/** Longer runs are decoded in parts; a multiple of 12, so that groups stay whole. */
const MAX_RUN = 12 * 65_536;
/** Characters in the middle of a run that decide whether it holds text. */
const SAMPLE = 64;
const TEXT_SHARE = 0.8;
const MAX_INFLATED = 1024 * 1024;

/** Finds what is encoded in a text, in runs that begin between two offsets: base64, hex, compressed base64, escapes. */
export function* decodeRuns(text: string, from: number, to: number, allowance: InflateAllowance): Generator<Decoded> {
  for (const { text: plain, places } of unescapedRuns(text, from, to))
    yield {
      text: plain,
      kind: 'escape',
      toOriginal: (start, end) => ({
        start: places[start] ?? 0,
        end: Math.max(places[end] ?? 0, (places[end - 1] ?? 0) + 1),
      }),
    };
  for (const block of blocksOf(text, from, to)) {
    const whole = [...decodeBlock(block, allowance)];
    yield* whole;
    if (whole.length > 0 || block.segments.length === 1) continue;
    for (const segment of block.segments)
      if (segment.end - segment.start >= MIN_RUN) yield* decodeBlock({ text, segments: [segment] }, allowance);
  }
}

interface Segment {
  start: number;
  end: number;
}

/** Lines of one wrapped blob, or one run. */
interface Block {
  text: string;
  segments: Segment[];
}

function* blocksOf(text: string, from: number, to: number): Generator<Block> {
  let at = from;
  while (from > 0 && at < to && isCode(text, at - 1) && isCode(text, at)) at++;
  while (at + MIN_RUN <= text.length && at < to) {
    const broken = lastOutside(text, BASE64.digits, at, at + MIN_RUN);
    if (broken >= at) {
      at = broken + 1;
      continue;
    }
    const segments = [runAt(text, at)];
    for (let next = nextLine(text, segments); next !== undefined; next = nextLine(text, segments)) segments.push(next);
    yield { text, segments };
    at = segments.at(-1)?.end ?? text.length;
  }
}

function runAt(text: string, start: number): Segment {
  return { start, end: runEnd(text, BASE64.digits, start, Math.min(text.length, start + MAX_RUN)) };
}

/** Returns the next line of a wrapped blob. */
function nextLine(text: string, segments: readonly Segment[]): Segment | undefined {
  const [first, last] = [segments[0], segments.at(-1)];
  if (first === undefined || last === undefined || last.end - first.start > MAX_RUN) return undefined;
  if (last.end - last.start < MIN_RUN) return undefined;
  let at = text[last.end] === '\r' ? last.end + 1 : last.end;
  if (text[at] !== '\n') return undefined;
  at++;
  while (text[at] === ' ' || text[at] === '\t') at++;
  const next = runAt(text, at);
  LINE_REST.lastIndex = next.end;
  return next.end > next.start && LINE_REST.test(text) ? next : undefined;
}

/** What may stand behind the characters of a line of a blob: padding, its end, or a closing sign. Behind the key of a next line stands `:`. */
const LINE_REST = /={0,2}[ \t]*(?:[\r\n"'`,;)\]}<\\]|$)/y;

function* decodeBlock({ text, segments }: Block, allowance: InflateAllowance): Generator<Decoded> {
  const [first] = segments;
  if (first === undefined) return;
  const code =
    segments.length === 1
      ? text.slice(first.start, first.end)
      : segments.map(({ start, end }) => text.slice(start, end)).join('');
  const placeOf = placesOf(segments);
  const packed = PACKED_IN_BASE64.test(code) ? 'base64' : PACKED_IN_HEX.test(code) ? 'hex' : undefined;
  if (packed !== undefined) {
    const inflated = inflateCode(code, packed, allowance);
    const whole = { start: first.start, end: segments.at(-1)?.end ?? first.end };
    if (inflated !== undefined) yield { text: inflated, kind: 'code', toOriginal: () => whole };
  }
  const phase64 = bestPhase(code, BASE64, BASE64_PHASES);
  if (phase64 !== undefined) yield decodedAs('base64', code, phase64, 4 / 3, placeOf);
  const phaseHex = HEX_ONLY.test(code) ? bestPhase(code, HEX, HEX_PHASES) : undefined;
  if (phaseHex !== undefined) yield decodedAs('hex', code, phaseHex, 2, placeOf);
}

const HEX_ONLY = /^[0-9A-Fa-f]+$/;
/** How gzip, zlib, zip and bzip2 data begin. */
const PACKED_IN_BASE64 = /^(?:H4sI|e[AFJN]|UEsDB|Qlpo)/;
const PACKED_IN_HEX = /^(?:1f8b08|78|504b0304|425a68)/i;
/** Bytes that show whether they are compressed. */
const HEAD_BYTES = 12;
/** What data counts that could not be inflated: nobody knows how far it was read. */
const FAILED_CHARS = 65_536;

function decodedAs(
  encoding: 'base64' | 'hex',
  code: string,
  phase: number,
  charsPerByte: number,
  placeOf: (at: number) => number,
): Decoded {
  return {
    text: Buffer.from(code.slice(phase), encoding).toString('latin1'),
    kind: 'code',
    toOriginal: (start, end) => ({
      start: placeOf(phase + Math.floor(start * charsPerByte)),
      end: placeOf(Math.min(code.length, phase + Math.ceil(end * charsPerByte)) - 1) + 1,
    }),
  };
}

/** Offset in the text of a character of the joined segments. */
function placesOf(segments: readonly Segment[]): (at: number) => number {
  const begins: number[] = [];
  let total = 0;
  for (const { start, end } of segments) {
    begins.push(total);
    total += end - start;
  }
  return (at) => {
    const segment = firstIndex(1, begins.length, (i) => (begins[i] ?? 0) > at) - 1;
    return (segments[segment]?.start ?? 0) + at - (begins[segment] ?? 0);
  };
}

/** Digits after which a byte begins again. */
const BASE64_PHASES = 4;
const HEX_PHASES = 2;

/** Returns where to begin so that the middle of a run decodes to text; undefined if it does not in any phase. */
function bestPhase(code: string, alphabet: Alphabet, phases: number): number | undefined {
  const middle = Math.max(0, Math.floor((code.length - SAMPLE) / 2 / phases) * phases);
  let best: number | undefined;
  let most = 0;
  for (let phase = 0; phase < phases; phase++) {
    const share = textShare(code, middle + phase, Math.min(code.length, middle + phase + SAMPLE), alphabet);
    if (share <= most) continue;
    best = phase;
    most = share;
  }
  return best;
}

/** How much of a sample decodes to text; 0 for less than TEXT_SHARE. */
function textShare(code: string, from: number, to: number, { values, bits }: Alphabet): number {
  const bytes = Math.floor(((to - from) * bits) / 8);
  let others = Math.floor(bytes * (1 - TEXT_SHARE));
  let pending = 0;
  let pendingBits = 0;
  for (let at = from; at < to; at++) {
    pending = ((pending << bits) | (values[code.charCodeAt(at)] ?? 0)) & 0xffff;
    pendingBits += bits;
    if (pendingBits < 8) continue;
    pendingBits -= 8;
    const byte = (pending >>> pendingBits) & 255;
    if ((byte < 0x20 || byte > 0x7e) && (byte < 9 || byte > 13) && --others < 0) return 0;
  }
  return (others + 1) / bytes;
}

/** Inflates compressed data. If the result is too large, only the first part of the data is inflated. */
function inflateCode(code: string, encoding: 'base64' | 'hex', allowance: InflateAllowance): string | undefined {
  const head = Buffer.from(code.slice(0, 2 * HEAD_BYTES), encoding);
  if (!isCompressed(head) || allowance.chars <= 0) return undefined;
  const packed = Buffer.from(code, encoding);
  for (let length = packed.length; length >= MIN_RUN / 2; length = Math.floor(length / 8)) {
    const plain = inflate(packed.subarray(0, length), MAX_INFLATED);
    if (plain === null) {
      if (isBzip2(packed)) allowance.chars -= FAILED_CHARS;
      return undefined;
    }
    allowance.chars -= plain === 'too large' ? MAX_INFLATED : plain.length;
    if (plain !== 'too large') return plain.length === 0 ? undefined : plain.toString('latin1');
  }
  return undefined;
}

function isCode(text: string, at: number): boolean {
  return BASE64.digits[text.charCodeAt(at)] === 1;
}
