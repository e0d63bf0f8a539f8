import { skipSequence } from '../../text/terminal.ts';
import { endOfCharacter, type FoldedText } from './folded-text.ts';

/** Two offsets in a text, end exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** Letters and digits of the smallest piece that counts next to a larger one. */
export const SMALL_PIECE = 6;
/** Shorter parts of a value on both sides of a gap show that its characters are spread out: the gap belongs to it. */
const SPREAD_CHARS = 6;
/** Letters of a neighbouring word that may agree by chance. */
const BY_CHANCE = 2;
/** If this many characters have no gap between them, the piece is not spread out. */
const TOGETHER = 6;
/** Characters of a gap in a value that is spread out. */
const MAX_SPREAD_GAP = 16;

/** The white space and the prefix with which a line goes on that was wrapped, quoted, compared or numbered. */
const NEXT_LINE = String.raw`(?:\r?\n|\r|(?:\\+r)?\\+n)[ \t]*(?:[0-9]{1,7}(?:[:|-]|[ \t])|[>|+#*] ?)?[ \t]*`;
const WRAP = new RegExp(String.raw`[ \t]*\\?${NEXT_LINE}`);
const ONLY_WRAP = new RegExp(String.raw`^[ \t]*(?:\\?${NEXT_LINE})?$`);
/** From one line of a dump to the next, or to its other column: the rest of the columns and the next address. */
const DUMP_GAP =
  /^(?:[ \t]*[|>*][^\r\n]*|[ \t]{2}[^\r\n]*|[ \t]*)(?:\r?\n[ \t]*(?:(?:0x)?[0-9A-Fa-f]{4,16}:?)?[ \t]*[|>*]?)?$/;
const LINE_END = /\r\n|\n|\r(?!\n)/g;

/** Characters that no reader sees, and a character that the next one was printed over. */
const UNSEEN = /[^\n][\b]|(?![\t\n\r])[\p{Cc}\p{Cf}]|\p{Variation_Selector}/gu;

/** What separates two neighbouring characters of a value where it is shown, other than in the value itself. */
export interface Gap extends Span {
  /** Position in the view of the character before it. */
  at: number;
  /** What separates them in the value itself. Null: an encoder's digits, which anything may separate. */
  own: string | null;
}

/** What separates the characters of a piece, given by positions in a view. `ownAfter`: what the value has there. */
export function gapsBetween(
  text: string,
  { places }: FoldedText,
  piece: Span,
  ownAfter: (position: number) => string | null,
): Gap[] {
  const gaps: Gap[] = [];
  for (let at = piece.start; at + 1 < piece.end; at++) {
    const [start, end] = [endOfCharacter(text, places[at] ?? 0), places[at + 1] ?? 0];
    if (start >= end) continue;
    const own = ownAfter(at);
    if (own === null || own.length !== end - start || !text.startsWith(own, start)) gaps.push({ start, end, at, own });
  }
  return gaps;
}

/**
 * Drops a letter or two of a neighbouring word that agree by chance: at the ends of a piece, given by positions in a view,
 * beyond a gap. If there is another gap nearby, the characters are spread out.
 */
export function withoutChance(piece: Span, gaps: readonly Gap[]): Span {
  const [first, second] = gaps;
  const [last, previous] = [gaps.at(-1), gaps.at(-2)];
  const cutStart = first === undefined ? 0 : first.at + 1 - piece.start;
  const cutEnd = last === undefined ? 0 : piece.end - last.at - 1;
  const isStartCut = cutStart <= BY_CHANCE && (second?.at ?? piece.end) - (first?.at ?? 0) > TOGETHER;
  const isEndCut = cutEnd <= BY_CHANCE && (last?.at ?? 0) - (previous?.at ?? piece.start - 1) > TOGETHER;
  return { start: piece.start + (isStartCut ? cutStart : 0), end: piece.end - (isEndCut ? cutEnd : 0) };
}

/**
 * Cuts a place that shows characters of a value where something stands between them that is neither the value's own nor
 * added by a wrap, a terminal or a spread: it stays. Nothing is joined where a whole value begins or ends (`ends`).
 */
export function withoutGaps(text: string, place: Span & { gaps: readonly Gap[] }, ends: ReadonlySet<number>): Span[] {
  const parts: Span[] = [];
  let { start } = place;
  for (const [position, gap] of place.gaps.entries()) {
    const before = gap.start - (place.gaps[position - 1]?.end ?? place.start);
    const after = (place.gaps[position + 1]?.start ?? place.end) - gap.end;
    if (
      isSwallowed(text, gap, place.gaps.length > 2 && Math.max(before, after) < SPREAD_CHARS) &&
      !ends.has(gap.start) &&
      !ends.has(gap.end)
    )
      continue;
    parts.push({ start, end: gap.start });
    start = gap.end;
  }
  parts.push({ start, end: place.end });
  while (parts.length > 1 && isSmall(parts[0])) parts.shift();
  while (parts.length > 1 && isSmall(parts.at(-1))) parts.pop();
  return parts;
}

/** The end of a neighbouring word that agrees by chance, or too little of the value to be of use. */
function isSmall(part: Span | undefined): boolean {
  return part !== undefined && part.end - part.start < SMALL_PIECE;
}

function isSwallowed(text: string, { start, end, own }: Gap, isSpread: boolean): boolean {
  const shown = asShown(text.slice(start, end));
  const lines = lineEnds(shown);
  if (own !== null && lines <= 1 + own.length && isInserted(shown, own)) return true;
  return lines <= 1 && (own === null || (isSpread && end - start <= MAX_SPREAD_GAP));
}

/** Whether nothing but a wrap or spaces was added to what the value has itself. */
function isInserted(shown: string, own: string): boolean {
  const wanted = withoutSpace(own);
  return withoutSpace(shown) === wanted || withoutSpace(shown.replace(WRAP, '')) === wanted;
}

/** Whether a text between two pieces of a value, which may show more of it, is masked with them. */
export function joinsPieces(
  text: string,
  { start, end }: Span,
  { isDump, hole }: { isDump: boolean; hole: number },
): boolean {
  const shown = asShown(text.slice(start, end));
  if (lineEnds(shown) > 1) return false;
  if (ONLY_WRAP.test(shown) || (isDump && DUMP_GAP.test(shown))) return true;
  return hole > 0 && end - start >= hole && !/\s/.test(shown);
}

function withoutSpace(text: string): string {
  return text.replace(/[ \t\r\n]+/g, '');
}

function lineEnds(text: string): number {
  return text.match(LINE_END)?.length ?? 0;
}

/** Without terminal codes and what nobody sees. */
function asShown(written: string): string {
  let shown = '';
  let from = 0;
  for (let at = written.indexOf('\u001b'); at !== -1; at = written.indexOf('\u001b', from)) {
    shown += written.slice(from, at);
    from = skipSequence(written, at, written.length);
  }
  return (shown + written.slice(from)).replace(UNSEEN, '');
}
