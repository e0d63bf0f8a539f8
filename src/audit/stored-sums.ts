import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import { linesForwards } from './lines.ts';
import { listSegments, type Segment } from './segments.ts';
import { FIGURE_NAMES, SegmentSum, type SegmentSums } from './stats.ts';

/** The sums of the first `bytes` of a segment. */
interface Stored extends SegmentSums {
  /** Of the program that made them. */
  readonly format: string;
  readonly bytes: number;
  /** What the segment has before `bytes`: a file that took its place differs there, because each line ends with its code. */
  readonly end: string;
}

const FORMAT = `2 ${FIGURE_NAMES.join(' ')}`;
const END_BYTES = 64;
/** Bytes that are read again rather than stored, so that a question does not always write. */
const UNSTORED_BYTES = 256 * 1024;

/**
 * The sums of segments, kept in `audit-sums/` beside the log, so that a segment is read once. They are no proof of anything: the log
 * is. What cannot be stored or read is summed up again.
 */
export class StoredSums {
  readonly #auditDir: string;
  readonly #dir: string;
  readonly #unstoredBytes: number;

  /** `auditDir`: Paths.auditDir. */
  constructor(auditDir: string, unstoredBytes = UNSTORED_BYTES) {
    this.#auditDir = auditDir;
    this.#unstoredBytes = unstoredBytes;
    this.#dir = join(dirname(auditDir), 'audit-sums');
  }

  /** The sums of a segment that may still grow. Throws the error of the file system. */
  readonly of = async (segment: Segment): Promise<SegmentSums> => {
    const stored = await this.#read(segment);
    const sums = new SegmentSum(segment.day, stored ?? undefined);
    let bytes = stored?.bytes ?? 0;
    try {
      for await (const line of linesForwards(segment.path, bytes)) {
        if (line.isTorn) break;
        sums.add(line);
        bytes += line.bytes.length + 1;
      }
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
    const made = sums.read();
    if (bytes - (stored?.bytes ?? 0) >= this.#unstoredBytes) await this.#store(segment, { ...made, bytes });
    return made;
  };

  async #read(segment: Segment): Promise<Stored | null> {
    try {
      const value: unknown = JSON.parse(await readFile(this.#fileOf(segment), 'utf8'));
      if (!isStored(value) || value.end === '' || value.end !== (await endOf(segment.path, value.bytes))) return null;
      return value;
    } catch (error) {
      if (isErrno(error) || error instanceof SyntaxError) return null;
      throw error;
    }
  }

  /** A full disk is no reason to refuse an answer. */
  async #store(segment: Segment, sums: SegmentSums & { bytes: number }): Promise<void> {
    const unfinished = join(this.#dir, `.${randomUUID()}`);
    try {
      const end = await endOf(segment.path, sums.bytes);
      // The segment was cut meanwhile.
      if (end === '') return;
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      await writeFile(unfinished, JSON.stringify({ ...sums, end, format: FORMAT } satisfies Stored), { mode: 0o600 });
      await rename(unfinished, this.#fileOf(segment));
      await this.#removeOld();
    } catch (error) {
      if (!isErrno(error)) throw error;
      await rm(unfinished, { force: true }).catch(() => {});
    }
  }

  /** The log removed their segments. */
  async #removeOld(): Promise<void> {
    const present = new Set((await listSegments(this.#auditDir)).map((segment) => this.#fileOf(segment)));
    for (const name of await readdir(this.#dir)) {
      const file = join(this.#dir, name);
      if (!name.startsWith('.') && !present.has(file)) await rm(file, { force: true });
    }
  }

  #fileOf({ name }: Segment): string {
    return join(this.#dir, `${name}.json`);
  }
}

function isStored(value: unknown): value is Stored {
  if (!isJsonObject(value)) return false;
  const { format, bytes, end, rows, open: started, ended } = value;
  if (format !== FORMAT || typeof bytes !== 'number' || typeof end !== 'string') return false;
  return Array.isArray(rows) && Array.isArray(started) && Array.isArray(ended);
}

/** The last bytes before an offset; "" if the file is not that long. */
async function endOf(path: string, offset: number): Promise<string> {
  const handle = await open(path, 'r');
  try {
    const length = Math.min(END_BYTES, offset);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset - length);
    return bytesRead < length ? '' : buffer.toString('base64');
  } finally {
    await handle.close();
  }
}
