import { writeSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { isTerminal } from './is-terminal.ts';

const STDERR = 2;
/** Milliseconds after which a call counts as long, and between two repaints. */
const SHOWN_AFTER_MS = 2_000;
const REPAINT_MS = 1_000;
const COLUMNS_UNKNOWN = 80;
/** Back to the first column, and erase the line. */
const ERASE = '\r\u001b[K';

/** What a person at a terminal sees of a long call: one line, which disappears when the call ends. */
export interface RunningLine {
  /** The last complete line of the output is shown. The daemon has scrubbed it and removed terminal sequences. */
  onProgress(text: string): void;
  end(): void;
}

/** Undefined if stderr is not a terminal: an agent would read the line along with the answer. */
export function runningLine(term: string | undefined): RunningLine | undefined {
  if (term === 'dumb' || !isTerminal(STDERR)) return undefined;
  const startedAt = performance.now();
  let last = '';
  let isShown = false;
  let timer = setTimeout(repaint, SHOWN_AFTER_MS);
  function repaint(): void {
    const seconds = Math.floor((performance.now() - startedAt) / 1000);
    const columns = process.stderr.columns || COLUMNS_UNKNOWN;
    const line = [...`running ${seconds} s${last === '' ? '' : ` · ${last}`}`].slice(0, columns - 1).join('');
    isShown = write(`${ERASE}${line}`) || isShown;
    timer = setTimeout(repaint, REPAINT_MS);
  }
  return {
    onProgress(text) {
      last =
        text
          .split('\n')
          .findLast((line) => line.trim() !== '')
          ?.trim() ?? last;
    },
    end() {
      clearTimeout(timer);
      if (isShown) write(ERASE);
    },
  };
}

/** False if the terminal does not take it now. */
function write(text: string): boolean {
  try {
    writeSync(STDERR, text);
    return true;
  } catch (error) {
    if (!isErrno(error)) throw error;
    return false;
  }
}
