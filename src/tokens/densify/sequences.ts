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

  /** The first introducer at or after `from`; -1 when there is none. `from` never goes back. */
  next(from: number): number {
    if (this.#escape < from) this.#escape = indexOrEnd(this.#source, '\u001b', from);
    if (this.#csi < from) this.#csi = indexOrEnd(this.#source, '\u009b', from);
    const first = Math.min(this.#escape, this.#csi);
    return first >= this.#source.length ? -1 : first;
  }
}

/** As indexOf, the text's length when there is none. */
export function indexOrEnd(text: string, wanted: string, from: number): number {
  const index = text.indexOf(wanted, from);
  return index < 0 ? text.length : index;
}

/** Where the parameters of the control sequence at `at` begin; -1 when none begins there. */
export function parametersStart(text: string, at: number): number {
  if (text.charCodeAt(at) === CSI) return at + 1;
  return text[at + 1] === '[' ? at + 2 : -1;
}

/** Where the text of the string sequence (OSC, DCS …) at `at` begins; -1 when none begins there. */
export function stringStart(text: string, at: number): number {
  return text.charCodeAt(at) === ESC && ']PX^_'.includes(text[at + 1] ?? ' ') ? at + 2 : -1;
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

/** BEL, ESC \ or ST at `at`; 0 when there is none. */
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

/** Any sequence begun with ESC; of those with CSI in one character the colours, for it may be a letter gone wrong. */
const SEQUENCE = new RegExp(
  [
    '\\u001b\\[[0-?]*[ -/]*[@-~]?',
    '\\u001b[\\]PX^_]\\P{Cc}*(?:\\u0007|\\u001b\\\\|\\u009c)',
    '\\u001b[ -/]*[0-~]?',
    '\\u009b[0-9;:]+[mK]',
  ].join('|'),
  'gu',
);

/** `text` without its terminal sequences. Where one moves the cursor on in the line, a blank keeps the words apart. */
export function withoutSequences(text: string): string {
  return text.replace(SEQUENCE, (sequence) => (sequence.endsWith('C') || sequence.endsWith('G') ? ' ' : ''));
}
