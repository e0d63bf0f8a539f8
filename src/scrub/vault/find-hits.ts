import type { Finding } from '../finding.ts';
import { endOfCharacter, type FoldedText } from './folded-text.ts';
import { type Body, FORM_KINDS, type FormKind, ownBetween, type RunClass } from './forms.ts';
import { type Gap, gapsBetween, withoutChance } from './gaps.ts';
import { type Budget, unpackSource } from './grams.ts';
import { type KnownValue, type KnownValues, leastOf, PIECE_WINDOW, stepChars } from './known-values.ts';

/** Steps that a comparison costs in addition to the characters it compares. */
const COMPARISON = 2;

/** Finds exact forms whose window begins between two offsets. */
export function findExact(known: KnownValues, text: string, from: number, to: number, budget: Budget): RawHit[] {
  const hits: RawHit[] = [];
  known.exact.searchText(text, from, to, (at, source) => {
    const { owner, form: position, step } = unpackSource(source);
    const value = known.at(owner);
    const form = known.exactForm(owner, position, budget);
    if (value === undefined || form === undefined) return;
    budget.spend(COMPARISON + form.text.length / 16);
    const start = at - step;
    if (start < 0 || !text.startsWith(form.text, start)) return;
    const shows = value.isLine ? 'trace' : form.shows;
    const place = { start, end: start + form.text.length, from: 0, to: 1 };
    const holds = form.shows !== 'trace' || form.run !== null;
    hits.push({ ...rawHitOf(known, owner, value), ...place, shows, holds, run: form.run });
  });
  return hits;
}

/** Finds pieces of values, in any form, whose window begins between two positions of the folded text. */
export function findPieces(
  known: KnownValues,
  text: string,
  view: FoldedText,
  from: number,
  to: number,
  budget: Budget,
): RawHit[] {
  const hits: RawHit[] = [];
  const seenUntil = new Map<number, number>();
  known.pieces.searchCodes(view.codes, from, to, view.length, (at, source) => {
    budget.spend(COMPARISON);
    const { owner, form: position, step } = unpackSource(source);
    if ((seenUntil.get(owner) ?? 0) >= at + PIECE_WINDOW) return;
    const value = known.at(owner);
    const kind = FORM_KINDS[position];
    if (value === undefined || kind === undefined) return;
    const form = known.form(owner, position, budget);
    const match = extend(view, at, form, step * stepChars(kind, form), budget);
    if (match.end - match.start < leastOf(value, kind, form)) return;
    seenUntil.set(owner, match.end);
    const gaps = gapsBetween(text, view, match, ownAfter(match, kind, known.body(owner)));
    const piece = match.formStart === 0 && match.formEnd === form.length ? match : trimmed(match, gaps, form.length);
    hits.push({
      ...rawHitOf(known, owner, value),
      ...placeOf(known, owner, kind, text, view, piece),
      gaps: gaps.filter(({ at: place }) => place >= piece.start && place + 1 < piece.end),
      forms: [position],
      from: piece.formStart / form.length,
      to: piece.formEnd / form.length,
      run: kind.run,
      isDump: kind.isDump,
    });
  });
  return hits;
}

function rawHitOf(known: KnownValues, owner: number, { value, rule }: KnownValue): Omit<RawHit, 'start' | 'end'> {
  return {
    known,
    owner,
    of: value,
    rule,
    shows: 'trace',
    holds: false,
    gaps: [],
    forms: [],
    from: 0,
    to: 1,
    run: null,
    isDump: false,
  };
}

/** What the value has behind the character of a piece at a position of the view. */
function ownAfter(piece: Match, kind: FormKind, body: Body | undefined): (at: number) => string | null {
  return (at) => (body === undefined ? null : ownBetween(body, kind, piece.formStart + at - piece.start));
}

/** Positions in a view, and in a form, of what agrees. */
interface Match {
  start: number;
  end: number;
  formStart: number;
  formEnd: number;
}

/** Returns how far a folded text and a form agree around two positions. */
function extend({ codes, length }: FoldedText, at: number, form: string, formAt: number, budget: Budget): Match {
  let end = 0;
  while (at + end < length && formAt + end < form.length && codes[at + end] === form.charCodeAt(formAt + end)) end++;
  let start = 0;
  if (end >= PIECE_WINDOW)
    while (start < at && start < formAt && codes[at - start - 1] === form.charCodeAt(formAt - start - 1)) start++;
  budget.spend((start + end) / 8);
  return { start: at - start, end: at + end, formStart: formAt - start, formEnd: formAt + end };
}

/** Drops a letter or two that agree by chance at the inner ends of a piece. */
function trimmed(match: Match, gaps: readonly Gap[], formLength: number): Match {
  const { start, end } = withoutChance(match, gaps);
  const cutStart = match.formStart > 0 ? start - match.start : 0;
  const cutEnd = match.formEnd < formLength ? match.end - end : 0;
  return {
    start: match.start + cutStart,
    end: match.end - cutEnd,
    formStart: match.formStart + cutStart,
    formEnd: match.formEnd - cutEnd,
  };
}

/** Returns offsets in the text, including the punctuation of the value before and after the piece. */
function placeOf(
  known: KnownValues,
  owner: number,
  kind: FormKind,
  text: string,
  { places }: FoldedText,
  piece: Match,
): { start: number; end: number } {
  let start = places[piece.start] ?? 0;
  let end = endOfCharacter(text, places[piece.end - 1] ?? 0);
  const body = known.body(owner);
  if (kind !== FORM_KINDS[0] || body === undefined) return { start, end };
  let before = (body.places[piece.formStart] ?? 0) - 1;
  while (start > 0 && isSame(text, start - 1, body.text, before)) {
    start--;
    before--;
  }
  let after = (body.places[piece.formEnd - 1] ?? 0) + 1;
  while (isSame(text, end, body.text, after)) {
    end++;
    after++;
  }
  return { start, end };
}

/** The same punctuation; white space need not be hidden. */
function isSame(text: string, at: number, body: string, bodyAt: number): boolean {
  return bodyAt >= 0 && text.charCodeAt(at) === body.charCodeAt(bodyAt) && text.charCodeAt(at) > 0x20;
}

/** A known value in a text. */
export interface GuardHit extends Finding {
  /** The known value. */
  of: string;
  /**
   * `value`: the text is the value. `escape`: the whole value as a format writes it (JSON, percent, XML, a shell): its
   * reader would get the value. `trace`: a piece of it, or anything it can be computed from.
   */
  shows: 'value' | 'escape' | 'trace';
  /** Whether the whole value can be read from it: as it is, escaped or encoded, and not in capitals or turned round. */
  holds: boolean;
}

/** A hit before it is joined with the hits around it. */
export interface RawHit extends GuardHit {
  known: KnownValues;
  owner: number;
  /** What stands between its characters. */
  gaps: readonly Gap[];
  /** Positions in FORM_KINDS; empty for a hit that was not found by pieces. */
  forms: number[];
  /** The part of the form that is shown, from 0 to 1. */
  from: number;
  to: number;
  run: RunClass;
  /** Parts of the value may be next to it in another form. */
  isDump: boolean;
}

/** Separates texts that were not neighbours: nothing is joined across it. */
export const SEPARATOR = '\uffff';
