import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import type { Denial, SetAside } from '../../core/envelope.ts';
import { ContextdError, type ErrorCode } from '../../core/errors.ts';
import { packError, unpackError, type WireError } from '../../core/wire-error.ts';
import type {
  Activity,
  CommandResult,
  Connection,
  SteeredCommand,
  SteeringSignal,
} from '../../sandbox/contract/command.ts';
import type { JobOutput, JobOutputState } from './job-output.ts';

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

/** A job as plain data. */
export interface JobState {
  readonly spec: JobSpec;
  /** Of the command; null if the job has ended. */
  readonly run: number | null;
  readonly end: (Omit<JobEnd, 'failure'> & { readonly failure: WireError | null }) | null;
  readonly ender: Ender | null;
  /** Milliseconds until its lease is over. */
  readonly leaseMs: number;
  readonly seen: readonly (readonly [string, number])[];
  readonly output: JobOutputState;
}

/** One background job. */
export class Job {
  readonly spec: JobSpec;
  readonly output: JobOutput;
  /** Settles when the job is over and its output is complete. Never rejects. */
  readonly ended: Promise<JobEnd>;
  readonly #command: SteeredCommand | null;
  readonly #abort: AbortController;
  readonly #clock: Clock;
  #ender: Ender | null = null;
  #end: JobEnd | null = null;
  readonly #onEnded: (end: JobEnd) => void;
  #isOver = false;
  #leaseEndsAt = 0;
  /** Pattern → number of output characters already searched by waits. */
  readonly #seen = new Map<string, number>();

  /** `command`: null for a job that has ended, see `restore`. */
  constructor(spec: JobSpec, command: SteeredCommand | null, output: JobOutput, abort: AbortController, clock: Clock) {
    this.spec = spec;
    this.output = output;
    this.#command = command;
    this.#abort = abort;
    this.#clock = clock;
    const { promise, resolve } = Promise.withResolvers<JobEnd>();
    this.ended = promise;
    this.#onEnded = resolve;
    if (command !== null) void this.#follow(command);
  }

  /** Takes in what is known of a job of the daemon before. */
  restore({ end, ender, leaseMs, seen }: JobState): void {
    this.#ender = ender;
    this.renewLease(leaseMs);
    for (const [pattern, upTo] of seen) this.#seen.set(pattern, upTo);
    if (end !== null) this.#settle({ ...end, failure: end.failure === null ? null : unpackError(end.failure) });
  }

  /** Call when nothing arrives from its command any more, and none of its ends is being recorded. */
  async state(): Promise<JobState> {
    const end = this.#end;
    return {
      spec: this.spec,
      run: end === null ? (this.#command?.number ?? null) : null,
      end: end === null ? null : { ...end, failure: end.failure === null ? null : packError(end.failure) },
      ender: this.#ender,
      leaseMs: Math.max(0, this.#leaseEndsAt - this.#clock.monotonic()),
      seen: [...this.#seen],
      output: await this.output.state(),
    };
  }

  /** True once its command has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Settles when the command has started. */
  get started(): Promise<void> {
    return this.#command?.started ?? Promise.resolve();
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
    return (
      this.#running()
        ?.usage()
        .catch(() => null) ?? Promise.resolve(null)
    );
  }

  /** Current activity; null if it has ended or the activity is unknown. */
  activity(): Promise<Activity | null> {
    return (
      this.#running()
        ?.activity()
        .catch(() => null) ?? Promise.resolve(null)
    );
  }

  /** Writes to stdin. Throws CONFLICT if the job has ended or stdin is closed, RESOURCE_LIMIT if it does not read. */
  async input(text: string, isEnd: boolean): Promise<void> {
    await this.#checkRunning().input(Buffer.from(text), isEnd);
  }

  /** Returns the number of processes signaled. Throws CONFLICT if the job has ended. */
  async signal(signal: SteeringSignal): Promise<number> {
    return this.#checkRunning().signal(signal);
  }

  /** Sends SIGTERM, then kills the job after `graceMs`. Returns when it is over. Idempotent. */
  async stop(ender: Ender, graceMs: number): Promise<JobEnd> {
    if (this.#end !== null) return this.#end;
    this.#ender ??= ender;
    const asked =
      graceMs > 0
        ? await this.#running()
            ?.signal('SIGTERM')
            .catch(() => 0)
        : 0;
    const timer = setTimeout(() => this.#abort.abort(), (asked ?? 0) > 0 ? graceMs : 0);
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

  async #follow(command: SteeredCommand): Promise<void> {
    const startedAt = this.#clock.monotonic();
    const end: JobEnd = await command.ended.then(
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
    this.#isOver = true;
    const withheld = await this.output.finish().then(
      () => null,
      (thrown: unknown) => ContextdError.from(thrown),
    );
    this.#settle({ ...end, failure: end.failure ?? withheld });
  }

  #settle(end: JobEnd): void {
    this.#isOver = true;
    this.#end = end;
    this.#onEnded(end);
  }

  #running(): SteeredCommand | null {
    return this.#end === null ? this.#command : null;
  }

  /** A command that exits by itself in reply to SIGTERM counts as exited, but after a kill by a person as killed. */
  #endedBy(seen: CommandResult['endedBy']): JobEnd['endedBy'] {
    if (this.#ender === null || (seen === 'exit' && this.#ender !== 'kill')) return seen;
    return ENDED_WORDS[this.#ender];
  }

  #checkRunning(): SteeredCommand {
    const command = this.#running();
    if (command !== null) return command;
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
