import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { ownLine } from '../core/own-line.ts';
import type { InputSource } from './arguments.ts';

const STDIN = 0;

/**
 * A line for stderr if a file or a pipe with bytes stands on standard input and the input was given in another way. "" for what
 * another program reads: a file in its middle, and a pipe that the calling shell has as its own, as in `… | while read`. dash has
 * every pipe as its own for the time of a command, so that a here-document is named with bash and zsh only.
 */
export function unreadInput(source: InputSource | null): string {
  if (source?.from === 'stdin') return '';
  try {
    const stats = fstatSync(STDIN);
    if (stats.isFile()) return stats.size > 0 && positionOf(STDIN) === 0 ? notRead(` (${stats.size} bytes)`) : '';
    return stats.isFIFO() && isOnlyOurs() && hasBytes() ? notRead('') : '';
  } catch (thrown) {
    if (isErrno(thrown)) return '';
    throw thrown;
  }
}

function notRead(size: string): string {
  const how = 'words and flags are the whole input. A command gets its input with --stdin, or by `<` in its quotes';
  return `${ownLine(`standard input${size} was not read: ${how}`)}\n`;
}

function isOnlyOurs(): boolean {
  return readlinkSync(`/proc/self/fd/${STDIN}`) !== readlinkSync(`/proc/${process.ppid}/fd/${STDIN}`);
}

/** Takes a byte out of the pipe, which nothing else reads, and does not wait for one. */
function hasBytes(): boolean {
  const again = openSync(`/proc/self/fd/${STDIN}`, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return readSync(again, Buffer.alloc(1)) > 0;
  } finally {
    closeSync(again);
  }
}

/** Where the next read begins; 0 on systems without /proc. */
function positionOf(descriptor: number): number {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
    return Number(/^pos:\s*(\d+)$/m.exec(text)?.[1] ?? 0);
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT')) return 0;
    throw thrown;
  }
}
