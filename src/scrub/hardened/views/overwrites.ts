import { type View, ViewBuilder } from '../../../text/view.ts';

/** Something that goes back: by one character, or to the beginning of the line with more to come. */
const GOES_BACK = /[\b]|\r(?=[^\r\n])/g;

/** What a terminal shows of lines that are written over, and nothing but them. */
export function asShown(text: string): View | null {
  const builder = new ViewBuilder(text);
  GOES_BACK.lastIndex = 0;
  for (let match = GOES_BACK.exec(text); match !== null; match = GOES_BACK.exec(text)) {
    const start = text.lastIndexOf('\n', match.index) + 1;
    const lineEnd = text.indexOf('\n', match.index);
    const line = text.slice(start, lineEnd === -1 ? text.length : lineEnd);
    GOES_BACK.lastIndex = start + line.length;
    if (!isMixed(line)) continue;
    builder.cut();
    for (const { character, from, to } of show(line)) builder.put(character, start + from, start + to);
  }
  return builder.isEmpty ? null : builder.build();
}

/** False when the last writing covers all others: then the text holds what is shown in one piece. */
function isMixed(line: string): boolean {
  if (line.includes('\b')) return true;
  const lengths = line.split('\r').map((part) => part.length);
  const last = lengths.findLast((length) => length > 0) ?? 0;
  return lengths.some((length) => length > last);
}

interface Cell {
  character: string;
  from: number;
  to: number;
}

function show(line: string): Cell[] {
  const cells: Cell[] = [];
  let column = 0;
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    if (character === '\r') column = 0;
    else if (character === '\b') column = Math.max(0, column - 1);
    else cells[column] = written(character, at, cells[column++]);
  }
  return cells;
}

/** A character struck over the one before it stands for both; an underline under a letter does not hide it. */
function written(character: string, at: number, before: Cell | undefined): Cell {
  if (before === undefined || at - before.to !== 1) return { character, from: at, to: at + 1 };
  return { character: character === '_' ? before.character : character, from: before.from, to: at + 1 };
}
