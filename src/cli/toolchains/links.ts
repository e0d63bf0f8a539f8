import { closeSync, existsSync, lstatSync, openSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isErrno } from '../../core/errors.ts';

/** The kernel follows at most this many links. */
const LINKS_MAX = 40;
/** Bytes of a script's first line that the kernel reads. */
const FIRST_LINE_BYTES = 256;

/**
 * The files that a program needs to start, as real paths: where each of its links leads, and the interpreter that its
 * first line names, with the interpreter's own links. Empty if something is missing.
 */
export function stepsTo(program: string): string[] {
  const steps: string[] = [];
  let at = program;
  for (let links = 0; links < LINKS_MAX; links++) {
    const place = realOrNull(dirname(at));
    if (place === null) return [];
    at = resolve(place, at.slice(at.lastIndexOf('/') + 1));
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    steps.push(at);
    if (stats.isSymbolicLink()) {
      at = resolve(place, readlinkSync(at));
      continue;
    }
    const interpreter = stats.isFile() ? interpreterOf(at) : null;
    if (interpreter === null) return steps;
    at = interpreter;
  }
  return [];
}

/** The absolute path after `#!`. */
function interpreterOf(file: string): string | null {
  try {
    const fd = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(FIRST_LINE_BYTES);
      const text = bytes.toString('utf8', 0, readSync(fd, bytes));
      return /^#![ \t]*(\/[^\s]+)/.exec(text)?.[1] ?? null;
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

export function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

export function exists(path: string): boolean {
  return existsSync(path);
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
