import { readChained } from './chain.ts';
import type { Line } from './lines.ts';
import { type AuditRecord, parseRecord } from './record.ts';
import { isAboutSegments } from './segments.ts';

const [BRACE, BRACE_END] = [0x7b, 0x7d];

/** Reads lines as records, and counts those of which it can make nothing: torn, or not written by the log. */
export class RecordReader {
  #unreadable = 0;

  get unreadable(): number {
    return this.#unreadable;
  }

  /** Null for any other line. `needle`: a line without it is not parsed if it looks whole. */
  read(line: Line, needle?: Buffer): AuditRecord | null {
    const { bytes, isTorn } = line;
    const isWhole = !isTorn && bytes.at(0) === BRACE && bytes.at(-1) === BRACE_END;
    if (bytes.length === 0 || (isWhole && needle !== undefined && !bytes.includes(needle))) return null;
    const record = isWhole ? parseRecord(line) : null;
    if (record === null && !(isWhole && isAboutSegments(readChained(line)))) this.#unreadable += 1;
    return record;
  }
}
