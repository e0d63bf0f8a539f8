import { appendFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { KeyedLock } from '../../core/lock.ts';
import { projectFolder } from '../../core/project-folder.ts';

/** Calls of a project that are remembered. */
const CALLS_MAX = 500;

/** A call that may change files: when it ran, also if it changed nothing that is recorded. */
export interface CallMark {
  readonly requestId: string;
  readonly tool: string;
  readonly session: string;
  /** Milliseconds since the epoch. */
  readonly beganMs: number;
  /** Null for a call that goes on, or that a killed daemon did not end. */
  readonly endedMs: number | null;
  /** Names of ignored directories that the call's input holds. */
  readonly named: readonly string[];
  /** False if changes could not be kept when the call ran. */
  readonly isKept: boolean;
}

/**
 * One file for each project, with a line before and after each call. A mark without an end in a new daemon is a call that was
 * cut short: what changed meanwhile is its work.
 */
export class CallMarks {
  readonly #dir: string;
  readonly #lock = new KeyedLock();

  constructor(undoDir: string) {
    this.#dir = join(undoDir, 'calls');
  }

  begin(project: string, mark: CallMark): Promise<void> {
    return this.#append(project, mark);
  }

  /** `end`: what is known now. */
  end(project: string, requestId: string, end: Partial<Pick<CallMark, 'endedMs' | 'named'>>): Promise<void> {
    return this.#append(project, { requestId, ...end });
  }

  /** In the order in which they began. */
  async all(project: string): Promise<CallMark[]> {
    const marks = new Map<string, Partial<CallMark>>();
    for (const line of (await readText(this.#fileOf(project))).split('\n')) {
      const mark = parse(line);
      if (mark?.requestId !== undefined) marks.set(mark.requestId, { ...marks.get(mark.requestId), ...mark });
    }
    return [...marks.values()].filter(isWhole);
  }

  /** Forgets all but the newest calls that ended since `sinceMs`, and those that have not ended. */
  clean(project: string, sinceMs: number): Promise<void> {
    return this.#lock.run(project, async () => {
      const all = await this.all(project);
      const kept = all.slice(-CALLS_MAX).filter(({ endedMs }) => endedMs === null || endedMs >= sinceMs);
      if (kept.length === all.length) return;
      const draft = `${this.#fileOf(project)}.tmp`;
      await writeFile(draft, kept.map(lineOf).join(''), { mode: 0o600 });
      await rename(draft, this.#fileOf(project));
    });
  }

  forget(project: string): Promise<void> {
    return this.#lock.run(project, () => rm(this.#fileOf(project), { force: true }));
  }

  /** Every call waits for this line twice. Writing it takes ten microseconds; to wait for a thread of the pool takes longer. */
  #append(project: string, mark: object): Promise<void> {
    const append = () => appendFileSync(this.#fileOf(project), lineOf(mark), { mode: 0o600 });
    return this.#lock.run(project, async () => {
      try {
        append();
      } catch (cause) {
        // The directory is made only when it is missing.
        if (!isErrno(cause, 'ENOENT')) throw cause;
        await mkdir(this.#dir, { recursive: true, mode: 0o700 });
        append();
      }
    });
  }

  #fileOf(project: string): string {
    return join(this.#dir, projectFolder(project));
  }
}

/** A line that a crash cut ends where the next one begins. */
function lineOf(mark: object): string {
  return `\n${JSON.stringify(mark)}`;
}

function parse(line: string): Partial<CallMark> | null {
  try {
    const value: unknown = JSON.parse(line);
    // Written by `#append`, in a directory that only the daemon's user can enter.
    return isJsonObject(value) ? (value as Partial<CallMark>) : null;
  } catch {
    return null;
  }
}

function isWhole(mark: Partial<CallMark>): mark is CallMark {
  return mark.beganMs !== undefined;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return '';
    throw ContextdError.from(cause);
  }
}
