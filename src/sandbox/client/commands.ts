import type { SetAside } from '../../core/envelope.ts';
import type { CommandResult, CommandSpec, RunRef, SteeredCommand } from '../contract/command.ts';
import type { ResumedRun } from '../contract/heritage.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import type { SandboxDeps } from '../contract/sandbox.ts';
import { type Asked, type SpawnerConnection, spawnerGone, type Unnumbered } from './spawner-connection.ts';
import { closeCapture, openCapture } from './terminal-capture.ts';

/** Callbacks of a run. */
interface Run {
  onOutput(stream: 'stdout' | 'stderr', bytes: Buffer): void;
  readonly steered: Steered | null;
}

/** Callbacks of a steered run. */
interface Steered {
  onSent(id: number): void;
  onStarted(): void;
  onFound(found: readonly SetAside[]): void;
}

type FollowedCommand = Pick<CommandSpec, 'signal' | 'onOutput' | 'outputMaxBytes' | 'terminal'> & {
  readonly run: RunRef | undefined;
};

/** The part of a result that the spawner sends; the streams are captured here. */
type RunEnd = Omit<CommandResult, 'stdout' | 'stderr'>;

export interface CommandsDeps {
  readonly connection: SpawnerConnection;
  /** Called for each run, with the call or job that it is for. */
  began(id: number, run: RunRef | undefined): void;
  ended(id: number): void;
  /** See `SandboxDeps`. */
  readonly onSandboxTaken: SandboxDeps['onSandboxTaken'];
}

/** The commands that the spawner runs for this daemon, and their output. */
export class Commands {
  readonly #deps: CommandsDeps;
  readonly #runs = new Map<number, Run>();

  constructor(deps: CommandsDeps) {
    this.#deps = deps;
  }

  get ids(): readonly number[] {
    return [...this.#runs.keys()];
  }

  has(id: number): boolean {
    return this.#runs.has(id);
  }

  /** True if a run has its reply and its output is still being captured. */
  get isEnding(): boolean {
    const channel = this.#deps.connection.running?.channel;
    return this.ids.some((id) => channel?.isPending(id) !== true);
  }

  /** Forgets runs that the next daemon resumes. */
  drop(ids: readonly number[]): void {
    for (const id of ids) {
      this.#runs.delete(id);
      // The end of the spawner would end the job here too, and its output would be written by both daemons.
      this.#deps.connection.running?.channel.forget(id);
    }
  }

  output(id: number, stream: 'stdout' | 'stderr', bytes: Buffer): void {
    this.#runs.get(id)?.onOutput(stream, bytes);
  }

  started(id: number): void {
    this.#runs.get(id)?.steered?.onStarted();
  }

  found(id: number, found: readonly SetAside[]): void {
    this.#runs.get(id)?.steered?.onFound(found);
  }

  begin(
    policy: SandboxPolicy,
    command: Omit<CommandSpec, 'stdin'>,
    onFound: (found: readonly SetAside[]) => void,
  ): SteeredCommand {
    const { promise: started, resolve, reject } = Promise.withResolvers<void>();
    let run = 0;
    const steered: Steered = { onSent: (id) => (run = id), onStarted: resolve, onFound };
    const ended = this.run(policy, { ...command, stdin: null }, steered);
    // A command that was cancelled before it started has ended without starting.
    ended.then(() => resolve(), reject);
    started.catch(() => {});
    return this.#steered(run, started, ended);
  }

  /** Goes on with a run of the daemon before. `hasEnded`: with its spawner. */
  resume(resumed: ResumedRun, onFound: Steered['onFound'], hasEnded: boolean): SteeredCommand {
    const { number } = resumed;
    const steered: Steered = { onSent() {}, onStarted() {}, onFound };
    const result = hasEnded ? Promise.reject(spawnerGone()) : this.#deps.connection.ready().channel.expect(number);
    // What a job prints is captured by its own output.
    const ended = this.#follow({ id: number, result }, { ...resumed, run: resumed.run, outputMaxBytes: 0 }, steered);
    return this.#steered(number, Promise.resolve(), ended);
  }

  #steered(run: number, started: Promise<void>, ended: Promise<CommandResult>): SteeredCommand {
    const ask = async <T>(request: Unnumbered, body?: Buffer): Promise<T> => {
      await started;
      return this.#deps.connection.request(request, body).result as Promise<T>;
    };
    return {
      number: run,
      started,
      ended,
      input: (data, isEnd) => ask({ op: 'input', run, isEnd }, data),
      signal: (signal) => ask({ op: 'signal', run, signal }),
      usage: () => ask({ op: 'usage', run }),
      activity: () => ask({ op: 'activity', run }),
    };
  }

  async run(
    policy: SandboxPolicy,
    { stdin, signal, onOutput, run, ...command }: CommandSpec,
    steered: Steered | null = null,
  ): Promise<CommandResult> {
    const request = {
      op: 'run',
      policy,
      command: { ...command, hasStdin: stdin !== null, isCancelled: signal.aborted, isSteered: steered !== null },
    } as const;
    const sent = this.#deps.connection.request(request, stdin ?? undefined);
    const spec = { ...command, signal, ...(onOutput === undefined ? {} : { onOutput }), run };
    return this.#follow(sent, spec, steered);
  }

  /** Captures the output of a command until its result is there. */
  async #follow(
    { id, result }: Asked,
    { signal, onOutput, run, outputMaxBytes, terminal = false }: FollowedCommand,
    steered: Steered | null,
  ): Promise<CommandResult> {
    // On a terminal all output is text in `stdout`; `stderr` holds errors of the terminal itself.
    const captures = { stdout: openCapture(outputMaxBytes, terminal), stderr: openCapture(outputMaxBytes, false) };
    const take: Run['onOutput'] = (stream, bytes) => {
      captures[stream].add(bytes);
      onOutput?.(stream, bytes);
    };
    this.#runs.set(id, { onOutput: take, steered });
    this.#deps.began(id, run);
    steered?.onSent(id);
    const cancel = (): void => this.#deps.connection.tell({ op: 'cancel', id });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const end = (await result) as RunEnd;
      if (end.sandboxWait !== undefined) this.#deps.onSandboxTaken?.(end.sandboxWait);
      return { ...end, stdout: await captures.stdout.result(), stderr: await captures.stderr.result() };
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#runs.delete(id);
      this.#deps.ended(id);
      closeCapture(captures.stdout);
    }
  }
}
