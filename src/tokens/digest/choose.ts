import type { Piece } from './pieces.ts';
import { TermIndex } from './term-index.ts';

/** At least this many of the strongest pieces are compared with each other; more only if their scores are equal. */
const CANDIDATES = 400;
/** Pieces that have this share of their words in common say the same. */
const SIMILAR_SHARE = 0.6;
const ITEMS_MAX = 10;
const CENTRAL_LINES = 4;
/** UTF-16 units of a line that looks like a heading. */
const HEADING_MAX_CHARS = 80;
const HEADING = /^(?:#{1,6}\s|={3,}|-{3,}\s*\w|\d+(?:\.\d+)*\.?\s+\p{Lu}|[\p{Lu}\d][\p{Lu}\d\s_/-]{3,}$)/u;
const ERROR =
  /\b(?:errors?|fail(?:s|ed|ures?|ing)?|fatal|exception|panic(?:ked)?|traceback|denied|refused|cannot|unable|timed? ?out|crash(?:ed)?|abort(?:ed)?|critical)\b/i;
/** Names of errors: ECONNREFUSED, TypeError. */
const ERROR_NAME = /\bE[A-Z]{4,}\b|\w(?:Error|Exception)\b/;
const NO_ERROR = /\b(?:0|no) (?:errors?|fail(?:ed|ures?))\b/i;
/** A control character other than the tab: colours, progress. */
const CONTROL = /[^\P{Cc}\t]/u;
const MIN_WORDS = 2;
/** What a line matters by itself; together 1. */
const CENTRAL_WEIGHT = 0.45;
const WORDS_WEIGHT = 0.05;
const WORDS_ENOUGH = 12;
const ERROR_WEIGHT = 0.4;
const HEADING_WEIGHT = 0.1;
/** Errors are news up to this share of lines. */
const ERRORS_RARE = 0.01;
/** Evidence must score at least this share of the best. */
const EVIDENCE_LEAST = 0.3;

/** What a digest is made of: piece numbers. */
export interface Choice {
  /** Strongest first, with how well they answer, 0 to 1. */
  evidence: readonly { piece: number; relevance: number }[];
  /** One of each tenth of the text, strongest first. */
  keyPoints: readonly number[];
  /** The first line, the last line, then the most central ones. */
  summary: readonly number[];
}

/** Chooses what a digest shows. Without a query the strongest lines speak of errors, begin a section or are central. */
export function choose(text: string, pieces: readonly Piece[], queryTerms: readonly string[]): Choice {
  const index = new TermIndex(text, pieces);
  const asked = index.score(queryTerms);
  const hasQuery = queryTerms.length > 0;
  const calm = calmScores(text, pieces, index);
  const errors = errorScores(text, pieces);
  const own = calm.map((score, i) => score + (errors[i] ?? 0));
  const strength = own.map((prior, i) => (hasQuery ? prior / 2 + (asked[i] ?? 0) : prior));
  const candidates = distinct(index, pieces.length);
  const evidenceScore = hasQuery ? [...asked] : own;

  const chosen: number[] = [];
  const ranked = strongest(candidates, evidenceScore);
  const least = EVIDENCE_LEAST * (evidenceScore[ranked[0] ?? -1] ?? 0);
  const evidence = take(
    index,
    ranked.filter((piece) => (evidenceScore[piece] ?? 0) >= least),
    ITEMS_MAX,
    chosen,
  );
  const keyPoints = takeSpread(index, pieces, candidates, strength, chosen);
  const centre = take(index, strongest(candidates, calm), CENTRAL_LINES, chosen);
  return {
    evidence: evidence.map((piece) => ({ piece, relevance: Math.min(1, evidenceScore[piece] ?? 0) })),
    keyPoints,
    summary: withEnds(index, text, pieces, centre),
  };
}

/** How central each piece is, how many words it has, and whether it looks like a heading. */
function calmScores(text: string, pieces: readonly Piece[], index: TermIndex): number[] {
  const central = index.score(index.centralTerms());
  const most = central.reduce((a, b) => Math.max(a, b), 0) || 1;
  return pieces.map(({ start, end }, i) => {
    const line = text.slice(start, end);
    const heading = line.length <= HEADING_MAX_CHARS && HEADING.test(line) ? HEADING_WEIGHT : 0;
    const words = (Math.min(index.termsAt(i).length, WORDS_ENOUGH) / WORDS_ENOUGH) * WORDS_WEIGHT;
    const score = ((central[i] ?? 0) / most) * CENTRAL_WEIGHT + words + heading;
    return CONTROL.test(line) ? score / 10 : score;
  });
}

/** What speaking of an error adds to a piece; little if many pieces do (a manual). */
function errorScores(text: string, pieces: readonly Piece[]): number[] {
  const errors = pieces.map(({ start, end }) => isError(text.slice(start, end)));
  const share = errors.filter(Boolean).length / pieces.length;
  const weight = ERROR_WEIGHT * Math.min(1, ERRORS_RARE / share);
  return errors.map((error) => (error ? weight : 0));
}

function isError(line: string): boolean {
  return (ERROR.test(line) || ERROR_NAME.test(line)) && !NO_ERROR.test(line);
}

/** Pieces with words, of those that differ in numbers alone the first. */
function distinct(index: TermIndex, length: number): number[] {
  const seen = new Set<number>();
  const pieces: number[] = [];
  for (let piece = 0; piece < length; piece++) {
    if (index.termsAt(piece).length < MIN_WORDS) continue;
    const pattern = index.patternAt(piece);
    if (seen.has(pattern)) continue;
    seen.add(pattern);
    pieces.push(piece);
  }
  return pieces;
}

/** The candidates with the highest scores above 0, highest first, the earlier one first when equal. */
function strongest(candidates: readonly number[], score: readonly number[]): number[] {
  const scores = Float64Array.from(candidates, (piece) => score[piece] ?? 0).sort();
  const least = scores.at(-CANDIDATES) ?? 0;
  return candidates
    .filter((piece) => (score[piece] ?? 0) > 0 && (score[piece] ?? 0) >= least)
    .slice(0, 2 * CANDIDATES)
    .sort((a, b) => (score[b] ?? 0) - (score[a] ?? 0) || a - b);
}

/** Takes the first ranked pieces that repeat nothing, and adds them to `chosen`. */
function take(index: TermIndex, ranked: readonly number[], most: number, chosen: number[]): number[] {
  const taken: number[] = [];
  for (const piece of ranked) {
    if (taken.length === most) break;
    if (chosen.some((other) => isSimilar(index, piece, other))) continue;
    taken.push(piece);
    chosen.push(piece);
  }
  return taken;
}

/** The strongest of each tenth of the text. */
function takeSpread(
  index: TermIndex,
  pieces: readonly Piece[],
  candidates: readonly number[],
  strength: readonly number[],
  chosen: number[],
): number[] {
  const end = (pieces.at(-1)?.end ?? 0) + 1;
  const parts: number[][] = Array.from({ length: ITEMS_MAX }, () => []);
  for (const piece of candidates) parts[Math.floor(((pieces[piece]?.start ?? 0) / end) * ITEMS_MAX)]?.push(piece);
  const points = parts.flatMap((part) => take(index, strongest(part, strength), 1, chosen));
  return points.sort((a, b) => (strength[b] ?? 0) - (strength[a] ?? 0) || a - b);
}

function isSimilar(index: TermIndex, a: number, b: number): boolean {
  if (a === b) return true;
  const words = index.wordsAt(a);
  const others = index.wordsAt(b);
  let common = 0;
  for (const word of words) if (others.has(word)) common++;
  const all = words.size + others.size - common;
  return all === 0 || common / all > SIMILAR_SHARE;
}

function withEnds(index: TermIndex, text: string, pieces: readonly Piece[], centre: readonly number[]): number[] {
  const isGood = (piece: Piece, i: number) =>
    index.termsAt(i).length >= MIN_WORDS && !CONTROL.test(text.slice(piece.start, piece.end));
  const first = pieces.findIndex(isGood);
  const last = pieces.findLastIndex(isGood);
  const ends = first < 0 ? [0, pieces.length - 1].filter((piece) => piece in pieces) : [first, last];
  return [...new Set([...ends, ...centre])];
}
