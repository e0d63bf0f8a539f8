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
  read(line: Buffer, needle?: Buffer): AuditRecord | null {
    const isWhole = line.at(0) === BRACE && line.at(-1) === BRACE_END;
    if (line.length === 0 || (isWhole && needle !== undefined && !line.includes(needle))) return null;
    const record = isWhole ? parseRecord(line) : null;
    if (record === null && !(isWhole && isAboutSegments(line.toString('utf8')))) this.#unreadable += 1;
    return record;
  }
}
