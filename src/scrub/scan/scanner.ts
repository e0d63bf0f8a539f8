import type { Config } from '../../config/schema.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Finding } from '../finding.ts';
import type { NamedText } from '../leaves.ts';
import type { WorkspaceRules } from '../workspace-rules.ts';
import { openThread, type ScanThread, scrubFailed, type ThreadDeps, type Work, type WorkReply } from './scan-thread.ts';

/**
 * Scans off the main thread, with a deadline. A short text never waits for a long one. A failed scan is SCRUB_FAILED; the
 * next call works again.
 */
export interface Scanner {
  /** Resolves when the rules are compiled. SCHEMA_INVALID names the file and the rule that are refused. */
  start(): Promise<void>;
  /** Ends the threads; calls that wait fail. Safe to call twice. */
  stop(): Promise<void>;
  /** Findings per text, each list in order of place and free of overlaps. `workspace`: what the project's own file does. */
  scan(texts: readonly NamedText[], workspace?: WorkspaceRules | null): Promise<Finding[][]>;
  /**
   * Like `scan`, for texts that may turn out not to be needed. Null if a long text is being searched or waits: such a search must
   * not delay others.
   */
  scanEarly(texts: readonly NamedText[], workspace?: WorkspaceRules | null): Promise<Finding[][]> | null;
  /** The values worth masking in each of some `.env` files. Their text may be hostile. */
  envValues(texts: readonly string[]): Promise<string[][]>;
  /** Returns memory of idle threads; busy ones are left alone. */
  collect(): void;
}

export interface ScannerDeps extends ThreadDeps {
  config: Pick<Config['scrub'], 'deadline_base_ms' | 'deadline_per_kb_ms'>;
  logger: Logger;
}

export function createScanner(deps: ScannerDeps): Scanner {
  return new WorkerScanner(deps);
}

interface Job {
  work: Work;
  /** UTF-16 characters, by which the deadline is set. */
  chars: number;
  resolve(reply: WorkReply): void;
  reject(error: ContextdError): void;
}

/** Jobs with fewer characters never wait for those with more. */
const SHORT_CHARS = 65_536;
/** Most threads, and most of them that search long texts at a time: one is always left for short ones. */
const MAX_THREADS = 3;
const MAX_LONG = 2;
/** Milliseconds after which an idle thread is ended, except the last one: a thread holds some 80 MB. */
const IDLE_MS = 60_000;
/** Milliseconds after which an idle thread warms up: no call waits for that, and a short-lived daemon does without. */
const WARM_UP_MS = 3_000;

/**
 * Several threads with one job each. Another thread starts when all others search long texts, so that a short text finds
 * one that is ready. The deadline starts with the job; time in the queue does not count.
 */
class WorkerScanner implements Scanner {
  readonly #deps: ScannerDeps;
  readonly #lanes: Lane[];
  readonly #short: Job[] = [];
  readonly #long: Job[] = [];
  #stopped = false;

  constructor(deps: ScannerDeps) {
    this.#deps = deps;
    this.#lanes = [new Lane(deps)];
  }

  async start(): Promise<void> {
    this.#stopped = false;
    await this.#lanes[0]?.open();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const job of [...this.#short.splice(0), ...this.#long.splice(0)])
      job.reject(scrubFailed('the scanner was stopped'));
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  async scan(texts: readonly NamedText[], workspace: WorkspaceRules | null = null): Promise<Finding[][]> {
    const reply = await this.#ask({ kind: 'scan', texts, workspace }, charsOf(texts.map(({ text }) => text)));
    return reply.kind === 'scan' ? reply.results : [];
  }

  scanEarly(texts: readonly NamedText[], workspace: WorkspaceRules | null = null): Promise<Finding[][]> | null {
    return this.#long.length > 0 || this.#longUnderWay() > 0 ? null : this.scan(texts, workspace);
  }

  async envValues(texts: readonly string[]): Promise<string[][]> {
    const reply = await this.#ask({ kind: 'seeds', texts }, charsOf(texts));
    return reply.kind === 'seeds' ? reply.results : [];
  }

  collect(): void {
    for (const lane of this.#lanes) if (lane.job === null) lane.collect();
  }

  /** The reply is of the kind of the work, with one result for each text. */
  #ask(work: Work, chars: number): Promise<WorkReply> {
    if (this.#stopped) return Promise.reject(scrubFailed('the scanner was stopped'));
    return new Promise((resolve, reject) => {
      const job = { work, chars, resolve, reject };
      (isLong(job) ? this.#long : this.#short).push(job);
      this.#assign();
    });
  }

  /** Gives waiting jobs to free threads, short ones first. */
  #assign(): void {
    for (let lane = this.#freeLane(); lane !== undefined; lane = this.#freeLane()) {
      const job = this.#short.shift() ?? (this.#longUnderWay() < MAX_LONG ? this.#long.shift() : undefined);
      if (job === undefined) return;
      void this.#run(lane, job);
    }
    if (this.#lanes.length >= MAX_THREADS || this.#longUnderWay() < this.#lanes.length) return;
    const spare = new Lane(this.#deps);
    this.#lanes.push(spare);
    // If it fails, the job that gets this thread reports it.
    spare.open().catch(() => undefined);
    this.#assign();
  }

  async #run(lane: Lane, job: Job): Promise<void> {
    try {
      await lane.run(job, this.#deadlineFor(job.chars), () => !this.#stopped);
    } finally {
      this.#assign();
      if (!this.#stopped) this.#endWhenIdle(lane);
    }
  }

  #endWhenIdle(lane: Lane): void {
    lane.whenIdle(IDLE_MS, () => {
      if (this.#lanes.length === 1) return;
      this.#lanes.splice(this.#lanes.indexOf(lane), 1);
      void lane.close();
    });
  }

  #freeLane(): Lane | undefined {
    return this.#lanes.find(({ job }) => job === null);
  }

  #longUnderWay(): number {
    return this.#lanes.filter(({ job }) => job !== null && isLong(job)).length;
  }

  #deadlineFor(chars: number): number {
    const { deadline_base_ms: base, deadline_per_kb_ms: perKb } = this.#deps.config;
    return base + (perKb * chars) / 1024;
  }
}

function isLong({ chars }: Job): boolean {
  return chars > SHORT_CHARS;
}

/** A thread that is replaced when it fails, and its job. */
class Lane {
  readonly #deps: ScannerDeps;
  #thread: Promise<ScanThread> | undefined;
  #job: Job | null = null;
  #idle: NodeJS.Timeout | undefined;
  #warmUp: NodeJS.Timeout | undefined;

  constructor(deps: ScannerDeps) {
    this.#deps = deps;
  }

  /** Null: it is free. */
  get job(): Job | null {
    return this.#job;
  }

  /** Settles the job and never throws. `mayRestart`: asked after a failure. */
  async run(job: Job, deadlineMs: number, mayRestart: () => boolean): Promise<void> {
    this.#job = job;
    this.#clearTimers();
    try {
      const thread = await this.#liveThread();
      job.resolve(await thread.ask(job.work, deadlineMs));
    } catch (thrown) {
      const failure = ContextdError.from(thrown);
      await this.close();
      this.#deps.logger.error('scrub.scan_failed', { problem: failure.message, texts: job.work.texts.length });
      job.reject(failure.code === 'SCRUB_FAILED' ? failure : scrubFailed('the rules cannot be used', failure));
      if (mayRestart()) this.open().catch(() => undefined);
    }
    this.#job = null;
    this.#warmUpWhenIdle();
  }

  /** Calls `action` once if no job comes for some time. The timer does not keep the process alive. */
  whenIdle(ms: number, action: () => void): void {
    clearTimeout(this.#idle);
    if (this.#job === null) this.#idle = setTimeout(action, ms).unref();
  }

  collect(): void {
    void this.#thread?.then((thread) => thread.collect()).catch(() => undefined);
  }

  open(): Promise<ScanThread> {
    if (this.#thread !== undefined) return this.#thread;
    const thread = openThread(this.#deps);
    this.#thread = thread;
    thread.catch(() => {
      if (this.#thread === thread) this.#thread = undefined;
    });
    this.#warmUpWhenIdle();
    return thread;
  }

  /** Ends the thread; its job fails. The next job starts another one. */
  async close(): Promise<void> {
    this.#clearTimers();
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.then(
      (open) => open.end(),
      () => undefined,
    );
  }

  #warmUpWhenIdle(): void {
    clearTimeout(this.#warmUp);
    const warmUp = (): void => void this.#thread?.then((thread) => thread.warmUp()).catch(() => undefined);
    if (this.#thread !== undefined && this.#job === null) this.#warmUp = setTimeout(warmUp, WARM_UP_MS).unref();
  }

  #clearTimers(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#warmUp);
  }

  /** If the thread died between two calls, no call fails. */
  async #liveThread(): Promise<ScanThread> {
    if ((await this.open()).isDead) await this.close();
    return this.open();
  }
}

function charsOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
