/** The characters of terminal sequences, UTF-16 codes. */
export const ESC = 0x1b;
const BEL = 0x07;
export const BACKSPACE = 0x08;
export const LF = 0x0a;
export const CR = 0x0d;
/** "ESC [" in one character. */
export const CSI = 0x9b;
/** "ESC \" in one character: ends a string such as a title. */
const ST = 0x9c;

/** Walks the places where a sequence begins (ESC, or CSI as one character), from front to back. */
export class Introducers {
  readonly #source: string;
  #escape = -1;
  #csi = -1;

  constructor(source: string) {
    this.#source = source;
  }

  /** The first introducer at or after `from`; -1 if not found. `from` never goes back. */
  next(from: number): number {
    if (this.#escape < from) this.#escape = indexOrEnd(this.#source, '\u001b', from);
    if (this.#csi < from) this.#csi = indexOrEnd(this.#source, '\u009b', from);
    const first = Math.min(this.#escape, this.#csi);
    return first >= this.#source.length ? -1 : first;
  }
}

/** Like indexOf, but returns the text's length if not found. */
export function indexOrEnd(text: string, wanted: string, from: number): number {
  const index = text.indexOf(wanted, from);
  return index < 0 ? text.length : index;
}

/** Returns where the parameters of the control sequence at `at` begin; -1 if none begins there. */
export function parametersStart(text: string, at: number): number {
  if (text.charCodeAt(at) === CSI) return at + 1;
  return text[at + 1] === '[' ? at + 2 : -1;
}

/** Where the text of the string sequence (OSC, DCS …) at `at` begins; -1 if none begins there. */
export function stringStart(text: string, at: number): number {
  if (STRING_INTRODUCERS.includes(text[at] ?? ' ')) return at + 1;
  return text.charCodeAt(at) === ESC && ']PX^_'.includes(text[at + 1] ?? ' ') ? at + 2 : -1;
}

/** "ESC P", "ESC X", "ESC ]", "ESC ^" and "ESC _" in one character. */
const STRING_INTRODUCERS = '\u0090\u0098\u009d\u009e\u009f';
/** All characters that can begin a sequence. */
export const INTRODUCERS = new RegExp(`[\\u001b\\u009b${STRING_INTRODUCERS}]`, 'g');

/** The end of the sequence at `at`; of one broken off, the end of its first two characters. -1 if not found. */
export function unitEnd(text: string, at: number): number {
  const end = sequenceEnd(text, at);
  return end < 0 && text.charCodeAt(at) === ESC ? escapeEnd(text, at + 1) : end;
}

/** The end of the sequence that the introducer at `at` begins; -1: another control, or the end, comes before its own. */
export function sequenceEnd(text: string, at: number): number {
  const parameters = parametersStart(text, at);
  if (parameters >= 0) return controlEnd(text, parameters);
  const string = stringStart(text, at);
  return string >= 0 ? stringEnd(text, string) : escapeEnd(text, at + 1);
}

/** Parameters, signs between, and the final character. */
function controlEnd(text: string, from: number): number {
  const final = skipRange(text, skipRange(text, from, 0x30, 0x3f), 0x20, 0x2f);
  return isWithin(text.charCodeAt(final), 0x40, 0x7e) ? final + 1 : -1;
}

function escapeEnd(text: string, from: number): number {
  const final = skipRange(text, from, 0x20, 0x2f);
  return isWithin(text.charCodeAt(final), 0x30, 0x7e) ? final + 1 : -1;
}

function stringEnd(text: string, from: number): number {
  let stop = from;
  while (stop < text.length && !isControl(text.charCodeAt(stop))) stop++;
  const length = terminatorLength(text, stop);
  return length === 0 ? -1 : stop + length;
}

/** BEL, ESC \ or ST at `at`; 0 if not found. */
function terminatorLength(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === BEL || code === ST) return 1;
  return code === ESC && text[at + 1] === '\\' ? 2 : 0;
}

function skipRange(text: string, from: number, first: number, last: number): number {
  let at = from;
  while (isWithin(text.charCodeAt(at), first, last)) at++;
  return at;
}

function isWithin(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}

export function isControl(code: number): boolean {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

/** What begins a control sequence, for a pattern. */
export const CONTROL_INTRODUCER = '(?:\\u001b\\[|\\u009b)';
/** A whole control sequence behind its introducer: parameters, intermediates and the final character. */
const CONTROL_BODY = '[0-?]*[ -/]*[@-~]';

/** Whole control sequences, such as colours and cursor movements. */
export const CONTROL_SEQUENCES = new RegExp(`\\u001b\\[${CONTROL_BODY}`, 'g');

/** A colour, for a `u` pattern. */
export const COLOUR = '\\u001b\\[[0-9;:]{0,32}m';

/**
 * What begins with ESC, whole or broken off. A string without its end counts as its two introducing characters, so that
 * the text behind it stays.
 */
const ESCAPE_SEQUENCES = [
  '\\u001b\\[[0-?]*[ -/]*[@-~]?',
  '\\u001b[\\]PX^_][^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)',
  '\\u001b[ -/]*[0-~]?',
].join('|');

/**
 * Everything that a terminal obeys and does not show, for a search. A letter that was decoded wrongly may look like a
 * one-character CSI.
 */
export const OBEYED = `${ESCAPE_SEQUENCES}|\\u009b${CONTROL_BODY}`;

/** The same for what a reader sees: of the sequences that begin with a one-character CSI only colours and erasing. */
const LEFT_OUT = new RegExp(`${ESCAPE_SEQUENCES}|\\u009b[0-9;:]+[mK]`, 'gu');

/** `text` without its terminal sequences. A blank stands for a move along the line, to keep the words apart. */
export function withoutSequences(text: string): string {
  return text.replace(LEFT_OUT, (sequence) => (sequence.endsWith('C') || sequence.endsWith('G') ? ' ' : ''));
}

/** Characters of a control sequence that `skipSequence` looks at for its end. */
const SKIPPED_MAX_CHARS = 32;

/**
 * The end of `ESC [ … letter` or `ESC ( B` at `at`, not beyond `to`; otherwise the place after ESC. Parameters may stand
 * in any order, as terminals allow. A string such as a title is text here: a link may hold what is looked for.
 */
export function skipSequence(text: string, at: number, to: number): number {
  const kind = text[at + 1];
  if (kind === '(' || kind === ')') return Math.min(at + 3, to);
  if (kind !== '[') return at + 1;
  const limit = Math.min(to, at + SKIPPED_MAX_CHARS);
  const final = skipRange(text, at + 2, 0x20, 0x3f);
  return final < limit && isWithin(text.charCodeAt(final), 0x40, 0x7e) ? final + 1 : at + 1;
}
