import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { Denial, SetAside } from '../core/envelope.ts';
import { ContextdError, type ErrorCode } from '../core/errors.ts';
import type { Activity, CommandResult, Connection, SteeredCommand, SteeringSignal } from '../sandbox/sandbox.ts';
import type { JobOutput } from './job-output.ts';

/** Milliseconds that no job outlives, whatever its lease: a week. */
export const JOB_MAX_MS = 7 * 24 * 60 * 60 * 1000;

/** Who ended a job that did not end by itself. */
export type Ender = 'stop' | 'lease' | 'session' | 'kill' | 'daemon';

/** How a job ended. */
export interface JobEnd {
  exitCode: number | null;
  signal: string | null;
  /** As for a command; `stopped` and the like if somebody ended it. */
  endedBy: CommandResult['endedBy'] | EndedWord;
  /** Why its command could not be run, or why its last output is withheld; null: neither. */
  failure: ContextdError | null;
  durationMs: number;
  quarantined: readonly SetAside[];
  denied: readonly Denial[];
  connections: readonly Connection[];
  /** What it changed outside the workspace, one line each. */
  notices: readonly string[];
}

/** How an answer names the reason. */
export const ENDED_WORDS = {
  stop: 'stopped',
  lease: 'lease',
  session: 'session_end',
  kill: 'killed',
  daemon: 'interrupted',
} as const satisfies Record<Ender, string>;
type EndedWord = (typeof ENDED_WORDS)[Ender];

export interface JobSpec {
  /** `job_…`, unique on this machine. */
  id: string;
  /** 1, 2 and so on in its session. */
  number: number;
  session: SessionRef;
  tool: string;
  command: string;
  /** True: it runs on a terminal. */
  isTerminal: boolean;
  /** The directory in which it runs. */
  cwd: string;
  /** Milliseconds since the epoch. */
  startedMs: number;
}

/** One background job. */
export class Job {
  readonly spec: JobSpec;
  readonly output: JobOutput;
  /** Settles when the job is over and its output is complete. Never rejects. */
  readonly ended: Promise<JobEnd>;
  readonly #command: SteeredCommand;
  readonly #abort: AbortController;
  readonly #clock: Clock;
  #ender: Ender | null = null;
  #end: JobEnd | null = null;
  #leaseEndsAt = 0;
  /** By pattern, how many characters of the output a wait has seen. */
  readonly #seen = new Map<string, number>();

  constructor(spec: JobSpec, command: SteeredCommand, output: JobOutput, abort: AbortController, clock: Clock) {
    this.spec = spec;
    this.output = output;
    this.#command = command;
    this.#abort = abort;
    this.#clock = clock;
    this.ended = this.#follow();
  }

  /** Settles when the command has been started. */
  get started(): Promise<void> {
    return this.#command.started;
  }

  /** Null while it runs. */
  get end(): JobEnd | null {
    return this.#end;
  }

  get isLeaseOver(): boolean {
    return this.#end === null && this.#clock.monotonic() >= this.#leaseEndsAt;
  }

  renewLease(ms: number): void {
    this.#leaseEndsAt = this.#clock.monotonic() + ms;
  }

  usage(): ReturnType<SteeredCommand['usage']> {
    return this.#end === null ? this.#command.usage().catch(() => null) : Promise.resolve(null);
  }

  /** What it does now; null if it has ended or that is not known. */
  activity(): Promise<Activity | null> {
    return this.#end === null ? this.#command.activity().catch(() => null) : Promise.resolve(null);
  }

  /** Throws CONFLICT if the job has ended or its stdin is closed, and RESOURCE_LIMIT if it does not read. */
  async input(text: string, isEnd: boolean): Promise<void> {
    this.#checkRunning();
    await this.#command.input(Buffer.from(text), isEnd);
  }

  /** Returns how many processes got it. Throws CONFLICT if the job has ended. */
  async signal(signal: SteeringSignal): Promise<number> {
    this.#checkRunning();
    return this.#command.signal(signal);
  }

  /** Asks the job to end by SIGTERM and kills it after `graceMs`. Returns when it is over. Idempotent. */
  async stop(ender: Ender, graceMs: number): Promise<JobEnd> {
    if (this.#end !== null) return this.#end;
    this.#ender ??= ender;
    const asked = graceMs > 0 ? await this.#command.signal('SIGTERM').catch(() => 0) : 0;
    const timer = setTimeout(() => this.#abort.abort(), asked > 0 ? graceMs : 0);
    try {
      return await this.ended;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Where the search for this pattern goes on: behind the line that the last wait found. */
  seen(pattern: string): number {
    return Math.min(this.#seen.get(pattern) ?? 0, this.output.text.length);
  }

  remember(pattern: string, upTo: number): void {
    this.#seen.set(pattern, upTo);
  }

  async #follow(): Promise<JobEnd> {
    const startedAt = this.#clock.monotonic();
    const end: JobEnd = await this.#command.ended.then(
      ({ exitCode, signal, endedBy, durationMs, quarantined, denied, connections, notices }) => ({
        ...{ exitCode, signal, durationMs, quarantined, denied, connections, notices, failure: null },
        endedBy: this.#endedBy(endedBy),
      }),
      (thrown: unknown) => ({
        ...{ exitCode: null, signal: null, quarantined: [], denied: [], connections: [], notices: [] },
        failure: ContextdError.from(thrown),
        endedBy: ENDED_WORDS.daemon,
        durationMs: this.#clock.monotonic() - startedAt,
      }),
    );
    const withheld = await this.output.finish().then(
      () => null,
      (thrown: unknown) => ContextdError.from(thrown),
    );
    this.#end = { ...end, failure: end.failure ?? withheld };
    return this.#end;
  }

  /** A command that exits by itself when it is asked to has still been ended by the person who asked. */
  #endedBy(seen: CommandResult['endedBy']): JobEnd['endedBy'] {
    if (this.#ender === null || (seen === 'exit' && this.#ender !== 'kill')) return seen;
    return ENDED_WORDS[this.#ender];
  }

  #checkRunning(): void {
    if (this.#end === null) return;
    throw new ContextdError('CONFLICT', `job ${this.spec.number} has ended`, {
      remedy: 'Start it again, or look at its output: show.',
    });
  }
}

/** The code of the record of a job that ended; null if its command ended by itself. */
export function errorCodeOf({ failure, endedBy }: JobEnd): ErrorCode | null {
  if (failure !== null) return failure.code;
  switch (endedBy) {
    case 'exit':
    case 'signal':
    case 'stopped':
      return null;
    case 'timeout':
    case 'input':
    case 'lease':
      return 'TIMEOUT';
    case 'cancelled':
    case 'killed':
    case 'session_end':
      return 'CANCELLED';
    case 'interrupted':
      return 'INTERRUPTED';
    case 'oom':
    case 'pids':
    case 'output_limit':
    case 'storage_limit':
      return 'RESOURCE_LIMIT';
    case 'seccomp':
    case 'protected_path':
      return 'PERMISSION_DENIED';
  }
}
