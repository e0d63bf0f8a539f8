import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { projectFolder } from '../../core/project-folder.ts';
import type { FileChange, Uncovered } from '../../sandbox/contract/snapshot-messages.ts';

/** Changes of one call to the files of its project. */
export interface UndoRecord {
  readonly ref: string;
  /** Of the call. An undo by a person has its own id. */
  readonly requestId: string;
  readonly tool: string;
  /** Of the call; for an undo, of the call that it undid. */
  readonly session: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** Empty if the call changed only uncovered paths. */
  readonly changes: readonly FileChange[];
  /** Changed paths that cannot be restored. */
  readonly missed: readonly Uncovered[];
  /** True if other calls ran in the project at the same time: some of the changes may be theirs. */
  readonly isShared: boolean;
  /** True if contextd ended before the call did: the changes are those until the next look at the files. */
  readonly isCutShort?: boolean;
  /** Request ids of other calls that the same end of contextd cut short: each of the changes may be theirs. Absent: none. */
  readonly cutShortBeside?: readonly string[];
}

/** `<time>-<ref>-<request>.json`. The time has 15 digits, so that names sort by time. */
const NAME = /^(\d{15})-(undo_[0-9a-z]{8})-(req_[0-9A-Z]{26})\.json$/;

/** Time in the name of a record or of its draft. */
const TIME = /^\.?(\d{15})-/;

interface Known {
  readonly name: string;
  readonly ref: string;
  readonly requestId: string;
  readonly atMs: number;
}

/** Records of all projects. One file each, written atomically. */
export class UndoRecords {
  readonly #dir: string;
  readonly #treesDir: string;

  constructor(undoDir: string) {
    this.#dir = join(undoDir, 'records');
    this.#treesDir = join(undoDir, 'trees');
  }

  async add(project: string, record: UndoRecord): Promise<void> {
    const dir = this.#of(project);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const name = `${String(Math.floor(record.atMs)).padStart(15, '0')}-${record.ref}-${record.requestId}.json`;
    const draft = join(dir, `.${name}`);
    await writeFile(draft, JSON.stringify(record), { mode: 0o600 });
    await rename(draft, join(dir, name));
  }

  /** `which`: a ref or a request id. Throws NOT_FOUND. */
  async find(project: string, which: string): Promise<UndoRecord> {
    const found = (await this.#list(project)).findLast((one) => one.ref === which || one.requestId === which);
    if (found !== undefined) return this.#read(project, found);
    throw new ContextdError('NOT_FOUND', `no call ${which} has changed files in ${project}`, {
      remedy: 'Name an id that `ctxd undo --list` shows, or none for the last call that changed files.',
    });
  }

  async *newestFirst(project: string): AsyncGenerator<UndoRecord> {
    for (const one of (await this.#list(project)).reverse()) yield this.#read(project, one);
  }

  /** All records of a project, oldest first. */
  async all(project: string): Promise<UndoRecord[]> {
    const records: UndoRecord[] = [];
    for (const one of await this.#list(project)) records.push(await this.#read(project, one));
    return records;
  }

  /** Removes records older than a time, and equally old drafts left by a crash. Returns the number removed. */
  async removeBefore(project: string, beforeMs: number): Promise<number> {
    const dir = this.#of(project);
    const old = (await namesIn(dir)).filter((name) => Number(TIME.exec(name)?.[1] ?? 0) < beforeMs);
    for (const name of old) await rm(join(dir, name), { force: true });
    return old.length;
  }

  /** Keeps a saved list's contents until every holder has released it. `holder`: lower-case letters, digits and `_`. */
  async holdTree(project: string, tree: string, holder: string): Promise<void> {
    const dir = join(this.#treesDir, projectFolder(project));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeFile(join(dir, `${tree}.${holder}`), '', { mode: 0o600 });
  }

  async releaseTree(project: string, tree: string, holder: string): Promise<void> {
    await rm(join(this.#treesDir, projectFolder(project), `${tree}.${holder}`), { force: true });
  }

  /** Lists held by a holder; without one, all held lists. */
  async trees(project: string, holder?: string): Promise<string[]> {
    const held = (await namesIn(join(this.#treesDir, projectFolder(project)))).map((name) => name.split('.'));
    return [...new Set(held.flatMap(([tree = '', by]) => (holder === undefined || by === holder ? [tree] : [])))];
  }

  async forget(project: string): Promise<void> {
    for (const dir of [this.#of(project), join(this.#treesDir, projectFolder(project))])
      await rm(dir, { recursive: true, force: true });
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
    return join(this.#dir, projectFolder(project));
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
