import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type { FileChange, Uncovered } from '../../sandbox/snapshots/messages.ts';

/** What one call did to the files of its project. */
export interface UndoRecord {
  readonly ref: string;
  /** Of the call; for an undo by a person, an id of its own. */
  readonly requestId: string;
  readonly tool: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly changes: readonly FileChange[];
  /** Changed, but cannot be put back. */
  readonly missed: readonly Uncovered[];
  /** True if other calls worked in the project meanwhile: some of the changes may be theirs. */
  readonly isShared: boolean;
}

/** `<time>-<ref>-<request>.json`; the time has 15 digits, so that names sort by it. */
const NAME = /^(\d{15})-(undo_[0-9a-z]{8})-(req_[0-9A-Z]{26})\.json$/;

interface Known {
  readonly name: string;
  readonly ref: string;
  readonly requestId: string;
  readonly atMs: number;
}

/** The records of all projects: one file each, complete or not there. */
export class UndoRecords {
  readonly #dir: string;

  constructor(undoDir: string) {
    this.#dir = join(undoDir, 'records');
  }

  async add(project: string, record: UndoRecord): Promise<void> {
    const dir = this.#of(project);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const name = `${String(Math.floor(record.atMs)).padStart(15, '0')}-${record.ref}-${record.requestId}.json`;
    const draft = join(dir, `.${name}`);
    await writeFile(draft, JSON.stringify(record), { mode: 0o600 });
    await rename(draft, join(dir, name));
  }

  /** `which`: a ref or the id of a request; '' is the last record. Throws NOT_FOUND. */
  async find(project: string, which: string): Promise<UndoRecord> {
    const all = await this.#list(project);
    const found = which === '' ? all.at(-1) : all.findLast((one) => one.ref === which || one.requestId === which);
    if (found !== undefined) return this.#read(project, found);
    if (which === '')
      throw new ContextdError('NOT_FOUND', `no call has changed files in ${project} that are still known`);
    throw new ContextdError('NOT_FOUND', `no call ${which} has changed files in ${project}`, {
      remedy:
        'Name a ref (undo_…) or a request id (req_…) of an answer, or nothing for the last call that changed files.',
    });
  }

  /** All of a project, the oldest first. */
  async all(project: string): Promise<UndoRecord[]> {
    const records: UndoRecord[] = [];
    for (const one of await this.#list(project)) records.push(await this.#read(project, one));
    return records;
  }

  /** Removes what is older than a time, and drafts that a crash left. */
  async removeBefore(project: string, beforeMs: number): Promise<void> {
    const dir = this.#of(project);
    for (const name of await namesIn(dir)) {
      const atMs = Number(NAME.exec(name)?.[1] ?? 0);
      if (atMs < beforeMs) await rm(join(dir, name), { force: true });
    }
  }

  async forget(project: string): Promise<void> {
    await rm(this.#of(project), { recursive: true, force: true });
  }

  async #list(project: string): Promise<Known[]> {
    return (await namesIn(this.#of(project))).sort().flatMap((name): Known[] => {
      const [, atMs = '', ref = '', requestId = ''] = NAME.exec(name) ?? [];
      return ref === '' ? [] : [{ name, ref, requestId, atMs: Number(atMs) }];
    });
  }

  async #read(project: string, { name }: Known): Promise<UndoRecord> {
    // Written by `add`, in a directory that only the daemon's user can enter.
    return JSON.parse(await readFile(join(this.#of(project), name), 'utf8'));
  }

  #of(project: string): string {
    return join(this.#dir, createHash('sha256').update(project).digest('hex').slice(0, 24));
  }
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return [];
    throw cause;
  }
}
