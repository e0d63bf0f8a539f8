import { fstatSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StatsRow } from '../call/management.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { type AuditRecord, askedRecord, interruptedRecord, type StartFacts, startRecord } from './audit-record.ts';
import { sumAuditLog } from './audit-stats.ts';
import { dayFile, findCalls, findStarts, readTail } from './audit-tail.ts';
import type { JournalRow } from './journal.ts';
import { OpenInputs } from './open-inputs.ts';

export { type AuditRecord, PERSON_DOOR, type StartFacts } from './audit-record.ts';

const NEWLINE = 0x0a;
const DAY_MS = 24 * 60 * 60 * 1000;
const FOUND_DAYS = 31;

/**
 * Append-only JSON lines, one file per UTC day: `audit-YYYY-MM-DD.jsonl`, 0600, opened with O_APPEND. A record is never
 * split across two writes; records that arrive during a write share the next one. The file is not synced: an
 * acknowledged record survives a crash of the daemon, but not a power loss.
 */
export interface AuditLog {
  /** Creates the folder and opens today's file. Errors: AUDIT_FAILED. */
  start(): Promise<void>;
  /** Writes the waiting records, then closes the file. Idempotent. */
  stop(): Promise<void>;
  /** Resolves once the record is in the file. Errors: AUDIT_FAILED. */
  append(record: AuditRecord): Promise<void>;
  /** Records that a rule asks a person about a call, which waits. Errors: AUDIT_FAILED; the call must then not wait. */
  ask(facts: StartFacts, rule: string): Promise<void>;
  /** Records the end of a call that waited and was not started. Errors: AUDIT_FAILED. */
  endAsked(record: AuditRecord): Promise<void>;
  /**
   * Records the start of a call. Its input is recorded at its end. Errors: AUDIT_FAILED; the call must then not run.
   */
  begin(facts: StartFacts): Promise<void>;
  /** Records the end of a started call. Errors: AUDIT_FAILED; the log then holds only the start. */
  end(record: AuditRecord): Promise<void>;
  /**
   * Writes an INTERRUPTED end for each call that a dead daemon left open, and returns these. `mask` masks what the journal
   * has of a call. Errors: AUDIT_FAILED.
   */
  endInterrupted(calls: readonly JournalRow[], mask: (text: string) => string): Promise<AuditRecord[]>;
  /**
   * The newest `limit` records (of one project), oldest first, across days. A call without an end is reported by its
   * start record: `error_code` is null while the call runs, and INTERRUPTED if its end could not be written.
   */
  tail(limit: number, projectRoot?: string): Promise<AuditRecord[]>;
  /**
   * Ended calls of a project in the last 31 days, oldest first: those with the ids, or the newest 500 of a session (""
   * means the session with the newest call).
   */
  find(projectRoot: string, wanted: { requestIds: readonly string[] } | { session: string }): Promise<AuditRecord[]>;
  /** Sums of the newest `days` UTC days, including today, oldest first. `projectRoot` "" means every project. */
  stats(days: number, projectRoot: string): Promise<StatsRow[]>;
}

export interface AuditDeps {
  /** Paths.auditDir. */
  dir: string;
  clock: Clock;
  logger: Logger;
  /** Called for each record once it is in the file. Must not throw. */
  onRecord?(record: AuditRecord): void;
}

interface Waiting {
  line: string;
  resolve(): void;
  reject(error: ContextdError): void;
}

interface OpenDay {
  path: string;
  handle: FileHandle;
}

export function createAuditLog(deps: AuditDeps): AuditLog {
  return new Audit(deps);
}

class Audit implements AuditLog {
  readonly #deps: AuditDeps;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #day: OpenDay | undefined;
  #stopped = false;
  /** Request ids of calls that began in this daemon and are still running. */
  readonly #running = new Set<string>();
  readonly #inputs: OpenInputs;

  constructor(deps: AuditDeps) {
    this.#deps = deps;
    this.#inputs = new OpenInputs(join(dirname(deps.dir), 'open-calls'));
  }

  async start(): Promise<void> {
    try {
      await mkdir(this.#deps.dir, { recursive: true, mode: 0o700 });
      await this.#openToday();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#writing;
    await this.#close();
  }

  append(record: AuditRecord): Promise<void> {
    if (this.#stopped) return Promise.reject(this.#failure(new Error('the audit log is closed')));
    return new Promise((settle, reject) => {
      const resolve = (): void => {
        this.#deps.onRecord?.(record);
        settle();
      };
      this.#waiting.push({ line: `${JSON.stringify(record)}\n`, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  ask(facts: StartFacts, rule: string): Promise<void> {
    return this.#open(facts, askedRecord(facts, rule));
  }

  async endAsked(record: AuditRecord): Promise<void> {
    await this.append(record);
    this.#inputs.remove(record.request_id);
  }

  async begin(facts: StartFacts): Promise<void> {
    this.#running.add(facts.request_id);
    try {
      await this.#open(facts, startRecord(facts));
    } catch (error) {
      this.#running.delete(facts.request_id);
      throw error;
    }
  }

  async #open(facts: StartFacts, record: AuditRecord): Promise<void> {
    try {
      this.#inputs.put(facts.request_id, facts.input);
      await this.append(record);
    } catch (error) {
      throw error instanceof ContextdError ? error : this.#failure(error);
    }
  }

  async end(record: AuditRecord): Promise<void> {
    try {
      await this.append({ ...record, began: true });
      this.#inputs.remove(record.request_id);
    } finally {
      this.#running.delete(record.request_id);
    }
  }

  async endInterrupted(calls: readonly JournalRow[], mask: (text: string) => string): Promise<AuditRecord[]> {
    const ends: AuditRecord[] = [];
    if (calls.length === 0) return ends;
    const ids = calls.map(({ requestId }) => requestId);
    const starts = await findStarts(this.#deps.dir, ids, Math.min(...calls.map(({ startedMs }) => startedMs)));
    for (const call of calls) {
      const start = starts.get(call.requestId);
      if (start === null) continue;
      const facts = { ...(start ?? factsOf(call, mask)), input: this.#inputs.read(call.requestId) };
      const end = interruptedRecord(facts, start);
      await this.append(end);
      this.#inputs.remove(call.requestId);
      ends.push(end);
    }
    return ends;
  }

  async tail(limit: number, projectRoot?: string): Promise<AuditRecord[]> {
    try {
      const records = await readTail(this.#deps.dir, limit, projectRoot);
      return records.map((record) => this.#withOpenInput(record));
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  async find(
    projectRoot: string,
    wanted: { requestIds: readonly string[] } | { session: string },
  ): Promise<AuditRecord[]> {
    try {
      return await findCalls(this.#deps.dir, projectRoot, wanted, this.#deps.clock.now() - FOUND_DAYS * DAY_MS);
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  async stats(days: number, projectRoot: string): Promise<StatsRow[]> {
    const today = this.#deps.clock.now();
    const names = Array.from({ length: days }, (_, back) => dayOf(today - (days - 1 - back) * DAY_MS));
    return sumAuditLog(this.#deps.dir, names, projectRoot, (record) => this.#isLost(record));
  }

  /** The record of a call that has not ended, with the input that is recorded at its end. */
  #withOpenInput(record: AuditRecord): AuditRecord {
    if (record.kind !== 'started' && record.kind !== 'asked') return record;
    const open = { ...record, input: this.#inputs.read(record.request_id) };
    return this.#isLost(record) ? { ...open, error_code: 'INTERRUPTED' } : open;
  }

  /** True for a start record whose call has no end and is not running. */
  #isLost({ kind, request_id }: AuditRecord): boolean {
    return kind === 'started' && !this.#running.has(request_id);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#writeGroup(group);
        for (const waiting of group) waiting.resolve();
      } catch (error) {
        await this.#close();
        const failure = this.#failure(error);
        this.#deps.logger.error('audit.failed', { dir: this.#deps.dir }, error);
        for (const waiting of group) waiting.reject(failure);
      }
    }
    this.#writing = undefined;
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const { handle } = await this.#openToday();
    const text = Buffer.from(group.map((waiting) => waiting.line).join(''), 'utf8');
    // Synchronous, because a write to the page cache is faster than handing it to another thread.
    const bytesWritten = writeSync(handle.fd, text);
    if (bytesWritten < text.length) throw new Error(`only ${bytesWritten} of ${text.length} bytes were written`);
  }

  /** Today's file. Reopens it if the day changed or the file was removed. */
  async #openToday(): Promise<OpenDay> {
    const path = join(this.#deps.dir, dayFile(this.#deps.clock.now()));
    if (this.#day?.path === path && fstatSync(this.#day.handle.fd).nlink > 0) return this.#day;
    await this.#close();
    this.#day = { path, handle: await openForAppend(path) };
    return this.#day;
  }

  async #close(): Promise<void> {
    const day = this.#day;
    this.#day = undefined;
    await day?.handle.close().catch(() => undefined);
  }

  #unreadable(cause: unknown): ContextdError {
    return new ContextdError('INTERNAL_ERROR', `the audit log in ${this.#deps.dir} could not be read`, {
      remedy: 'Check that the folder is there and belongs to this user.',
      cause,
    });
  }

  #failure(cause: unknown): ContextdError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new ContextdError('AUDIT_FAILED', `the audit log in ${this.#deps.dir} cannot be written: ${reason}`, {
      remedy: 'Free disk space or make the folder writable. Until then no call is answered.',
      cause,
    });
  }
}

/** What the journal knows of a call that was interrupted before the log had its start: no door and no input. */
function factsOf(
  { requestId, tool, project, session, startedMs }: JournalRow,
  mask: (text: string) => string,
): StartFacts {
  return {
    time: new Date(startedMs).toISOString(),
    request_id: requestId,
    session: mask(session),
    project,
    door: '',
    tool: mask(tool),
    input: null,
  };
}

/** The UTC day of a time in milliseconds: `2026-01-31`. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Terminates a last line torn by a crash or a full disk, so that the next record starts on its own line. */
async function openForAppend(path: string): Promise<FileHandle> {
  const handle = await open(path, 'a+', 0o600);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return handle;
    if ((stats.mode & 0o077) !== 0) await handle.chmod(0o600);
    if (await isTorn(handle, stats.size)) await handle.write('\n');
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE;
}
