import { editMatches, type View, ViewBuilder } from '../../../text/offset-map.ts';
import { OBEYED } from '../../../text/terminal.ts';

const STARTS = ['\u001b', '\u009b', '^[[', '^[]'];
/** Terminal codes, also in the visible form that `cat -v` prints. */
const CODES = new RegExp(`${OBEYED}|\\^\\[(?:\\[[0-?]*[ -/]*[@-~]|\\][0-9][^^\\n]*(?:\\^G|\\^\\[\\\\)?)`, 'g');

/** Without the codes that a terminal obeys and does not show. */
export function withoutTerminalCodes(text: string): View | null {
  if (!STARTS.some((start) => text.includes(start))) return null;
  return editMatches(text, CODES, () => '');
}

/**
 * NUL (every second character of UTF-16 that was read as bytes), soft hyphen, joiners and zero-width spaces, direction
 * marks, variation selectors, byte order mark, tags.
 */
const INVISIBLE = new RegExp(
  [
    '[\\0\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]',
    '[\\u034f\\ufe00-\\ufe0f]',
    '\\udb40[\\udc00-\\udc7f\\udd00-\\uddef]',
  ].join('|'),
  'g',
);

/** Removes invisible characters. */
export function withoutInvisible(text: string): View | null {
  return editMatches(text, INVISIBLE, () => '');
}

/** Moves back: by one character, or to the beginning of the line with more text after it. */
const GOES_BACK = /[\b]|\r(?=[^\r\n])/g;

/** Shows overwritten lines with all their writings laid over each other, and nothing else. */
export function overlaidLines(text: string): View | null {
  const builder = new ViewBuilder(text);
  GOES_BACK.lastIndex = 0;
  for (let match = GOES_BACK.exec(text); match !== null; match = GOES_BACK.exec(text)) {
    const start = text.lastIndexOf('\n', match.index) + 1;
    const lineEnd = text.indexOf('\n', match.index);
    const line = text.slice(start, lineEnd === -1 ? text.length : lineEnd);
    GOES_BACK.lastIndex = start + line.length;
    if (!overlaps(line)) continue;
    builder.cut();
    for (const { character, from, to } of show(line)) builder.put(character, start + from, start + to);
  }
  return builder.isEmpty ? null : builder.build();
}

/** False if the last writing covers all others: then the text holds what is shown in one piece. */
function overlaps(line: string): boolean {
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

/** A character struck over the one before it stands for both; an underline under a letter does not hide the letter. */
function written(character: string, at: number, before: Cell | undefined): Cell {
  if (before === undefined || at - before.to !== 1) return { character, from: at, to: at + 1 };
  return { character: character === '_' ? before.character : character, from: before.from, to: at + 1 };
}

/** Super- and subscripts, letter-like signs, Roman and circled figures, ligatures, full-width and mathematical letters. */
const LOOK_ALIKES =
  /[\u2070-\u209c\u2100-\u214f\u2160-\u217f\u2460-\u24ff\ufb00-\ufb06\uff01-\uff5e]|\ud835[\udc00-\udfff]|\ud83c[\udd30-\udd69]/g;
const ASCII = /^[!-~]+$/;

/** Replaces characters that are forms of ASCII characters by these (NFKC), one by one. */
export function inPlainLetters(text: string): View | null {
  return editMatches(text, LOOK_ALIKES, ([character]) => {
    const plain = character.normalize('NFKC');
    return ASCII.test(plain) ? plain : null;
  });
}
