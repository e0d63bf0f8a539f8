import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import type { Denial, SetAside } from '../../core/envelope.ts';
import { ContextdError, type ErrorCode } from '../../core/errors.ts';
import type {
  Activity,
  CommandResult,
  Connection,
  SteeredCommand,
  SteeringSignal,
} from '../../sandbox/contract/sandbox.ts';
import type { JobOutput } from './job-output.ts';

/** Maximum lifetime of a job in milliseconds, regardless of its lease: a week. */
export const JOB_MAX_MS = 7 * 24 * 60 * 60 * 1000;

/** Cause of a job's end, unless it ended by itself. */
export type Ender = 'stop' | 'lease' | 'session' | 'kill' | 'daemon';

/** How a job ended. */
export interface JobEnd {
  exitCode: number | null;
  signal: string | null;
  /** As for a command; `stopped` and the like if the job was ended. */
  endedBy: CommandResult['endedBy'] | EndedWord;
  /** Why the command could not run, or why its last output is withheld; otherwise null. */
  failure: ContextdError | null;
  durationMs: number;
  quarantined: readonly SetAside[];
  denied: readonly Denial[];
  connections: readonly Connection[];
  /** Its changes outside the workspace, one line each. */
  notices: readonly string[];
}

/** Ender → word in answers. */
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
  /** Working directory. */
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
  /** Pattern → number of output characters already searched by waits. */
  readonly #seen = new Map<string, number>();

  constructor(spec: JobSpec, command: SteeredCommand, output: JobOutput, abort: AbortController, clock: Clock) {
    this.spec = spec;
    this.output = output;
    this.#command = command;
    this.#abort = abort;
    this.#clock = clock;
    this.ended = this.#follow();
  }

  /** Settles when the command has started. */
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

  /** Current activity; null if it has ended or the activity is unknown. */
  activity(): Promise<Activity | null> {
    return this.#end === null ? this.#command.activity().catch(() => null) : Promise.resolve(null);
  }

  /** Writes to stdin. Throws CONFLICT if the job has ended or stdin is closed, RESOURCE_LIMIT if it does not read. */
  async input(text: string, isEnd: boolean): Promise<void> {
    this.#checkRunning();
    await this.#command.input(Buffer.from(text), isEnd);
  }

  /** Returns the number of processes signaled. Throws CONFLICT if the job has ended. */
  async signal(signal: SteeringSignal): Promise<number> {
    this.#checkRunning();
    return this.#command.signal(signal);
  }

  /** Sends SIGTERM, then kills the job after `graceMs`. Returns when it is over. Idempotent. */
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

  /** Offset at which the search for this pattern continues: after the line that the last wait found. */
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
        exitCode,
        signal,
        durationMs,
        quarantined,
        denied,
        connections,
        notices,
        failure: null,
        endedBy: this.#endedBy(endedBy),
      }),
      (thrown: unknown) => ({
        exitCode: null,
        signal: null,
        quarantined: [],
        denied: [],
        connections: [],
        notices: [],
        failure: ContextdError.from(thrown),
        endedBy: ENDED_WORDS[this.#ender ?? 'daemon'],
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

  /** A command that exits by itself in reply to SIGTERM counts as exited, but after a kill by a person as killed. */
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

/** The error code in the record of an ended job; null if its command ended by itself. */
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
      return 'PERMISSION_DENIED';
  }
}
