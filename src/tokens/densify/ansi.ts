import { Edit, type Edited } from '../../text/edited-text.ts';
import {
  CSI,
  Introducers,
  indexOrEnd,
  parametersStart,
  sequenceEnd,
  stringStart,
  withoutSequences,
} from '../../text/terminal.ts';

/**
 * Cursor keys, wrapping, cursor visibility, mouse, focus, bracketed paste, synchronized output: text does not depend on
 * these modes.
 */
const MODES = /^\?(?:(?:1|7|12|25|100[02346]|2004|2026)(?:;(?!$)|$))+$/;
/** Titles, colours, prompts and progress of the window: numbers of operating system commands. */
const WINDOW = /^(?:[0124]|1[01]|104|11[01]|133|633|9;4)(?![0-9])/;
/** Final characters of what erases, or moves the cursor within its line. */
const WITHIN_THE_LINE = /[CDGJKPX@`]/;
/** Line drawing: from here on the chosen character set decides what letters mean. */
const LINE_DRAWING = '\u001b(0';

/** Drops what only styles: colours, titles, cursor visibility, erasing where nothing is. Null: nothing was dropped. */
export function dropStyles(source: string): Edited | null {
  const introducers = new Introducers(source);
  let at = introducers.next(0);
  if (at < 0) return null;
  const edit = new Edit(source);
  const styles = new Styles(source);
  while (at >= 0) {
    const end = sequenceEnd(source, at);
    if (end >= 0 && styles.has(at, end)) edit.drop(at, end);
    // After a broken sequence nothing is dropped up to the line end, because what follows could complete it.
    at = introducers.next(end >= 0 ? end : indexOrEnd(source, '\n', at));
  }
  return edit.finish();
}

/** Recognises the styling sequences of one text, from front to back. */
class Styles {
  readonly #source: string;
  readonly #links: Hyperlinks;
  readonly #cursor: CursorPlace;
  readonly #lineDrawing: number;

  constructor(source: string) {
    this.#source = source;
    this.#links = new Hyperlinks(source);
    this.#cursor = new CursorPlace(source);
    this.#lineDrawing = indexOrEnd(source, LINE_DRAWING, 0);
  }

  /** Whether the sequence [at, end) only styles. */
  has(at: number, end: number): boolean {
    const parameters = parametersStart(this.#source, at);
    if (parameters >= 0) return this.#isStyle(at, parameters, end);
    const text = stringStart(this.#source, at);
    if (text >= 0) return this.#isAboutTheWindow(at, text, end);
    const sequence = this.#source.slice(at + 1, end);
    if (sequence === '(B') return at < this.#lineDrawing;
    if (sequence === '=' || sequence === '>') return true;
    this.#cursor.moved(at, false);
    return false;
  }

  #isStyle(at: number, parameters: number, end: number): boolean {
    const last = this.#source[end - 1] ?? '';
    // The one-character introducer may be a letter that was decoded wrongly: a bare "m" after it proves nothing.
    if (last === 'm') return this.#source.charCodeAt(at) !== CSI || end - parameters > 1;
    if (last === 'h' || last === 'l') return MODES.test(this.#source.slice(parameters, end - 1));
    const isToTheEnd = last === 'K' && (end - parameters === 1 || this.#source.startsWith('0K', parameters));
    if (isToTheEnd && this.#cursor.isAtLineEnd(at)) return true;
    this.#cursor.moved(at, WITHIN_THE_LINE.test(last));
    return false;
  }

  #isAboutTheWindow(at: number, text: number, end: number): boolean {
    if (this.#source[at + 1] !== ']') return false;
    if (this.#source.startsWith('8;', text)) return this.#links.isRedundant(at, end);
    return WINDOW.test(this.#source.slice(text, text + 4));
  }
}

/** Knows whether the cursor is after the last character of its line, from front to back. */
class CursorPlace {
  readonly #source: string;
  /** The last line end, carriage return and backspace before the place asked for, and the next ones. */
  readonly #last = { '\n': -1, '\r': -1, '\b': -1 };
  readonly #next = { '\n': 0, '\r': 0, '\b': 0 };
  #moved = -1;

  constructor(source: string) {
    this.#source = source;
    for (const sign of ['\n', '\r', '\b'] as const) this.#next[sign] = indexOrEnd(source, sign, 0);
  }

  /**
   * Notes that a sequence at `at` may have moved the cursor: in its line, or anywhere, so that lines may be overwritten
   * from here.
   */
  moved(at: number, withinTheLine: boolean): void {
    this.#moved = withinTheLine ? Math.max(at, this.#moved) : Number.MAX_SAFE_INTEGER;
  }

  isAtLineEnd(at: number): boolean {
    const line = this.#lastBefore('\n', at);
    return this.#moved <= line && this.#lastBefore('\r', at) <= line && this.#lastBefore('\b', at) <= line;
  }

  #lastBefore(sign: '\n' | '\r' | '\b', at: number): number {
    while (this.#next[sign] < at) {
      this.#last[sign] = this.#next[sign];
      this.#next[sign] = indexOrEnd(this.#source, sign, this.#next[sign] + 1);
    }
    return this.#last[sign];
  }
}

const LINK = '\u001b]8;';
const TERMINATORS = ['\u0007', '\u001b\\', '\u009c'] as const;
/** A longer link keeps its target. */
const MAX_TEXT_CHARS = 4096;

/**
 * Links of a text (OSC 8), from front to back. A link whose text is its target is redundant; any other keeps both
 * sequences, because the target is nowhere else.
 */
class Hyperlinks {
  readonly #source: string;
  /** Where the sequence is that ends the link left out last. */
  #closing = -1;

  constructor(source: string) {
    this.#source = source;
  }

  /** Whether the sequence [at, end) opens or closes a link whose text is its target. */
  isRedundant(at: number, end: number): boolean {
    if (at === this.#closing) return true;
    const target = this.#target(at, end);
    const closing = target === '' ? -1 : this.#source.indexOf(LINK, end);
    if (closing < 0 || closing - end > MAX_TEXT_CHARS) return false;
    if (this.#target(closing, sequenceEnd(this.#source, closing)) !== '') return false;
    if (!isSame(target, withoutSequences(this.#source.slice(end, closing)))) return false;
    this.#closing = closing;
    return true;
  }

  /** The address in the sequence [at, end), behind its parameters; "" for one that ends a link. */
  #target(at: number, end: number): string {
    if (end < 0) return '?';
    const sequence = this.#source.slice(at + LINK.length, end);
    const terminator = TERMINATORS.find((sign) => sequence.endsWith(sign)) ?? '';
    return sequence.slice(sequence.indexOf(';') + 1, sequence.length - terminator.length);
  }
}

/** A file's address names the host and the path: the path says it all. */
function isSame(target: string, text: string): boolean {
  return text !== '' && (target === text || (text.startsWith('/') && target.replace(/^file:\/\/[^/]*/, '') === text));
}
