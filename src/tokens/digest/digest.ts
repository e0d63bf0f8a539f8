import { hash } from 'node:crypto';
import { isJsonObject } from '../../core/json.ts';
import { cutAfter, cutBefore } from '../cut-points.ts';
import { type Choice, choose } from './choose.ts';
import { PIECE_MAX_CHARS, type Piece, piecesOf } from './pieces.ts';
import { STOP_WORDS, termsOf } from './term-index.ts';

/** Limit of the summary in a DigestPayload v1, characters (code points). */
const SUMMARY_MAX_CHARS = 2_000;

/** Spec 4, DigestPayload v1.0; docs/digest.schema.json says what each field is. */
export interface DigestPayload {
  readonly version: '1.0';
  readonly content_type: 'digest/v1';
  readonly query_hash: string;
  readonly summary: string;
  readonly key_points: readonly string[];
  readonly evidence_snippets: readonly EvidenceSnippet[];
  readonly original_chars: number;
  readonly digest_chars: number;
  readonly compression_ratio: number;
  readonly source_text_hash: string;
}

interface EvidenceSnippet {
  readonly text: string;
  readonly locator: string;
  readonly relevance_score: number;
}

/** What all drafts of one payload have in common. */
interface Source {
  text: string;
  points: CodePoints;
  pages: Pages;
  queryHash: string;
  textHash: string;
}

/**
 * Returns an extract of a text for a query ('' for none): its own lines, found by BM25, never reworded; deterministic.
 * Serialized it has at most `size.chars` UTF-16 units, or empty lists if not even those fit.
 */
export function digest(text: string, query: string, size: { chars: number }): DigestPayload {
  const asked = query.normalize('NFKC').replace(/\s+/gu, ' ').trim();
  const terms = queryTerms(asked);
  const pieces = piecesOf(text, terms);
  const points = new CodePoints(text);
  const source: Source = {
    text,
    points,
    pages: new Pages(text, points),
    queryHash: hash('sha256', asked.toLowerCase()).slice(0, 8),
    textHash: hash('sha256', text),
  };
  const choice = choose(text, pieces, terms);
  const fits = (draft: Draft) =>
    draft.summary.reduce((sum, { start, end }) => sum + end - start + 1, -1) <= SUMMARY_MAX_CHARS &&
    serializeDigest(payloadOf(source, draft)).length <= size.chars;
  return payloadOf(source, fill(text, { pieces, choice, terms }, fits));
}

/** The terms of a query as it was written: its capitals part names such as fetchUser. */
function queryTerms(query: string): string[] {
  const terms = [...new Set(termsOf(query))];
  const telling = terms.filter((term) => !STOP_WORDS.has(term));
  return telling.length > 0 ? telling : terms;
}

/** UTF-16 units: a longer text is no payload, which has at most 10 items of 500 characters in each list. */
const PAYLOAD_MAX_CHARS = 64 * 1024;

/** True if a text is a payload already. It is shown as it is: a digest of a digest would lose what it quotes and from where. */
export function isDigest(text: string): boolean {
  if (text.length > PAYLOAD_MAX_CHARS || !/^\s*\{/.test(text) || !text.includes('digest/v1')) return false;
  try {
    const payload: unknown = JSON.parse(text);
    return isJsonObject(payload) && payload.content_type === 'digest/v1' && typeof payload.summary === 'string';
  } catch {
    return false;
  }
}

/** JSON with the keys in the order of the specification. The ratio always has 6 decimals. */
export function serializeDigest(payload: DigestPayload): string {
  const { compression_ratio, source_text_hash, ...first } = payload;
  const ratio = compression_ratio.toFixed(6);
  return `${JSON.stringify(first).slice(0, -1)},"compression_ratio":${ratio},"source_text_hash":"${source_text_hash}"}`;
}

function payloadOf({ text, points, pages, queryHash, textHash }: Source, draft: Draft): DigestPayload {
  const shown = ({ start, end }: { start: number; end: number }) => text.slice(start, end);
  const payload: DigestPayload = {
    version: '1.0',
    content_type: 'digest/v1',
    query_hash: queryHash,
    summary: draft.summary.map(shown).join('\n'),
    key_points: draft.keyPoints.map(shown),
    evidence_snippets: draft.evidence.map((snippet) => ({
      text: shown(snippet),
      locator: pages.locatorOf(snippet),
      relevance_score: Math.round(snippet.relevance * 100) / 100,
    })),
    original_chars: points.total,
    digest_chars: 0,
    compression_ratio: 0,
    source_text_hash: `sha256:${textHash}`,
  };
  const digestChars = withOwnDigits(new CodePoints(serializeDigest(payload)).total - 1);
  const ratio = points.total === 0 ? 1 : Math.min(1, digestChars / points.total);
  return { ...payload, digest_chars: digestChars, compression_ratio: Number(ratio.toFixed(6)) };
}

/** The length of a text that states its own length, from its length without that number. */
function withOwnDigits(length: number): number {
  let digits = 1;
  while (String(length + digits).length > digits) digits++;
  return length + digits;
}

/** An item shrinks to these sizes before it is left out. UTF-16 units. */
const ITEM_SIZES = [PIECE_MAX_CHARS, 160, 80];

/** What a payload holds, as places in the text. */
interface Draft {
  summary: readonly Piece[];
  keyPoints: readonly Piece[];
  /** Best first; relevance 0 to 1. */
  evidence: readonly (Piece & { relevance: number })[];
}

interface Offer {
  list: keyof Draft;
  piece: number;
  relevance: number;
}

/**
 * Adds as much of the choice as `fits` allows, the best of each list first. Long items are shortened before they are
 * left out.
 */
function fill(
  text: string,
  { pieces, choice, terms }: { pieces: readonly Piece[]; choice: Choice; terms: readonly string[] },
  fits: (draft: Draft) => boolean,
): Draft {
  let draft: Draft = { summary: [], keyPoints: [], evidence: [] };
  const focus = terms.length === 0 ? null : new RegExp(terms.join('|'), 'iu');
  for (const offer of offersOf(choice)) {
    const piece = pieces[offer.piece];
    if (piece === undefined) continue;
    const next = ITEM_SIZES.map((size) => excerpt(text, piece, size, focus))
      .map((part) => (part === null ? null : add(draft, offer, part)))
      .find((longer) => longer !== null && fits(longer));
    draft = next ?? draft;
  }
  return draft;
}

/** The lists by turns, so that a small size holds something of each. */
function offersOf({ evidence, keyPoints, summary }: Choice): Offer[] {
  const offers: Offer[] = [];
  for (let i = 0; i < Math.max(evidence.length, keyPoints.length, summary.length); i++) {
    const line = summary[i];
    const snippet = evidence[i];
    const point = keyPoints[i];
    if (line !== undefined) offers.push({ list: 'summary', piece: line, relevance: 0 });
    if (snippet !== undefined) offers.push({ list: 'evidence', ...snippet });
    if (point !== undefined) offers.push({ list: 'keyPoints', piece: point, relevance: 0 });
  }
  return offers;
}

function add(draft: Draft, { list, relevance }: Offer, part: Piece): Draft {
  if (list === 'evidence') return { ...draft, evidence: [...draft.evidence, { ...part, relevance }] };
  return { ...draft, [list]: [...draft[list], part].sort((a, b) => a.start - b.start) };
}

/**
 * Returns at most `size` units of a piece, around the first term if that is far back, without splitting anything. Null:
 * no room.
 */
function excerpt(text: string, piece: Piece, size: number, focus: RegExp | null): Piece | null {
  let { start } = piece;
  if (piece.end - start > size && focus !== null) {
    const hit = text.slice(start, piece.end).search(focus);
    if (hit > size / 2) start = afterBlank(text, start + hit - Math.floor(size / 3), start + hit);
  }
  start = cutAfter(text, start);
  const room = Math.min(piece.end, start + size);
  const blank = room < piece.end ? text.lastIndexOf(' ', room) : -1;
  const end = cutBefore(text, blank > start + size / 2 ? blank : room);
  const part = text.slice(start, end);
  const from = start + part.length - part.trimStart().length;
  const to = start + part.trimEnd().length;
  return to > from ? { start: from, end: to } : null;
}

/** The start of the first word in the range, else its own start. */
function afterBlank(text: string, from: number, to: number): number {
  const blank = text.indexOf(' ', from);
  return blank >= 0 && blank < to ? blank + 1 : from;
}

/** Form feeds separate the pages of a text, as programs that read PDF files write them. */
class Pages {
  readonly #points: CodePoints;
  /** Where each page begins, as a UTF-16 offset. */
  readonly #starts: number[] = [0];

  constructor(text: string, points: CodePoints) {
    this.#points = points;
    for (let at = text.indexOf('\f'); at >= 0; at = text.indexOf('\f', at + 1)) this.#starts.push(at + 1);
  }

  /** Spec 4: `char:a-b`, or `page:n:char:a-b` with the characters of the page counted from 0 and pages from 1. */
  locatorOf({ start, end }: Piece): string {
    const page = this.#starts.findLastIndex((first) => first <= start);
    const from = this.#points.at(this.#starts[page] ?? 0);
    const place = `char:${this.#points.at(start) - from}-${this.#points.at(end) - from}`;
    return this.#starts.length === 1 ? place : `page:${page + 1}:${place}`;
  }
}

const STRIDE = 64 * 1024;

/** Counts the code points of a text, a lone surrogate as one. */
class CodePoints {
  readonly total: number;
  readonly #text: string;
  /** Code points before each 65,536th UTF-16 unit. */
  readonly #before: number[] = [];

  constructor(text: string) {
    this.#text = text;
    let count = 0;
    for (let at = 0; at < text.length; at += STRIDE) {
      this.#before.push(count);
      count += this.#count(at, Math.min(at + STRIDE, text.length));
    }
    this.total = count;
  }

  /** Code points before a UTF-16 offset that parts no pair. */
  at(offset: number): number {
    const stride = Math.min(Math.floor(offset / STRIDE), Math.max(0, this.#before.length - 1));
    return (this.#before[stride] ?? 0) + this.#count(stride * STRIDE, offset);
  }

  /** Those that begin in the range. */
  #count(from: number, to: number): number {
    let count = to - from;
    for (let at = from; at < to; at++) {
      const isLow = (this.#text.charCodeAt(at) & 0xfc00) === 0xdc00;
      if (isLow && at > 0 && (this.#text.charCodeAt(at - 1) & 0xfc00) === 0xd800) count--;
    }
    return count;
  }
}
