import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StatsRow } from '../call/management.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { OpenInputs } from './open-inputs.ts';
import { type AuditRecord, askedRecord, interruptedRecord, type StartFacts, startRecord } from './record.ts';
import type { RecordReader } from './record-reader.ts';
import { dayOf, listSegments } from './segments.ts';
import { type OpenStart, sumAuditLog } from './stats.ts';
import { StoredSums } from './stored-sums.ts';
import { findCalls, findStarts, readTail } from './tail.ts';
import { SegmentWriter } from './writer.ts';

export { type AuditRecord, PERSON_DOOR, type StartFacts } from './record.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const FOUND_DAYS = 31;

/**
 * Append-only JSON lines in segments, one per UTC day or more: `audit-YYYY-MM-DD.jsonl`, 0600, opened with O_APPEND. A keyed
 * chain covers them (chain.ts, verify.ts). Records that arrive during a write share the next one, and its wait for the disk.
 */
export interface AuditLog {
  /** Creates the folder and the key, and goes on with the chain. Errors: AUDIT_FAILED. */
  start(): Promise<void>;
  /** Writes the waiting records to the disk, then closes the segment. Idempotent. */
  stop(): Promise<void>;
  /**
   * Resolves once the record is on the disk. `onWritten` is called before that, when the death of the daemon can no longer undo the
   * record. Errors: AUDIT_FAILED.
   */
  append(record: AuditRecord, onWritten?: () => void): Promise<void>;
  /** Records that a rule asks a person about a call, which waits. Errors: AUDIT_FAILED; the call must then not wait. */
  ask(facts: StartFacts, rule: string): Promise<void>;
  /** Records the end of a call that waited and was not started. As `append`. */
  endAsked(record: AuditRecord, onWritten?: () => void): Promise<void>;
  /**
   * Records the start of a call. Its input is recorded at its end. The record need not be on the disk before the call runs: it
   * is before the one of the end. Errors: AUDIT_FAILED; the call must then not run.
   */
  begin(facts: StartFacts): Promise<void>;
  /** Records the end of a started call. As `append`. If it fails, the log holds only the start. */
  end(record: AuditRecord, onWritten?: () => void): Promise<void>;
  /** Goes on with calls that began in the daemon before, and with none of their ends written. */
  resume(requestIds: readonly string[]): void;
  /**
   * Writes an INTERRUPTED end for each call that a dead daemon left open, and returns these. `mask` masks what the journal
   * has of a call. Errors: AUDIT_FAILED.
   */
  endInterrupted(calls: readonly OpenCall[], mask: (text: string) => string): Promise<AuditRecord[]>;
  /**
   * The newest `limit` records (of one project), oldest first, across days. A call without an end is reported by its
   * start record: `error_code` is null while the call runs, and INTERRUPTED if its end could not be written. `reader` counts the
   * lines that it could not read.
   */
  tail(limit: number, projectRoot?: string, reader?: RecordReader): Promise<AuditRecord[]>;
  /**
   * Ended calls of a project in the last 31 days, oldest first: those with the ids, or the newest 500 of a session (""
   * means the session with the newest call).
   */
  find(projectRoot: string, wanted: { requestIds: readonly string[] } | { session: string }): Promise<AuditRecord[]>;
  /** The segments, oldest first, each with the bytes that it has between two writes. */
  segments(): Promise<SegmentSize[]>;
  /**
   * Sums of the newest `days` UTC days, including today and days after it, which there are if the clock went back. Oldest first.
   * `projectRoot` "" means every project.
   */
  stats(days: number, projectRoot: string): Promise<StatsRow[]>;
}

export interface AuditDeps {
  /** Paths.auditDir. */
  dir: string;
  clock: Clock;
  logger: Logger;
  /** False: no record waits for the disk, so that a loss of power may take the newest. Default: true. */
  isDurable?: boolean;
  /** UTC days that are kept, including today. 0: all. Default: 0. */
  keepDays?: number;
  /** Called when a segment has begun, and the one before is sealed and on the disk. Must not throw. */
  onSegment?(): void;
  /** Called for each record once it is in the file. Must not throw. */
  onRecord?(record: AuditRecord): void;
}

/** What is known of a call that a dead daemon left open, besides what the log has. */
export interface OpenCall {
  readonly requestId: string;
  readonly tool: string;
  /** Project root. */
  readonly project: string;
  readonly session: string;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
}

export interface SegmentSize {
  /** File name in `AuditDeps.dir`. */
  readonly name: string;
  readonly bytes: number;
}

interface Waiting {
  record: AuditRecord;
  mustBeDurable: boolean;
  onWritten?(): void;
  resolve(): void;
  reject(error: ContextdError): void;
}

export function createAuditLog(deps: AuditDeps): AuditLog {
  return new Audit(deps);
}

class Audit implements AuditLog {
  readonly #deps: AuditDeps;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  readonly #writer: SegmentWriter;
  #stopped = false;
  /** The UTC day on which old segments were removed. */
  #prunedOn = '';
  /** Request ids of calls that began in this daemon and are still running. */
  readonly #running = new Set<string>();
  readonly #inputs: OpenInputs;
  readonly #sums: StoredSums;

  constructor(deps: AuditDeps) {
    this.#deps = deps;
    this.#writer = new SegmentWriter(deps.dir, () => deps.clock.now());
    this.#inputs = new OpenInputs(join(dirname(deps.dir), 'open-calls'));
    this.#sums = new StoredSums(deps.dir);
  }

  async start(): Promise<void> {
    try {
      await this.#writer.open();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#writing;
    this.#writer.close();
  }

  append(record: AuditRecord, onWritten?: () => void): Promise<void> {
    return this.#append(record, this.#deps.isDurable ?? true, onWritten);
  }

  #append(record: AuditRecord, mustBeDurable: boolean, onWritten?: () => void): Promise<void> {
    if (this.#stopped) return Promise.reject(this.#failure(new Error('the audit log is closed')));
    return new Promise((settle, reject) => {
      const resolve = (): void => {
        this.#deps.onRecord?.(record);
        settle();
      };
      const hook = onWritten === undefined ? {} : { onWritten };
      this.#waiting.push({ record, mustBeDurable, resolve, reject, ...hook });
      this.#writing ??= this.#writeAll();
    });
  }

  ask(facts: StartFacts, rule: string): Promise<void> {
    return this.#open(facts, askedRecord(facts, rule));
  }

  async endAsked(record: AuditRecord, onWritten?: () => void): Promise<void> {
    await this.append(record, onWritten);
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
      await this.#append(record, false);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async end(record: AuditRecord, onWritten?: () => void): Promise<void> {
    try {
      await this.append({ ...record, began: true }, onWritten);
      this.#inputs.remove(record.request_id);
    } finally {
      this.#running.delete(record.request_id);
    }
  }

  resume(requestIds: readonly string[]): void {
    for (const id of requestIds) this.#running.add(id);
  }

  async endInterrupted(calls: readonly OpenCall[], mask: (text: string) => string): Promise<AuditRecord[]> {
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

  async tail(limit: number, projectRoot?: string, reader?: RecordReader): Promise<AuditRecord[]> {
    try {
      const records = await readTail(this.#deps.dir, limit, projectRoot, reader);
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

  async segments(): Promise<SegmentSize[]> {
    const segments = await listSegments(this.#deps.dir);
    // Lines are written synchronously, so that no line is cut here.
    return segments.map(({ name, path }) => ({ name, bytes: statSync(path).size }));
  }

  async stats(days: number, projectRoot: string): Promise<StatsRow[]> {
    const since = dayOf(this.#deps.clock.now() - (days - 1) * DAY_MS);
    const isLost = ({ request_id }: OpenStart): boolean => !this.#running.has(request_id);
    return sumAuditLog(this.#deps.dir, since, projectRoot, isLost, { sumsOf: this.#sums.of });
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
      const { segment } = this.#writer;
      try {
        await this.#writer.append(
          group.map(({ record }) => record),
          group.some(({ mustBeDurable }) => mustBeDurable),
          () => {
            for (const { onWritten } of group) onWritten?.();
          },
        );
        if (this.#writer.segment !== segment) this.#deps.onSegment?.();
        for (const waiting of group) waiting.resolve();
        await this.#pruneOnceADay();
      } catch (error) {
        this.#writer.drop();
        const failure = this.#failure(error);
        this.#deps.logger.error('audit.failed', { dir: this.#deps.dir }, error);
        for (const waiting of group) waiting.reject(failure);
      }
    }
    this.#writing = undefined;
  }

  /** In the loop of the writer, so that no record is written meanwhile. A failure is logged, and tried again the next day. */
  async #pruneOnceADay(): Promise<void> {
    const { keepDays = 0, clock, logger } = this.#deps;
    const today = dayOf(clock.now());
    if (keepDays === 0 || this.#prunedOn === today) return;
    this.#prunedOn = today;
    try {
      const names = await this.#writer.prune(dayOf(clock.now() - (keepDays - 1) * DAY_MS));
      if (names.length > 0) logger.info('audit.pruned', { names });
    } catch (error) {
      logger.error('audit.not_pruned', {}, error);
    }
  }

  #unreadable(cause: unknown): ContextdError {
    return new ContextdError('INTERNAL_ERROR', `the audit log in ${this.#deps.dir} could not be read`, {
      remedy: 'Check that the folder is there and belongs to this user.',
      cause,
    });
  }

  #failure(cause: unknown): ContextdError {
    if (cause instanceof ContextdError) return cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new ContextdError('AUDIT_FAILED', `the audit log in ${this.#deps.dir} cannot be written: ${reason}`, {
      remedy: 'Free disk space or make the folder writable. Until then no call is answered.',
      cause,
    });
  }
}

/** What the journal knows of a call that was interrupted before the log had its start: no door and no input. */
function factsOf(
  { requestId, tool, project, session, startedMs }: OpenCall,
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
