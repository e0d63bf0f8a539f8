import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { quoteName } from '../../core/own-line.ts';
import { toText } from '../../fs/raw-path.ts';
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

  /**
   * `which`: a ref or a request id; '' is the last record. Throws NOT_FOUND. Throws CONFLICT if nothing of the last
   * record can be restored: an older call is then undone only by its name.
   */
  async find(project: string, which: string): Promise<UndoRecord> {
    const all = await this.#list(project);
    if (which === '') return this.#last(project, all);
    const found = all.findLast((one) => one.ref === which || one.requestId === which);
    if (found !== undefined) return this.#read(project, found);
    throw new ContextdError('NOT_FOUND', `no call ${which} has changed files in ${project}`, {
      remedy:
        'Name a ref (undo_…) or a request id (req_…) of an answer, or nothing for the last call that changed files.',
    });
  }

  async #last(project: string, all: readonly Known[]): Promise<UndoRecord> {
    const newestFirst = all.toReversed();
    const [newest] = newestFirst;
    if (newest === undefined)
      throw new ContextdError('NOT_FOUND', `no call has changed files in ${project} that are still known`);
    const last = await this.#read(project, newest);
    if (last.changes.length > 0) return last;
    throw nothingCovered(last, await this.#firstWithChanges(project, newestFirst));
  }

  async #firstWithChanges(project: string, records: readonly Known[]): Promise<UndoRecord | null> {
    for (const known of records) {
      const record = await this.#read(project, known);
      if (record.changes.length > 0) return record;
    }
    return null;
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
    const dir = join(this.#treesDir, nameOf(project));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeFile(join(dir, `${tree}.${holder}`), '', { mode: 0o600 });
  }

  async releaseTree(project: string, tree: string, holder: string): Promise<void> {
    await rm(join(this.#treesDir, nameOf(project), `${tree}.${holder}`), { force: true });
  }

  /** Lists held by a holder; without one, all held lists. */
  async trees(project: string, holder?: string): Promise<string[]> {
    const held = (await namesIn(join(this.#treesDir, nameOf(project)))).map((name) => name.split('.'));
    return [...new Set(held.flatMap(([tree = '', by]) => (holder === undefined || by === holder ? [tree] : [])))];
  }

  async forget(project: string): Promise<void> {
    for (const dir of [this.#of(project), join(this.#treesDir, nameOf(project))])
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
    return join(this.#dir, nameOf(project));
  }
}

function nothingCovered({ tool, atMs, missed }: UndoRecord, older: UndoRecord | null): ContextdError {
  const [first] = missed;
  const more = missed.length > 1 ? ` and ${missed.length - 1} more` : '';
  const what = first === undefined ? '' : `: ${quoteName(toText(first.path))} (${first.why})${more}`;
  const when = (ms: number): string => new Date(ms).toISOString();
  return new ContextdError(
    'CONFLICT',
    `the last call that changed files, ${tool} at ${when(atMs)}, changed only what undo does not cover${what}`,
    older === null
      ? { remedy: 'Nothing was put back, and no older call can be taken back.' }
      : {
          remedy: `Nothing was put back. \`ctxd undo ${older.ref}\` takes back the call before, ${older.tool} at ${when(older.atMs)}.`,
        },
  );
}

function nameOf(project: string): string {
  return createHash('sha256').update(project).digest('hex').slice(0, 24);
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (cause) {
    if (isErrno(cause, 'ENOENT')) return [];
    throw cause;
  }
}
