import { Worker } from 'node:worker_threads';
import type { Config } from '../../config/schema.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { RuleSources } from '../exact/rule-pack.ts';
import type { Finding } from '../finding.ts';
import type { NamedText } from '../leaves.ts';
import type { WorkspaceRules } from '../workspace-rules.ts';
import type { CollectRequest, ScanReply, ScanRequest, ScanThreadData, SeedRequest } from './scan-worker.ts';

/** Scans off the main thread, with a deadline. A failed scan is SCRUB_FAILED; the next call works again. */
export interface Scanner {
  /** Resolves when the rules are compiled. SCHEMA_INVALID names the file and the rule that are refused. */
  start(): Promise<void>;
  /** Ends the thread; calls that wait fail. Safe to call twice. */
  stop(): Promise<void>;
  /** Findings per text, each list in order of place and free of overlaps. `workspace`: what the project's own file does. */
  scan(texts: readonly NamedText[], workspace?: WorkspaceRules | null): Promise<Finding[][]>;
  /** The values worth masking in each of some `.env` files. Their text may be hostile. */
  envValues(texts: readonly string[]): Promise<string[][]>;
  /** Returns memory of an idle thread; a busy one is left alone. */
  collect(): void;
}

export interface ScannerDeps {
  config: Pick<Config['scrub'], 'deadline_base_ms' | 'deadline_per_kb_ms'>;
  logger: Logger;
  /** Read at every start of the thread. SCHEMA_INVALID and system errors pass through. */
  readRules(): Promise<RuleSources>;
  /** The compiled program of the thread; default: `scan-worker.js` beside this file. */
  program?: URL;
}

export function createScanner(deps: ScannerDeps): Scanner {
  return new WorkerScanner(deps);
}

/** Mebibytes of heap. Beyond this the thread ends and the call fails, not the daemon. */
const WORKER_HEAP_MB = 2048;
/** Milliseconds for a thread to compile the rules, on a machine under load. */
const LOAD_MS = 30_000;

type Work = Omit<ScanRequest, 'id'> | Omit<SeedRequest, 'id'>;
type WorkReply = Extract<ScanReply, { kind: 'scan' | 'seeds' }>;

interface Job {
  work: Work;
  /** UTF-16 characters, by which the deadline is set. */
  chars: number;
  resolve(reply: WorkReply): void;
  reject(error: ContextdError): void;
}

/** One thread, one job at a time. The deadline starts with the job; time in the queue does not count. */
class WorkerScanner implements Scanner {
  readonly #deps: ScannerDeps;
  readonly #queue: Job[] = [];
  #thread: Promise<ScanThread> | undefined;
  #busy = false;
  #stopped = false;

  constructor(deps: ScannerDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#stopped = false;
    await this.#openThread();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const job of this.#queue.splice(0)) job.reject(scrubFailed('the scanner was stopped'));
    await this.#dropThread();
  }

  async scan(texts: readonly NamedText[], workspace: WorkspaceRules | null = null): Promise<Finding[][]> {
    const reply = await this.#ask({ kind: 'scan', texts, workspace }, charsOf(texts.map(({ text }) => text)));
    return reply.kind === 'scan' ? reply.results : [];
  }

  async envValues(texts: readonly string[]): Promise<string[][]> {
    const reply = await this.#ask({ kind: 'seeds', texts }, charsOf(texts));
    return reply.kind === 'seeds' ? reply.results : [];
  }

  collect(): void {
    if (!this.#busy) void this.#thread?.then((thread) => thread.collect()).catch(() => undefined);
  }

  /** The reply is of the kind of the work, with one result for each text. */
  #ask(work: Work, chars: number): Promise<WorkReply> {
    if (this.#stopped) return Promise.reject(scrubFailed('the scanner was stopped'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ work, chars, resolve, reject });
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      try {
        const thread = await this.#liveThread();
        job.resolve(await thread.ask(job.work, this.#deadlineFor(job.chars)));
      } catch (thrown) {
        const failure = ContextdError.from(thrown);
        await this.#dropThread();
        this.#deps.logger.error('scrub.scan_failed', { problem: failure.message, texts: job.work.texts.length });
        job.reject(failure.code === 'SCRUB_FAILED' ? failure : scrubFailed('the rules cannot be used', failure));
        if (!this.#stopped) this.#openThread().catch(() => undefined);
      }
    }
    this.#busy = false;
  }

  #deadlineFor(chars: number): number {
    const { deadline_base_ms: base, deadline_per_kb_ms: perKb } = this.#deps.config;
    return base + (perKb * chars) / 1024;
  }

  /** If the thread died between two calls, no call fails. */
  async #liveThread(): Promise<ScanThread> {
    if ((await this.#openThread()).isDead) await this.#dropThread();
    return this.#openThread();
  }

  #openThread(): Promise<ScanThread> {
    if (this.#thread !== undefined) return this.#thread;
    const thread = openThread(this.#deps);
    this.#thread = thread;
    thread.catch(() => {
      if (this.#thread === thread) this.#thread = undefined;
    });
    return thread;
  }

  async #dropThread(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.then(
      (open) => open.end(),
      () => undefined,
    );
  }
}

async function openThread(deps: ScannerDeps): Promise<ScanThread> {
  const program = deps.program ?? new URL('./scan-worker.js', import.meta.url);
  const thread = new ScanThread(program, await deps.readRules());
  try {
    await thread.ready(LOAD_MS);
    return thread;
  } catch (thrown) {
    await thread.end();
    throw thrown;
  }
}

/** One worker thread. It answers one request at a time; any fault fails the waiting request. */
class ScanThread {
  readonly #worker: Worker;
  #waiting: { resolve(reply: ScanReply): void; reject(error: ContextdError): void } | undefined;
  #dead: ContextdError | undefined;
  /** Settles when the thread has warmed up or died. */
  readonly #warm = Promise.withResolvers<void>();
  #lastId = 0;

  constructor(program: URL, rules: ScanThreadData) {
    this.#worker = new Worker(program, {
      name: 'scrub',
      workerData: rules,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
    });
    this.#worker.on('message', (reply: ScanReply) => {
      if (reply.kind === 'warm') this.#warm.resolve();
      else this.#waiting?.resolve(reply);
    });
    this.#worker.on('error', () => this.#die());
    this.#worker.on('exit', () => this.#die());
  }

  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  async ready(withinMs: number): Promise<void> {
    const reply = await this.#next(withinMs);
    if (reply.kind === 'ready') return;
    throw new ContextdError('SCHEMA_INVALID', reply.kind === 'refused' ? reply.message : 'the rules cannot be read', {
      remedy: 'Correct the rule file. contextd never scrubs with an incomplete set of rules.',
    });
  }

  async ask(work: Work, withinMs: number): Promise<WorkReply> {
    const id = ++this.#lastId;
    const request: ScanRequest | SeedRequest = { ...work, id };
    // The deadline covers the search only, not the start of the thread.
    await this.#becomeWarm(LOAD_MS);
    this.#worker.postMessage(request);
    const reply = await this.#next(withinMs);
    if (isReplyTo(request, reply)) return reply;
    throw scrubFailed(`the search for secrets failed${reply.kind === 'failed' ? ` (${reply.problem})` : ''}`);
  }

  collect(): void {
    const request: CollectRequest = { kind: 'collect' };
    this.#worker.postMessage(request);
  }

  /** Resolves when the thread has ended. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #becomeWarm(withinMs: number): Promise<void> {
    const late = setTimeout(() => this.#warm.reject(scrubFailed('the thread did not warm up')), withinMs);
    await this.#warm.promise.finally(() => clearTimeout(late));
  }

  #next(withinMs: number): Promise<ScanReply> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    return new Promise<ScanReply>((resolve, reject) => {
      const late = setTimeout(
        () => reject(scrubFailed(`the search for secrets took longer than ${Math.round(withinMs)} ms`)),
        withinMs,
      );
      this.#waiting = {
        resolve: (reply) => {
          clearTimeout(late);
          resolve(reply);
        },
        reject: (error) => {
          clearTimeout(late);
          reject(error);
        },
      };
    });
  }

  #die(): void {
    this.#dead ??= scrubFailed('the thread that searches for secrets has ended');
    this.#waiting?.reject(this.#dead);
    this.#warm.resolve();
  }
}

function isReplyTo({ kind, id, texts }: ScanRequest | SeedRequest, reply: ScanReply): reply is WorkReply {
  if (reply.kind !== 'scan' && reply.kind !== 'seeds') return false;
  return reply.kind === kind && reply.id === id && reply.results.length === texts.length;
}

function charsOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function scrubFailed(problem: string, cause?: unknown): ContextdError {
  return new ContextdError('SCRUB_FAILED', `the output was withheld: ${problem}`, {
    remedy: 'Call again, with less output if it took too long. If it fails again, see `ctxd server logs`.',
    ...(cause === undefined ? {} : { cause }),
  });
}
