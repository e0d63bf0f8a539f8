import xterm, { type IBuffer, type IMarker, type Terminal } from '@xterm/headless';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** A chunk holds fewer line ends than the scrollback holds rows, so that every row is read before it is dropped. */
const CHUNK_BYTES = 4 * 1024;
const SCROLLBACK_ROWS = 5_000;
/** Control sequences that the emulator repeats as often as their number says, and the largest number that is obeyed. */
const REPEATED: readonly { intermediates?: string; final: string }[] = [
  ...[...'STLM@PXIZb'].map((final) => ({ final })),
  ...['@', 'A'].map((final) => ({ intermediates: ' ', final })),
  ...['}', '~'].map((final) => ({ intermediates: "'", final })),
];
const REPEATS_MAX = 200;

/**
 * What a terminal shows of a program's output, as text: the rows that have scrolled off in their order, then the screen. Rows
 * that the terminal wrapped are joined again. Hostile output makes it slow: use it in a thread of its own.
 */
export class TerminalScreen {
  readonly #terminal: Terminal;
  /** Takes the text that has scrolled off and does not change any more. */
  readonly #onText: (text: string) => void;
  /** The first row of the screen when rows were last read, and how many rows from there have been read since. */
  #mark: IMarker | null = null;
  #readPastMark = 0;
  #hasText = false;

  constructor({ columns, rows }: TerminalSize, onText: (text: string) => void) {
    this.#onText = onText;
    this.#terminal = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback: SCROLLBACK_ROWS,
      // What a program clears has been shown and is not lost.
      scrollOnEraseInDisplay: true,
      allowProposedApi: true,
      logLevel: 'off',
    });
    for (const sequence of REPEATED) {
      this.#terminal.parser.registerCsiHandler(sequence, (params) => params.flat().some((one) => one > REPEATS_MAX));
    }
  }

  /** Returns when the terminal shows it. */
  async write(bytes: Uint8Array): Promise<void> {
    const shown: Promise<void>[] = [];
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      const chunk = bytes.subarray(from, from + CHUNK_BYTES);
      const { promise, resolve } = Promise.withResolvers<void>();
      shown.push(promise);
      this.#terminal.write(chunk, () => {
        this.#collect(this.#terminal);
        resolve();
      });
    }
    await Promise.all(shown);
  }

  /** What is on the screen. */
  screen(): string {
    const { normal, active } = this.#terminal.buffer;
    const own = this.#screenOf(normal);
    return active.type === 'alternate' ? `${own}${rowsOf(active).text}\n` : own;
  }

  /** Passes on the rows that have scrolled off. Only the normal screen scrolls. */
  #collect(terminal: Terminal): void {
    const { normal, active } = terminal.buffer;
    const mark = this.#mark;
    // Without its mark, the program has reset the terminal: everything there is new.
    const from = mark === null || mark.isDisposed ? 0 : mark.line + this.#readPastMark;
    for (let row = from; row < normal.baseY; row++) this.#onText(this.#joined(normal, row));
    this.#readPastMark += Math.max(0, normal.baseY - from);
    if (active.type !== 'normal') return;
    mark?.dispose();
    this.#mark = terminal.registerMarker(-normal.cursorY) ?? null;
    this.#readPastMark = 0;
  }

  /** The row, after a line end if it begins a line. */
  #joined(buffer: IBuffer, row: number): string {
    const isFirst = !this.#hasText;
    this.#hasText = true;
    return `${isFirst || buffer.getLine(row)?.isWrapped === true ? '' : '\n'}${rowText(buffer, row)}`;
  }

  /** The screen, as it follows what has scrolled off. */
  #screenOf(buffer: IBuffer): string {
    const { text, lastRow } = rowsOf(buffer);
    if (text === '') return this.#hasText ? '\n' : '';
    const goesOn = !this.#hasText || buffer.getLine(buffer.baseY)?.isWrapped === true;
    return `${goesOn ? '' : '\n'}${text}${buffer.baseY + buffer.cursorY > lastRow ? '\n' : ''}`;
  }
}

/** The rows of the screen as lines, without the empty rows at its end. */
function rowsOf(buffer: IBuffer): { text: string; lastRow: number } {
  let text = '';
  let used = { length: 0, lastRow: buffer.baseY };
  for (let row = buffer.baseY; row < buffer.length; row++) {
    const goesOn = row === buffer.baseY || buffer.getLine(row)?.isWrapped === true;
    const shown = rowText(buffer, row);
    text += (goesOn ? '' : '\n') + shown;
    if (shown !== '') used = { length: text.length, lastRow: row };
  }
  return { text: text.slice(0, used.length), lastRow: used.lastRow };
}

/** Blanks at the end that the program did not write are left out, unless the line goes on in the next row. */
function rowText(buffer: IBuffer, row: number): string {
  // Behind the last row, the emulator returns the first.
  const goesOn = row + 1 < buffer.length && buffer.getLine(row + 1)?.isWrapped === true;
  return buffer.getLine(row)?.translateToString(!goesOn) ?? '';
}
