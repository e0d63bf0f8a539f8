import { cutAfter, cutBefore } from '../cut-points.ts';

/** A line, or a sentence or two of a long one, without the blanks around it. UTF-16 offsets. */
export interface Piece {
  start: number;
  end: number;
}

/** UTF-16 units; a piece fits into a snippet (500) whole. */
export const PIECE_MAX_CHARS = 400;
const SENTENCES_MIN_CHARS = 120;
/** A longer text is looked at in windows. */
const WHOLE_MAX_CHARS = 8 * 1024 * 1024;
const WINDOWS = 64;
const WINDOW_CHARS = WHOLE_MAX_CHARS / WINDOWS;
/** Places outside of the windows where a term of the query stands. */
const HITS_MAX = 2_000;
const SENTENCE_END = /[.!?…][)\]"'”’]*\s|[。！？]/g;

/**
 * Returns the pieces of a text in order. Up to 8 Mi units: all of it. Beyond: 64 windows of 128 Ki, evenly spread and
 * including both ends, and the first 2,000 other lines with a term of the query.
 */
export function piecesOf(text: string, terms: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  for (const window of windowsOf(text, terms)) addLines(text, window, pieces);
  return pieces;
}

function windowsOf(text: string, terms: readonly string[]): Piece[] {
  if (text.length <= WHOLE_MAX_CHARS) return [{ start: 0, end: text.length }];
  const windows: Piece[] = [];
  for (let i = 0; i < WINDOWS; i++) {
    const start = Math.floor(((text.length - WINDOW_CHARS) / (WINDOWS - 1)) * i);
    windows.push({ start: lineStartNear(text, start), end: lineEndNear(text, start + WINDOW_CHARS) });
  }
  return terms.length === 0 ? windows : joined([...windows, ...hitsOf(text, terms)]);
}

/** The lines around the first places of the query's terms, long lines in part. */
function hitsOf(text: string, terms: readonly string[]): Piece[] {
  const hits: Piece[] = [];
  // Terms are letters and digits: nothing to escape.
  const pattern = new RegExp(terms.join('|'), 'giu');
  for (let hit = pattern.exec(text); hit && hits.length < HITS_MAX; hit = pattern.exec(text)) {
    const line = { start: lineStartNear(text, hit.index), end: lineEndNear(text, hit.index) };
    hits.push(line);
    pattern.lastIndex = Math.max(line.end, hit.index + hit[0].length);
  }
  return hits;
}

function joined(windows: Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const window of windows.sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = result.at(-1);
    if (last && window.start < last.end) last.end = Math.max(last.end, window.end);
    else result.push({ ...window });
  }
  return result;
}

/** The start of the line, or of its part when it is long. */
function lineStartNear(text: string, at: number): number {
  const from = Math.max(0, at - PIECE_MAX_CHARS);
  const feed = text.slice(from, at).lastIndexOf('\n');
  return feed >= 0 || from === 0 ? from + feed + 1 : cutAfter(text, from);
}

function lineEndNear(text: string, at: number): number {
  const to = Math.min(text.length, at + PIECE_MAX_CHARS);
  const feed = text.slice(at, to).indexOf('\n');
  return feed >= 0 ? at + feed : cutBefore(text, to);
}

/** Nor does a line go on over the end of a page. */
const LINE_END = /[\n\f]/g;

function addLines(text: string, window: Piece, pieces: Piece[]): void {
  for (let at = window.start; at < window.end; ) {
    LINE_END.lastIndex = at;
    const feed = LINE_END.exec(text)?.index ?? -1;
    const end = feed < 0 || feed > window.end ? window.end : feed;
    addSentences(text, at, end, pieces);
    at = end + 1;
  }
}

/** Splits a long line at the ends of sentences, otherwise at blanks, otherwise where nothing is split. */
function addSentences(text: string, from: number, to: number, pieces: Piece[]): void {
  for (let at = from; at < to; ) {
    const end = to - at <= PIECE_MAX_CHARS / 2 ? to : sentenceEnd(text, at, to);
    const piece = text.slice(at, end);
    const start = at + piece.length - piece.trimStart().length;
    const stop = at + piece.trimEnd().length;
    if (stop > start) pieces.push({ start, end: stop });
    at = end;
  }
}

function sentenceEnd(text: string, at: number, to: number): number {
  const room = text.slice(at, Math.min(to, at + PIECE_MAX_CHARS));
  for (const found of room.matchAll(SENTENCE_END)) {
    const end = found.index + found[0].length;
    if (end >= SENTENCES_MIN_CHARS) return at + end;
  }
  if (at + room.length === to) return to;
  const blank = room.lastIndexOf(' ');
  if (blank > PIECE_MAX_CHARS / 2) return at + blank + 1;
  const cut = cutBefore(text, at + room.length);
  return cut > at ? cut : Math.min(to, cutAfter(text, at + room.length));
}
