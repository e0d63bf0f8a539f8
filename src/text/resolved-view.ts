import { Edits, type View, ViewBuilder } from './offset-map.ts';
import { LinePlayer, OverwritingPlaces, playableSequence, playedLine, type ShownPart } from './overwritten-lines.ts';
import { CONTROL_INTRODUCER, Introducers, sequenceEnd } from './terminal.ts';
import { NO_PLACE, type ShownCell } from './terminal-line.ts';

/** Goes back in a line, moves in it or erases. Without one of these nothing is assembled. */
const OVERWRITES = new RegExp(`[\\b]|\\r(?=[^\\r\\n])|${CONTROL_INTRODUCER}\\d{0,4}[CDGJK]`);
/**
 * Erasing to the end of the screen is played as if it erased the rest of the line, so that this reading is searched
 * too.
 */
const PLAYED = { erasesLineOnly: () => true, withCells: true };

/**
 * A text with the lines that a terminal assembles from pieces, as it finally shows them. Null if there are no such lines.
 * The view covers everything that `collapseProgress` (src/tokens/densify) can assemble of the text later: after a search
 * of this view for secrets, the collapsed text need not be searched again. Time is linear in the text.
 */
export function resolvedView(text: string): View | null {
  if (!OVERWRITES.test(text)) return null;
  const plain = dropUnplayable(text);
  const source = plain.text;
  const hasLines = source.includes('\n');
  const player = new LinePlayer(source, !hasLines, PLAYED);
  const edits = new Edits(text);
  const places = new OverwritingPlaces(source);
  for (let at = places.next(0); at >= 0; ) {
    const { start, end, lineEnd } = playedLine(source, at);
    let parts = assembled(source, player.play(start, end));
    // The last line may be shown alone, and is then a text of one line.
    if (hasLines && lineEnd === source.length)
      parts = [...parts, ...assembled(source, new LinePlayer(source, true, PLAYED).play(start, end))];
    for (const part of parts) rearrange(edits, part, plain);
    at = places.next(lineEnd);
  }
  return edits.view();
}

/**
 * A text without the sequences that play no part in assembling a line, such as colours, titles and modes, of any length.
 * Null if it has none. A later step may show the text like this, so it is searched like this too.
 */
export function withoutStyling(text: string): View | null {
  if (new Introducers(text).next(0) < 0) return null;
  const view = dropUnplayable(text);
  return view.text.length === text.length ? null : view;
}

/** The text without sequences that only style, so that the lines they stand in can be played. */
function dropUnplayable(text: string): View {
  const builder = new ViewBuilder(text);
  const introducers = new Introducers(text);
  let done = 0;
  for (let at = introducers.next(0); at >= 0; ) {
    const played = playableSequence(text, at);
    const end = played?.end ?? sequenceEnd(text, at);
    if (played === null && end >= 0) {
      builder.copy(done, at);
      done = end;
    }
    at = introducers.next(Math.max(end, at + 1));
  }
  builder.copy(done, text.length);
  return builder.build();
}

/** The parts whose text is not a piece of the source. A part longer than its source is never shown in its place. */
function assembled(source: string, parts: readonly ShownPart[] | null): ShownPart[] {
  return (parts ?? []).filter(
    ({ from, to, text, cells }) => cells !== null && text.length < to - from && !source.slice(from, to).includes(text),
  );
}

function rearrange(edits: Edits, { from, to, cells }: ShownPart, plain: View): void {
  const place = plain.toOriginal(from, to);
  if (place === null || cells === null) return;
  edits.rearrange(place.start, place.end, runsOf(cells, plain, place.start));
}

/** Characters that stand beside each other in the text too make one piece. */
function runsOf(cells: readonly ShownCell[], plain: View, start: number): { text: string; from: number; to: number }[] {
  const runs: { text: string; from: number; to: number }[] = [];
  for (const { character, at } of cells) {
    const last = runs.at(-1);
    const place = at === NO_PLACE ? null : plain.toOriginal(at, at + character.length);
    if (place === null) {
      // A blank that the cursor skipped belongs to the cell before it.
      runs.push({ text: character, from: last?.from ?? start, to: last?.to ?? start + 1 });
    } else if (last !== undefined && last.to === place.start && last.to - last.from === last.text.length) {
      last.text += character;
      last.to = place.end;
    } else runs.push({ text: character, from: place.start, to: place.end });
  }
  return runs;
}
