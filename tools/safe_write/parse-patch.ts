import { invalid } from '../../src/sdk/input.ts';
import type { ContextdError } from '../../src/sdk/tool.ts';

/** The old or the new side of a hunk. */
export interface HunkSide {
  /** The line in the header, counted from 1; without lines, the line before the hunk. */
  start: number;
  /** Without their newlines. */
  lines: string[];
  /** True after "\ No newline at end of file": the last line is the last of the file and has no newline. */
  endsFile: boolean;
}

export interface Hunk {
  /** Counted from 1. */
  number: number;
  /** Line of its header in the patch, counted from 1. */
  patchLine: number;
  old: HunkSide;
  new: HunkSide;
  /** The number of unchanged lines at its start and at its end. */
  context: { before: number; after: number };
}

export interface Patch {
  hunks: readonly Hunk[];
  /** True if the headers say that there was no file. */
  creates: boolean;
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;
const HEADER = /^(diff |index |Index:|={5}|new file mode 100644|--- |\+\+\+ |$)/;
const NEXT_FILE = /^(diff |Index:|--- )/;
const NOT_DONE = /^(deleted file mode|rename |copy |similarity |old mode|new (file )?mode|GIT binary|Binary files)/;
const NO_FILE = /^\/dev\/null(\s|$)/;

/**
 * Parses a unified diff of one file, with or without headers. It is strict, because the value of a secret may look like
 * anything: every line must belong to a header or, by the counts in its header, to a hunk. Throws ARGS_INVALID otherwise.
 */
export function parsePatch(text: string): Patch {
  const reader = new PatchReader(linesOf(text));
  const creates = reader.readHeaders();
  const hunks: Hunk[] = [];
  while (reader.findHunk(hunks.length)) hunks.push(reader.readHunk(hunks.length + 1));
  if (hunks.length === 0) throw refused('has no hunk', 'A hunk begins with a line such as "@@ -12,3 +12,4 @@".');
  return { hunks, creates };
}

/** If all lines of the patch itself end with CRLF, the patch was converted in transit. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const isConverted = lines.some((line) => HUNK.test(line)) && lines.every((line) => line.endsWith('\r'));
  return isConverted ? lines.map((line) => line.slice(0, -1)) : lines;
}

class PatchReader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** Reads up to the first hunk. Returns true if the old side is not a file. */
  readHeaders(): boolean {
    let creates = false;
    let names = 0;
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? '';
      if (HUNK.test(line)) break;
      this.#checkHeader(line);
      if (line.startsWith('--- ') || line.startsWith('diff ')) names += 1;
      if (line.startsWith('--- ') && NO_FILE.test(line.slice(4))) creates = true;
    }
    if (names > 2) throw severalFiles();
    return creates;
  }

  /** Returns true if another hunk follows, possibly after blank lines. */
  findHunk(before: number): boolean {
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? '';
      if (HUNK.test(line)) return true;
      if (NEXT_FILE.test(line)) throw severalFiles();
      if (line.trim() !== '') throw this.#stray(before);
    }
    return false;
  }

  readHunk(number: number): Hunk {
    const [, oldStart, oldCount = '1', newStart, newCount = '1'] = HUNK.exec(this.#lines[this.#at] ?? '') ?? [];
    const hunk: Hunk = {
      number,
      patchLine: this.#at + 1,
      old: { start: Number(oldStart), lines: [], endsFile: false },
      new: { start: Number(newStart), lines: [], endsFile: false },
      context: { before: 0, after: 0 },
    };
    this.#at += 1;
    this.#readBody(hunk, Number(oldCount), Number(newCount));
    return hunk;
  }

  #readBody(hunk: Hunk, oldCount: number, newCount: number): void {
    let isChanged = false;
    let sides: readonly HunkSide[] = [];
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? '';
      if (line.startsWith('\\')) {
        for (const side of sides) side.endsFile = true;
        continue;
      }
      if (hunk.old.lines.length === oldCount && hunk.new.lines.length === newCount) break;
      const mark = markOf(line);
      sides = mark === ' ' ? [hunk.old, hunk.new] : mark === '-' ? [hunk.old] : mark === '+' ? [hunk.new] : [];
      if (sides.length === 0 || sides.some((side) => side.endsFile)) throw this.#stray(hunk.number);
      for (const side of sides) side.lines.push(mark === line[0] ? line.slice(1) : line);
      if (mark !== ' ') {
        isChanged = true;
        hunk.context.after = 0;
      } else if (isChanged) hunk.context.after += 1;
      else hunk.context.before += 1;
    }
    checkCounts(hunk, oldCount, newCount);
  }

  #checkHeader(line: string): void {
    if (NOT_DONE.test(line) || (line.startsWith('+++ ') && NO_FILE.test(line.slice(4))))
      throw refused('does more than change the text of a file', 'Use safe_bash to delete, move or chmod.');
    if (!HEADER.test(line)) throw this.#stray(0);
  }

  #stray(hunk: number): ContextdError {
    const where = hunk === 0 ? 'is neither a header nor a hunk' : `does not belong to hunk ${hunk} or another`;
    return refused(
      `is not a unified diff: its line ${this.#at + 1} ${where}`,
      'Check the counts in the header of the hunk. A secret of several lines cannot be in a patch: use "edits".',
    );
  }
}

/** Editors remove the space of an empty line. */
function markOf(line: string): string {
  return line === '' || line === '\r' ? ' ' : (line[0] ?? '');
}

function checkCounts({ number, patchLine, old, new: next }: Hunk, oldCount: number, newCount: number): void {
  const [oldFound, newFound] = [old.lines.length, next.lines.length];
  if (oldFound === oldCount && newFound === newCount) return;
  throw refused(
    `is truncated or miscounted: hunk ${number} at its line ${patchLine} announces -${oldCount} +${newCount} lines but has -${oldFound} +${newFound}`,
    'Correct the counts in the header of the hunk.',
  );
}

function severalFiles(): ContextdError {
  return refused('is for several files', 'Call safe_write once for each file, with its part of the patch.');
}

function refused(fault: string, remedy: string): ContextdError {
  return invalid('patch', fault, remedy);
}
