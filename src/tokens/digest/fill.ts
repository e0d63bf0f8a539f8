import { cutAfter, cutBefore } from '../cut-points.ts';
import type { Choice } from './choose.ts';
import { PIECE_MAX_CHARS, type Piece } from './pieces.ts';

/** An item shrinks to these sizes before it is left out. UTF-16 units. */
const ITEM_SIZES = [PIECE_MAX_CHARS, 160, 80];

/** What a payload holds, as places in the text. */
export interface Draft {
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

/** As much of the choice as `fits` allows, the best of each list first, long items shortened before they are left out. */
export function fill(
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

/** At most `size` units of a piece, around the first term when that stands far back; parts nothing. null: no room. */
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
