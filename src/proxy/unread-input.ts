import { fstatSync, readFileSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { ownLine } from '../core/own-line.ts';
import type { InputSource } from './arguments.ts';

const STDIN = 0;

/**
 * A line for stderr if a file stands on standard input and the input was given in another way. "" for a file that another program
 * has begun to read, as a shell does in `while read`, and for pipes, which cannot be looked into without reading them.
 */
export function unreadInput(source: InputSource | null): string {
  if (source?.from === 'stdin') return '';
  try {
    const stats = fstatSync(STDIN);
    if (!stats.isFile() || stats.size === 0 || positionOf(STDIN) !== 0) return '';
    const how = 'words and flags are the whole input. A command gets its input with --stdin, or by `<` in its quotes';
    return `${ownLine(`standard input (${stats.size} bytes) was not read: ${how}`)}\n`;
  } catch (thrown) {
    if (isErrno(thrown)) return '';
    throw thrown;
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
