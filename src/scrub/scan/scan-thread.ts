import { Worker } from 'node:worker_threads';
import { Channel } from '../../core/channel.ts';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import { ownProgram } from '../../core/own-program.ts';
import type { RuleSources } from '../exact/rule-pack.ts';
import type { ScanReply, ScanRequest, ScanThreadData, SeedRequest, UpkeepRequest } from './worker/messages.ts';

/** What a thread is asked for. */
export type Work = Omit<ScanRequest, 'id'> | Omit<SeedRequest, 'id'>;
export type WorkReply = Extract<ScanReply, { kind: 'scan' | 'seeds' }>;

/** Mebibytes of heap. Beyond this the thread ends and the call fails, not the daemon. */
const WORKER_HEAP_MB = 2048;
/**
 * The deadline of a search counts the thread's processor time: on a busy machine a search that does well takes longer by
 * the clock, and its output must not be withheld for that. By the clock it may take this many times the deadline.
 */
const CLOCK_FACTOR = 10;
/** Milliseconds for the thread to say how much it has used, and between two looks at it. */
const USAGE_MS = 1_000;
const LOOK_AGAIN_MS = 100;
/** Milliseconds for a thread to compile the rules, on a machine under load. */
const LOAD_MS = 30_000;
/** Milliseconds of processor time for expressions that a search is the first to need, as long as a thread is cold. */
const COLD_MS = 3_000;

export interface ThreadDeps {
  /** Read at every start of the thread. SCHEMA_INVALID and system errors pass through. */
  readRules(): Promise<RuleSources>;
  /** The compiled program of the thread; default: `worker/main.js`. */
  program?: URL;
}

/** Starts a thread; resolves when its rules are compiled. */
export async function openThread(deps: ThreadDeps): Promise<ScanThread> {
  const program = deps.program ?? ownProgram(new URL('./worker/main.js', import.meta.url));
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
export class ScanThread {
  readonly #worker: Worker;
  readonly #channel: Channel<Work, ScanReply>;
  /** Settles when the thread has read its rules or died. */
  readonly #ready = Promise.withResolvers<ScanReply>();
  /** `asked`: it warms up once. */
  #warmth: 'cold' | 'asked' | 'warm' = 'cold';

  constructor(program: URL, rules: ScanThreadData) {
    this.#worker = new Worker(program, {
      name: 'scrub',
      workerData: rules,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
    });
    this.#channel = new Channel((id, work) =>
      this.#worker.postMessage({ ...work, id } satisfies ScanRequest | SeedRequest),
    );
    this.#worker.on('message', (reply: ScanReply) => {
      if (reply.kind === 'warm') this.#warmth = 'warm';
      else if (reply.kind === 'ready' || reply.kind === 'refused') this.#ready.resolve(reply);
      else this.#channel.resolve(reply.id, reply);
    });
    this.#worker.on('error', () => this.#die());
    this.#worker.on('exit', () => this.#die());
  }

  get isDead(): boolean {
    return this.#channel.isClosed;
  }

  async ready(withinMs: number): Promise<void> {
    const reply = await within(withinMs, this.#ready.promise, () => {
      throw tooSlow(withinMs);
    });
    if (reply.kind === 'ready') return;
    throw new ContextdError('SCHEMA_INVALID', reply.kind === 'refused' ? reply.message : 'the rules cannot be read', {
      remedy: 'Correct the rule file. contextd never scrubs with an incomplete set of rules.',
    });
  }

  /** `withinMs`: processor time of the search alone. */
  async ask(work: Work, withinMs: number): Promise<WorkReply> {
    const before = this.#cpuMs();
    const limitMs = withinMs + (this.#warmth === 'warm' ? 0 : COLD_MS);
    const reply = await inTime(this.#channel.ask(work), limitMs, async () => {
      const now = await this.#cpuMs();
      return now === null ? null : now - ((await before) ?? 0);
    });
    if (isReplyTo(work, reply)) return reply;
    throw scrubFailed(`the search for secrets failed${reply.kind === 'failed' ? ` (${reply.problem})` : ''}`);
  }

  collect(): void {
    this.#worker.postMessage({ kind: 'collect' } satisfies UpkeepRequest);
  }

  /** For an idle thread: the next searches find the common expressions compiled. */
  warmUp(): void {
    if (this.#warmth !== 'cold') return;
    this.#warmth = 'asked';
    this.#worker.postMessage({ kind: 'warm' } satisfies UpkeepRequest);
  }

  /** Resolves when the thread has ended. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  /** Milliseconds of processor time that the thread has used; null if it cannot say. */
  async #cpuMs(): Promise<number | null> {
    const known = this.#worker.cpuUsage().then(
      ({ user, system }) => (user + system) / 1_000,
      () => null,
    );
    return within(USAGE_MS, known, () => null);
  }

  #die(): void {
    const reason = scrubFailed('the thread that searches for secrets has ended');
    this.#channel.close(reason);
    this.#ready.reject(reason);
  }
}

/** The reply. Once the time is over, `usedMs` says how much of it was used (null: all), and the rest is added. */
async function inTime<T>(reply: Promise<T>, withinMs: number, usedMs: () => Promise<number | null>): Promise<T> {
  const lastMs = performance.now() + withinMs * CLOCK_FACTOR;
  const { promise: late, reject } = Promise.withResolvers<never>();
  let isSettled = false;
  const look = async (): Promise<void> => {
    const leftMs = withinMs - ((await usedMs()) ?? withinMs);
    if (isSettled) return;
    if (leftMs > 0 && performance.now() < lastMs) timer = setTimeout(look, Math.max(leftMs, LOOK_AGAIN_MS));
    else reject(tooSlow(withinMs));
  };
  let timer = setTimeout(look, withinMs);
  try {
    return await Promise.race([reply, late]);
  } finally {
    isSettled = true;
    clearTimeout(timer);
  }
}

function tooSlow(ms: number): ContextdError {
  return scrubFailed(`the search for secrets took longer than ${Math.round(ms)} ms`);
}

function isReplyTo({ kind, texts }: Work, reply: ScanReply): reply is WorkReply {
  if (reply.kind !== 'scan' && reply.kind !== 'seeds') return false;
  return reply.kind === kind && reply.results.length === texts.length;
}

export function scrubFailed(problem: string, cause?: unknown): ContextdError {
  return new ContextdError('SCRUB_FAILED', `the output was withheld: ${problem}`, {
    remedy: 'Call again, with less output if it took too long. If it fails again, see `ctxd server logs`.',
    ...(cause === undefined ? {} : { cause }),
  });
}
