import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { RawPath } from '../../../fs/raw-path.ts';
import type { Entry } from './entry.ts';

/** Lines beyond twice the files, from which the file is written again. */
const SPARE_LINES = 10_000;

/**
 * The known files of a workspace on disk, so that a new process reads only what has changed. One line for each change, the
 * last one counts; a line that was cut by a crash is left out.
 */
export class IndexFile {
  readonly #file: string;
  #lines = 0;
  #waiting = '';
  #hadContent = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** False if there was no snapshot before. */
  get hadContent(): boolean {
    return this.#hadContent;
  }

  read(): Map<RawPath, Entry> {
    const entries = new Map<RawPath, Entry>();
    for (const line of linesOf(this.#file)) {
      const fields = parse(line);
      if (fields === null) continue;
      this.#hadContent = true;
      this.#lines += 1;
      const [path, state, bytes, ctimeMs, ino] = fields;
      if (typeof state !== 'string') entries.delete(String(path));
      else entries.set(String(path), { state, bytes: Number(bytes), ctimeMs: Number(ctimeMs), ino: Number(ino) });
    }
    // What follows begins on a line of its own.
    this.#waiting = '\n';
    return entries;
  }

  add(path: RawPath, entry: Entry | null): void {
    this.#waiting += lineOf(path, entry);
    this.#lines += 1;
  }

  flush(): void {
    if (this.#waiting === '') return;
    appendFileSync(this.#file, this.#waiting, { mode: 0o600 });
    this.#waiting = '';
  }

  /** Writes only what holds now, if much of the file is outdated. */
  compact(entries: ReadonlyMap<RawPath, Entry>): void {
    if (this.#lines < 2 * entries.size + SPARE_LINES) return;
    const draft = `${this.#file}.tmp`;
    rmSync(draft, { force: true });
    writeFileSync(draft, Array.from(entries, ([path, entry]) => lineOf(path, entry)).join(''), { mode: 0o600 });
    renameSync(draft, this.#file);
    this.#lines = entries.size;
  }
}

function lineOf(path: RawPath, entry: Entry | null): string {
  if (entry === null) return `${JSON.stringify([path])}\n`;
  return `${JSON.stringify([path, entry.state, entry.bytes, entry.ctimeMs, entry.ino])}\n`;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function parse(line: string): unknown[] | null {
  if (line === '') return null;
  try {
    const value: unknown = JSON.parse(line);
    return Array.isArray(value) && typeof value[0] === 'string' ? value : null;
  } catch {
    return null;
  }
}
