import { sequenceEnd, withoutSequences } from '../../text/terminal.ts';

const LINK = '\u001b]8;';
const TERMINATORS = ['\u0007', '\u001b\\', '\u009c'] as const;
/** A longer link keeps its target. */
const MAX_TEXT_CHARS = 4096;

/**
 * Links of a text (OSC 8), asked for from front to back. One whose text is its target says nothing by itself; any
 * other keeps both sequences, for the target stands nowhere else.
 */
export class Hyperlinks {
  readonly #source: string;
  /** Where the sequence is that ends the link left out last. */
  #closing = -1;

  constructor(source: string) {
    this.#source = source;
  }

  /** Whether the sequence [at, end) opens or closes a link whose text is its target. */
  isSaid(at: number, end: number): boolean {
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
