import { OWN_LINE_START } from '../core/own-line.ts';
import { playableSequence } from './overwritten-lines.ts';
import { CONTROL_INTRODUCER, CSI, ESC, sequenceEnd, stringStart, withoutSequences } from './terminal.ts';

/** What a command printed, as it leaves in a text answer. */
export interface PrintedText {
  stdout: string;
  stderr: string;
}

/**
 * Makes sure that no line of an output looks like a line of contextd, neither as it stands nor as a terminal shows it, also
 * where stderr goes on in the last line of stdout. A backslash goes before such a line, and one more before a line that has
 * backslashes already, so that the change can be undone. Where a terminal could assemble such a line from parts, the
 * control characters of the line are written as `^M` or `^[`. Sequences that move between lines or hide what follows are
 * always written so. Any other text stays as it is.
 */
export function escapeOwnLines({ stdout, stderr }: PrintedText): PrintedText {
  const texts = { stdout: withoutLeaps(stdout), stderr: withoutLeaps(stderr) };
  if (!MAY_FORGE.test(texts.stdout + texts.stderr)) return texts;
  const lines = splitLines(texts.stdout);
  const more = splitLines(texts.stderr);
  const last = lines.at(-1) ?? '';
  const first = more[0] ?? '';
  const joins = !/[\n\v\f\u0085]$/.test(last) && isAssembled(last + first);
  const flat = {
    stdout: lines.map((line, at) => (joins && at === lines.length - 1 ? shown(line) : flattened(line))).join(''),
    stderr: more.map((line, at) => (joins && at === 0 ? shown(line) : flattened(line))).join(''),
  };
  return { stdout: withBackslashes(flat.stdout, flat.stderr), stderr: withBackslashes(flat.stderr, '') };
}

/** Nothing is changed in a text without a word that can be read as the name, whole or in parts. */
const MAY_FORGE = /(?![\n\t])\p{Cc}|contextd|[^\p{ASCII}]/iu;

/** Begins or ends a terminal mode, or begins a sequence. */
const LEAP_CHARACTERS = '\\u000e\\u000f\\u001b\\u0084\\u008d\\u0090\\u0098\\u009b\\u009d-\\u009f';
const LEAPS = new RegExp(`[${LEAP_CHARACTERS}]`, 'g');
/** Colours, the cursor's visibility, and the ASCII character set. */
const HARMLESS = new RegExp(`^${CONTROL_INTRODUCER}[0-9;:]*m$|^\\u001b\\[\\?25[hl]$|^\\u001b\\(B$`);

/** The text with every sequence written out that does more than colour, link, set a title or stay in its line. */
function withoutLeaps(text: string): string {
  let written = '';
  let done = 0;
  LEAPS.lastIndex = 0;
  for (let match = LEAPS.exec(text); match !== null; match = LEAPS.exec(text)) {
    const at = match.index;
    const end = harmlessEnd(text, at);
    if (end < 0) {
      written += text.slice(done, at) + shown(text.charAt(at));
      done = at + 1;
    }
    LEAPS.lastIndex = Math.max(end, at + 1);
  }
  return written + text.slice(done);
}

/** The end of a sequence that may stay; -1 if it may not. */
function harmlessEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < ESC || code === 0x84 || code === 0x8d) return -1;
  const end = sequenceEnd(text, at);
  if (end < 0) return -1;
  const sequence = text.slice(at, end);
  const mayStay =
    stringStart(text, at) >= 0 ? SHOWN_STRING.test(sequence) : staysInLine(text, at) || HARMLESS.test(sequence);
  return mayStay ? end : -1;
}

/** A title (OSC 0 and 2) or a link (OSC 8). Other strings reach the clipboard, files or settings of the terminal. */
const SHOWN_STRING = new RegExp(`^${String.fromCharCode(ESC)}\\][028];`);

/** Erasing the screen below the cursor erases no more than the rest of the line: nothing is printed below yet. */
function staysInLine(text: string, at: number): boolean {
  const played = playableSequence(text, at);
  return played !== null && (played.final !== 'J' || played.number === 0);
}

/** Control characters in caret notation, except those that end the line and tabs. */
function shown(line: string): string {
  return line.replaceAll(/(?!\r\n|[\n\t]|[\v\f\u0085]$)\p{Cc}/gu, (control) => {
    const code = control.charCodeAt(0);
    if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
    return code === 0x7f ? '^?' : `^[${String.fromCharCode(code - 0x40)}`;
  });
}

/** Lines with the character that ends them, after which a terminal is at the start of a line; the last may have none. */
function splitLines(text: string): string[] {
  return text.split(/(?<=[\n\v\f\u0085])/);
}

function flattened(line: string): string {
  return isAssembled(line) ? shown(line) : line;
}

/** Goes back in a line, or moves in it. */
const MOVES = new RegExp(`[\\b]|\\r(?!\\n|$)|${CONTROL_INTRODUCER}\\d{0,4}[CDGJK]`);

/** True if a terminal may show a line of contextd where parts of this line overwrite each other. */
function isAssembled(line: string): boolean {
  if (!MOVES.test(line)) return false;
  const final = finalLine(line);
  return final === null ? hasLettersOfName(line) : isOwn(final);
}

/** Each character of the name occurs, in any order: then parts of the line may form it. */
function hasLettersOfName(line: string): boolean {
  const seen = line.normalize('NFKC').toLowerCase();
  return [...'[contextd'].every((letter) => seen.includes(letter));
}

const COLUMNS_MAX = 4_096;

/** What a terminal without a right margin shows of a line; null if that is not certain. */
function finalLine(line: string): string | null {
  const cells: string[] = [];
  let column = 0;
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === ESC || code === CSI) {
      const played = playableSequence(line, at);
      const end = sequenceEnd(line, at);
      if (played === null && end < 0) return null;
      if (played?.final === 'C') column += Math.max(1, played.number);
      else if (played?.final === 'D') column = Math.max(0, column - Math.max(1, played.number));
      else if (played?.final === 'G') column = Math.max(1, played.number) - 1;
      else if (played?.final === 'K' || played?.final === 'J') erase(cells, column, played.number);
      at = end - 1;
    } else if (code === 0x0d) column = 0;
    else if (code === 0x08) column = Math.max(0, column - 1);
    else if (code === 0x09) column = (Math.floor(column / 8) + 1) * 8;
    else if (code >= 0x300 && !isPlainSymbol(code)) return null;
    else if (code >= 0x20 && (code < 0x7f || code >= 0xa0) && code !== 0xad) cells[column++] = line.charAt(at);
    if (column >= COLUMNS_MAX) return null;
  }
  return Array.from(cells, (cell) => cell ?? ' ').join('');
}

/** Bars, blocks and Braille spinners, which are one column wide. */
function isPlainSymbol(code: number): boolean {
  return (code >= 0x2500 && code < 0x25fd) || (code > 0x2800 && code < 0x2900);
}

/** Erases 0: from the cursor on; 1: up to the cursor; 2: the whole line. */
function erase(cells: string[], column: number, which: number): void {
  if (which === 0) cells.length = Math.min(cells.length, column);
  else if (which === 1) cells.fill(' ', 0, column + 1);
  else cells.length = 0;
}

/** After which a reader sees a line begin. */
const LINE_ENDS = /[\n\r\v\f\u0085\u2028\u2029]/g;

function withBackslashes(text: string, following: string): string {
  const whole = text + following;
  let escaped = '';
  let done = 0;
  for (const start of [0, ...Array.from(text.matchAll(LINE_ENDS), ({ index }) => index + 1)]) {
    if (start >= text.length || !isOwn(visibleStart(whole, start))) continue;
    escaped += `${text.slice(done, start)}\\`;
    done = start;
  }
  return escaped + text.slice(done);
}

/** Characters of a line that are enough to compare it. */
const COMPARED_MAX = 4 * OWN_LINE_START.length;
const INVISIBLE = /(?!\t)[\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}]/gu;
/** Characters without ink that are not white space to a pattern. */
const BLANKS = /[\u115f\u1160\u2800\u3164\uffa0]/g;

/** The line at `start` without what no reader sees, as far as needed. Leading backslashes count as one. */
function visibleStart(text: string, start: number): string {
  const rest = text.slice(start, lineEnd(text, start));
  const visible = withoutSequences(rest)
    .replaceAll(BLANKS, '\u00a0')
    .replaceAll(INVISIBLE, '')
    .replace(/^\\+/, '\\')
    .replace(/^(\\?)[^\S \t]+/, '$1');
  return visible.slice(0, COMPARED_MAX);
}

function lineEnd(text: string, start: number): number {
  const found = text.slice(start).search(/[\n\r\v\f\u0085\u2028\u2029]/);
  return found < 0 ? text.length : start + found;
}

/** True for `[contextd`, whatever follows, in any case and width, also behind backslashes. */
function isOwn(visible: string): boolean {
  return /^\\*\[\s*contextd/.test(visible.normalize('NFKC').toLowerCase());
}
