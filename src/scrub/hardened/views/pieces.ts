import { Edits, editMatches, type View, ViewBuilder } from '../../../text/offset-map.ts';

const VALUE = '[A-Za-z0-9_+/=.-]';
/** A tag, or the beginning or end of a section of character data. */
const TAG = '(?:<!\\[CDATA\\[|\\]\\]>|</?[A-Za-z!?][^<>\\n]{0,80}>)';
/**
 * The tags of a value that has tags between its characters, and what is between them: at least four, and little between
 * them. It begins with a tag, because few characters begin one and nearly all can be of a value.
 */
const TAGGED = new RegExp(`(?<=${VALUE})${TAG}{1,4}(?:${VALUE}{1,12}${TAG}{1,4}){3,}(?=${VALUE})`, 'g');
const TAGS = new RegExp(`${TAG}+`, 'g');

/** Values without the tags between their characters. */
export function withoutTags(text: string): View | null {
  if (!text.includes('<')) return null;
  const edits = new Edits(text, 64);
  for (const { 0: value, index } of text.matchAll(TAGGED))
    for (const { 0: tags, index: at } of value.matchAll(TAGS)) edits.replace(index + at, index + at + tags.length, '');
  return edits.view();
}

/** Fewer pieces are a list of names rather than a value. */
const MIN_PIECES = 3;
/** A line of `nl`, `cat -n` or the like with one piece of a value. */
const NUMBERED = new RegExp(`^[ \\t]*([0-9]{1,6})(?:\\t|[.:)]?[ \\t]+|:)(${VALUE}{2,80})[ \\t]*\\r?$`, 'gm');

/** Joins the pieces of numbered lines, as `fold | nl` prints them: all of one width but the last. Shows nothing else. */
export function numberedPieces(text: string): View | null {
  const builder = new ViewBuilder(text);
  let pieces: Piece[] = [];
  let number = 0;
  let next = -1;
  for (const match of text.matchAll(NUMBERED)) {
    const [line, digits = '', piece = ''] = match;
    const from = match.index + line.indexOf(piece, line.indexOf(digits) + digits.length);
    const goesOn = match.index === next && Number(digits) === number + 1 && fits(pieces, piece.length);
    if (!goesOn) pieces = flush(builder, pieces);
    pieces.push({ from, to: from + piece.length });
    number = Number(digits);
    next = match.index + line.length + 1;
  }
  flush(builder, pieces);
  return builder.isEmpty ? null : builder.build();
}

interface Piece {
  from: number;
  to: number;
}

/** Whether a piece may follow others: those before it are of one width, and it is not wider. */
function fits(pieces: readonly Piece[], length: number): boolean {
  const [first, last] = [pieces[0], pieces.at(-1)];
  if (first === undefined || last === undefined) return true;
  return last.to - last.from === first.to - first.from && length <= first.to - first.from;
}

/** Shows pieces as one value. Returns an empty list. */
function flush(builder: ViewBuilder, pieces: readonly Piece[]): Piece[] {
  if (pieces.length < MIN_PIECES) return [];
  builder.cut();
  show(builder, pieces);
  return [];
}

function show(builder: ViewBuilder, pieces: readonly Piece[]): void {
  for (const { from, to } of pieces) builder.copy(from, to);
}

/** Lines of pieces side by side. */
const ROW = new RegExp(`^[ \\t]*${VALUE}{2,24}(?:[ \\t]+${VALUE}{1,24}){1,39}[ \\t]*\\r?$`, 'gm');
const PIECES = new RegExp(`${VALUE}+`, 'g');
const MAX_ROWS = 64;

/** Joins the pieces of a value in columns, as `fold | column` prints them: down the columns, and along the lines. */
export function piecesInColumns(text: string): View | null {
  const builder = new ViewBuilder(text);
  let rows: Piece[][] = [];
  let next = -1;
  for (const match of text.matchAll(ROW)) {
    if (match.index !== next || rows.length >= MAX_ROWS) rows = showRows(builder, rows);
    const row = evenPieces(match);
    if (row !== null) {
      rows.push(row);
      next = match.index + match[0].length + 1;
    } else next = -1;
  }
  showRows(builder, rows);
  return builder.isEmpty ? null : builder.build();
}

/** The pieces of a line; null if one of them, apart from the last, is not as wide as the first. */
function evenPieces({ 0: line, index }: RegExpExecArray): Piece[] | null {
  const row: Piece[] = [];
  PIECES.lastIndex = 0;
  let width = 0;
  for (let piece = PIECES.exec(line); piece !== null; piece = PIECES.exec(line)) {
    const last = row.at(-1);
    if (last === undefined) width = piece[0].length;
    else if (last.to - last.from !== width || piece[0].length > width) return null;
    row.push({ from: index + piece.index, to: index + PIECES.lastIndex });
  }
  return row;
}

function showRows(builder: ViewBuilder, rows: readonly (readonly Piece[])[]): Piece[][] {
  const along = rows.flat();
  if (along.length < MIN_PIECES) return [];
  const columns = Math.max(...rows.map((row) => row.length));
  const down = Array.from({ length: columns }, (_, column) => rows.flatMap((row) => row[column] ?? [])).flat();
  for (const pieces of rows.length === 1 ? [along] : [down, along]) {
    builder.cut();
    show(builder, pieces);
  }
  return [];
}

/** Letters that look like those of ASCII, in pairs: Cyrillic, Greek, Armenian and others. */
const HOMOGLYPHS: ReadonlyMap<string, string> = new Map(
  (
    'аa сc еe оo рp хx уy іi јj ѕs һh ԁd ԛq ԝw ӏl кk гr пn АA ВB СC ЕE НH ІI ЈJ КK МM ОO РP ЅS ТT ХX УY ԌG ԜW ' +
    'ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX αa οo νv ρp υu ιi κk τt χx γy ηn ωw ϲc ϳj օo ոn սu հh ցg զq ıi ɡg ɑa ɩi'
  )
    .split(' ')
    .map(([look = '', plain = '']) => [look, plain]),
);
const LOOKS = `[${[...HOMOGLYPHS.keys()].join('')}]`;
/** Only beside letters and digits of ASCII: a word of another language has none of them. */
const BESIDE_ASCII = new RegExp(`(?<=[A-Za-z0-9_])${LOOKS}{1,8}|${LOOKS}{1,8}(?=[A-Za-z0-9_])`, 'g');

/** Replaces letters of other scripts that stand among letters of ASCII and look like them. */
export function withoutHomoglyphs(text: string): View | null {
  return editMatches(text, BESIDE_ASCII, ([letters]) =>
    letters.replace(/./g, (letter) => HOMOGLYPHS.get(letter) ?? ''),
  );
}

/** Runs of characters that nothing shows and that stand for others: tags for ASCII, variation selectors for bytes. */
const HIDDEN = /(?:\udb40[\udc20-\udc7e]){8,}|(?:[\ufe00-\ufe0f]|\udb40[\udd00-\uddef]){8,}/g;

/** Shows what invisible characters stand for. */
export function hiddenLetters(text: string): View | null {
  return editMatches(text, HIDDEN, ([run]) => Array.from(run, shown).join(''));
}

function shown(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xe0100) return String.fromCharCode(code - 0xe0100 + 16);
  return String.fromCharCode(code >= 0xe0000 ? code - 0xe0000 : code - 0xfe00);
}
