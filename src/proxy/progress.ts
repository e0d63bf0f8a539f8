import { writeSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';

const STDERR = 2;

/**
 * Shows a person what a command prints while it runs, in the daemon's words: scrubbed, and nothing in it that steers a
 * terminal. Undefined where stderr is none: an agent would read it with the answer. What cannot be written at once is
 * left out, since the answer holds or names all of it.
 */
export function progressWriter(): ((text: string) => void) | undefined {
  if (!process.getBuiltinModule('node:tty').isatty(STDERR)) return undefined;
  return (text) => {
    try {
      writeSync(STDERR, text);
    } catch (error) {
      if (!isErrno(error)) throw error;
    }
  };
}
