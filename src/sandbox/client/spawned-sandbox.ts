import { PassThrough } from 'node:stream';
import { Channel } from '../../core/channel.ts';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import { unpackError } from '../../core/wire-error.ts';
import type { EgressCommand } from '../../egress/messages.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../../guard/contract/quarantine.ts';
import type { ResumedRun } from '../contract/heritage.ts';
import type { MergeRequest, ReplyOf } from '../contract/merge-messages.ts';
import type { LayerAbility, LayerKind } from '../contract/mounted.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import type {
  CommandResult,
  CommandSpec,
  IsolationReport,
  MergeResult,
  ProjectCaches,
  RestoreResult,
  RunRef,
  Sandbox,
  SandboxDeps,
  SandboxProcess,
  SandboxProgram,
  SandboxStatus,
  SteeredCommand,
  StorageAction,
} from '../contract/sandbox.ts';
import type { RestoreItem, SnapshotReply, SnapshotRequest } from '../contract/snapshot-messages.ts';
import type { Reply, Request } from '../contract/spawner-messages.ts';
import { EgressRelay } from './egress-relay.ts';
import { Inheritance } from './inheritance.ts';
import { type SpawnerEvents, type SpawnerLink, SpawnerProcess } from './spawner-process.ts';
import { closeCapture, openCapture } from './terminal-capture.ts';

const ISOLATION_FRESH_MS = 5_000;

/** A request without its id. */
type Unnumbered = Request extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never;

interface Sent {
  readonly request: Unnumbered;
  readonly body: Buffer | undefined;
}

interface Running {
  spawner: SpawnerLink;
  readonly channel: Channel<Sent, unknown>;
  isConfigured: boolean;
}

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

/** A long-lived process, from `open` until it ends. */
interface OpenedProcess {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  onStale(): void;
  onExit(end: ProcessEnd): void;
}

interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The part of a result that the spawner sends; the streams are captured here. */
type RunEnd = Omit<CommandResult, 'stdout' | 'stderr'>;

/**
 * The daemon's client of the spawner process. `launch` starts the spawner. If it dies, pending requests fail at once and
 * the next request starts it again.
 */
export class SpawnedSandbox implements Sandbox {
  readonly #deps: SandboxDeps;
  readonly #runs = new Map<number, Run>();
  readonly #relay: EgressRelay;
  readonly #processes = new Map<number, OpenedProcess>();
  readonly #isolation = new Map<string, { askedAt: number; report: Promise<IsolationReport> }>();
  #running: Running | null = null;
  /** Ids are never reused after the spawner died, because a caller may still hold the id of an old run. */
  #lastId = 0;
  #stopping: Promise<void> | null = null;
  readonly heritage: Inheritance;

  constructor(deps: SandboxDeps) {
    this.#deps = deps;
    this.#relay = new EgressRelay(deps);
    this.heritage = new Inheritance({
      relay: this.#relay,
      own: () => [
        ...[...this.#runs.keys()].map((id) => [id, 'run'] as const),
        ...[...this.#processes.keys()].map((id) => [id, 'open'] as const),
      ],
      isEnding: () => [...this.#runs.keys()].some((id) => this.#running?.channel.isPending(id) !== true),
      isTaken: (id) => this.#runs.has(id),
      running: () => this.#running,
      isBusy: () => (this.#running?.channel.pendingCount ?? 0) > 0,
      start: (spawner, firstId) => this.#adopt(spawner, firstId),
      receive: (reply, body) => void (this.#running !== null && this.#receive(this.#running, reply, body)),
      lost: () => void (this.#running !== null && this.#lost(this.#running, '')),
      renew: () => this.#renew(),
      drop: (runs) => {
        for (const id of runs) {
          this.#runs.delete(id);
          // The end of the spawner would end the job here too, and its output would be written by both daemons.
          this.#running?.channel.forget(id);
        }
      },
      resume: (run, onFound, hasEnded) => this.#resume(run, onFound, hasEnded),
      stillAllowed: deps.stillAllowed ?? ((policy) => policy),
      logger: deps.logger,
    });
  }

  /** Starts the spawner, which does not touch contextd's home directory before `start`. */
  async launch(): Promise<void> {
    this.#stopping = null;
    this.#running ??= this.#spawn();
  }

  /** Probes in the background: the first command waits for the result, the daemon's start does not. */
  async start(): Promise<void> {
    this.#stopping = null;
    const { logger } = this.#deps;
    this.probe().then(
      ({ level, version, missing }) => logger.info('sandbox.ready', { level, version, missing }),
      (cause: unknown) => logger.error('sandbox.not_ready', {}, cause),
    );
  }

  async stop(): Promise<void> {
    this.#stopping ??= this.#stopRunning();
    await this.#stopping;
  }

  probe(): Promise<IsolationReport> {
    return this.#ask<IsolationReport>({ op: 'probe' });
  }

  /** Cached for some seconds: the spawner checks again for every sandbox it starts. */
  isolationFor(workspace: string): Promise<IsolationReport> {
    const now = this.#deps.clock.monotonic();
    const known = this.#isolation.get(workspace);
    if (known !== undefined && now - known.askedAt < ISOLATION_FRESH_MS) return known.report;
    const report = this.#ask<IsolationReport>({ op: 'isolation', workspace });
    this.#isolation.set(workspace, { askedAt: now, report });
    report.catch(() => this.#isolation.delete(workspace));
    return report;
  }

  async status(): Promise<SandboxStatus> {
    return this.#ask<SandboxStatus>({ op: 'status' });
  }

  tellEgress(command: EgressCommand): void {
    if (this.#stopping === null && !this.heritage.hasLeft) this.#ready().spawner.send({ op: 'egress', command });
  }

  run(policy: SandboxPolicy, command: CommandSpec): Promise<CommandResult> {
    return this.#run(policy, command);
  }

  begin(
    policy: SandboxPolicy,
    command: Omit<CommandSpec, 'stdin'>,
    onFound: (found: readonly SetAside[]) => void,
  ): SteeredCommand {
    const { promise: started, resolve, reject } = Promise.withResolvers<void>();
    let run = 0;
    const steered: Steered = { onSent: (id) => (run = id), onStarted: resolve, onFound };
    const ended = this.#run(policy, { ...command, stdin: null }, steered);
    // A command that was cancelled before it started has ended without starting.
    ended.then(() => resolve(), reject);
    started.catch(() => {});
    return this.#steered(run, started, ended);
  }

  #resume(resumed: ResumedRun, onFound: Steered['onFound'], hasEnded: boolean): SteeredCommand {
    const { number } = resumed;
    const steered: Steered = { onSent() {}, onStarted() {}, onFound };
    const result = hasEnded ? Promise.reject(spawnerGone()) : this.#ready().channel.expect(number);
    // What a job prints is captured by its own output.
    const ended = this.#follow({ id: number, result }, { ...resumed, run: resumed.run, outputMaxBytes: 0 }, steered);
    return this.#steered(number, Promise.resolve(), ended);
  }

  #steered(run: number, started: Promise<void>, ended: Promise<CommandResult>): SteeredCommand {
    const ask = async <T>(request: Unnumbered, body?: Buffer): Promise<T> => {
      await started;
      return this.#request(request, body).result as Promise<T>;
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

  async #run(
    policy: SandboxPolicy,
    { stdin, signal, onOutput, run, ...command }: CommandSpec,
    steered: Steered | null = null,
  ): Promise<CommandResult> {
    const request = {
      op: 'run',
      policy,
      command: { ...command, hasStdin: stdin !== null, isCancelled: signal.aborted, isSteered: steered !== null },
    } as const;
    const sent = this.#request(request, stdin ?? undefined);
    const spec = { ...command, signal, ...(onOutput === undefined ? {} : { onOutput }), run };
    return this.#follow(sent, spec, steered);
  }

  /** Captures the output of a command until its result is there. */
  async #follow(
    { id, result }: { id: number; result: Promise<unknown> },
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
    this.heritage.began(id, run);
    steered?.onSent(id);
    const cancel = (): void => this.#running?.spawner.send({ op: 'cancel', id });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const end = (await result) as RunEnd;
      return { ...end, stdout: await captures.stdout.result(), stderr: await captures.stderr.result() };
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#runs.delete(id);
      this.#relay.ended(id);
      closeCapture(captures.stdout);
    }
  }

  async open(policy: SandboxPolicy, program: SandboxProgram): Promise<SandboxProcess> {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const { id, result } = this.#request({ op: 'open', policy, program });
    const { promise: stale, resolve: onStale } = Promise.withResolvers<void>();
    const { promise: exited, resolve: onExit } = Promise.withResolvers<ProcessEnd>();
    this.#processes.set(id, { stdout, stderr, onStale, onExit });
    try {
      const { socketDir } = (await result) as { socketDir: string };
      const kill = async (): Promise<void> => {
        if (this.#processes.has(id)) this.#running?.spawner.send({ op: 'kill', id });
        await exited;
      };
      const input = async (data: Buffer, isEnd = false): Promise<void> => {
        await this.#request({ op: 'input', run: id, isEnd }, data).result;
      };
      return { stdout, stderr, socketDir, stale, exited, input, kill };
    } catch (cause) {
      this.#processes.delete(id);
      throw cause;
    }
  }

  /** Running commands end first and their callers get the result. If the spawner died, nothing is left to stop. */
  async #stopRunning(): Promise<void> {
    const running = this.#running;
    // What this daemon has left belongs to the next one.
    if (running === null || this.heritage.hasLeft) return;
    await this.#stopSpawner(running);
  }

  async #stopSpawner(running: Running): Promise<void> {
    await this.#send(running, { op: 'stop' }).result.catch(() => {});
    await running.spawner.stop();
  }

  async watch(policy: SandboxPolicy): Promise<{ finish(): Promise<QuarantineReport> }> {
    const { id, result } = this.#request({ op: 'watch', policy });
    await result;
    return { finish: () => this.#ask<QuarantineReport>({ op: 'finish_watch', watchId: id }) };
  }

  quarantine(policy: SandboxPolicy, action: QuarantineAction): Promise<QuarantineResult> {
    return this.#ask<QuarantineResult>({ op: 'quarantine', policy, action });
  }

  storage(action: StorageAction): Promise<readonly ProjectCaches[]> {
    return this.#ask<readonly ProjectCaches[]>({ op: 'storage', action });
  }

  snapshot(workspace: string, request: SnapshotRequest | { readonly do: 'drop' }): Promise<SnapshotReply | null> {
    return this.#ask<SnapshotReply | null>({ op: 'snapshot', workspace, request });
  }

  async restore(policy: SandboxPolicy, items: readonly RestoreItem[]): Promise<RestoreResult> {
    const { result } = this.#request({ op: 'restore', policy }, Buffer.from(JSON.stringify(items)));
    return result as Promise<RestoreResult>;
  }

  createLayer(policy: SandboxPolicy): Promise<LayerKind> {
    return this.#ask<LayerKind>({ op: 'create_layer', policy });
  }

  layerAbility(workspace: string): Promise<LayerAbility> {
    return this.#ask<LayerAbility>({ op: 'layer_ability', workspace });
  }

  async removeLayer(project: string, branch: string): Promise<void> {
    await this.#ask({ op: 'remove_layer', project, branch });
  }

  async keepLayers(live: readonly { readonly project: string; readonly branch: string }[]): Promise<void> {
    await this.#ask({ op: 'keep_layers', live });
  }

  async merge<R extends MergeRequest>(
    policy: SandboxPolicy,
    branch: string | null,
    request: R,
  ): Promise<MergeResult<ReplyOf<R>>> {
    const { result } = this.#request({ op: 'merge', policy, branch }, Buffer.from(JSON.stringify(request)));
    const { output, quarantined } = (await result) as { output: string; quarantined: readonly SetAside[] };
    return { reply: JSON.parse(output), quarantined };
  }

  async #ask<T>(request: Unnumbered): Promise<T> {
    return this.#request(request).result as Promise<T>;
  }

  #request(request: Unnumbered, body?: Buffer): { id: number; result: Promise<unknown> } {
    return this.#send(this.#ready(), request, body);
  }

  #send({ channel }: Running, request: Unnumbered, body?: Buffer): { id: number; result: Promise<unknown> } {
    const result = channel.ask({ request, body });
    this.#lastId = channel.lastId;
    return { id: this.#lastId, result };
  }

  #ready(): Running {
    if (this.#stopping !== null) {
      throw new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping', {
        remedy: 'Call again when it has started.',
      });
    }
    this.#running ??= this.#spawn();
    if (!this.#running.isConfigured) {
      const { paths, config } = this.#deps;
      this.#running.spawner.send({ op: 'configure', settings: { paths, config } });
      this.#running.isConfigured = true;
    }
    return this.#running;
  }

  #spawn(): Running {
    const { link } = this.heritage;
    const running = this.#with((events) => link ?? SpawnerProcess.start(events, this.#deps.logger));
    running.isConfigured = link !== null;
    return running;
  }

  async #renew(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    if (running === null) return;
    await this.#stopSpawner(running);
  }

  #adopt(start: (events: SpawnerEvents) => SpawnerLink, firstId: number): void {
    this.#lastId = firstId;
    this.#running = this.#with(start);
    this.#running.isConfigured = true;
  }

  #with(start: (events: SpawnerEvents) => SpawnerLink): Running {
    const channel: Running['channel'] = new Channel(
      (id, { request, body }) => running.spawner.send({ ...request, id } as Request, body),
      this.#lastId,
    );
    const spawner = start({
      // The spawner wrote it: nothing else holds the other end.
      onMessage: (header, body) => this.#receive(running, header as unknown as Reply, body),
      onGone: (lastWords) => this.#lost(running, lastWords),
    });
    const running: Running = { spawner, channel, isConfigured: false };
    return running;
  }

  #receive({ spawner, channel }: Running, reply: Reply, body: Buffer): void {
    if (this.heritage.returned(reply, body)) return;
    switch (reply.re) {
      case 'ok':
        channel.resolve(reply.id, reply.result);
        break;
      case 'error':
        this.#processes.delete(reply.id);
        channel.reject(reply.id, unpackError(reply.error));
        break;
      case 'out':
        this.#runs.get(reply.id)?.onOutput(reply.stream, body);
        this.#processes.get(reply.id)?.[reply.stream].write(body);
        break;
      case 'started':
        this.#runs.get(reply.id)?.steered?.onStarted();
        break;
      case 'found':
        this.#runs.get(reply.id)?.steered?.onFound(reply.found);
        break;
      case 'stale':
        this.#processes.get(reply.id)?.onStale();
        break;
      case 'exit':
        this.#end(reply.id, { code: reply.code, signal: reply.signal });
        break;
      case 'egress':
        this.#relay.report(reply);
        break;
      case 'egress_ready':
        void this.#relay.tellAll(reply, (request) => spawner.send(request));
        break;
      case 'log':
        this.#deps.logger[reply.level](reply.event, reply.fields);
        break;
    }
  }

  #end(id: number, end: ProcessEnd): void {
    const opened = this.#processes.get(id);
    this.#processes.delete(id);
    opened?.stdout.end();
    opened?.stderr.end();
    opened?.onExit(end);
  }

  /** Sandboxes do not outlive the spawner, so everything pending has ended. */
  #lost(running: Running, lastWords: string): void {
    const { spawner, channel } = running;
    const isExpected = this.#stopping !== null || this.#running !== running;
    if (this.#running === running) this.#running = null;
    if (!isExpected) this.#deps.logger.error('spawner.died', { pid: spawner.pid, printed: lastWords });
    channel.close(spawnerGone());
    this.heritage.spawnerLost();
    for (const id of [...this.#processes.keys()]) this.#end(id, { code: null, signal: 'SIGKILL' });
  }
}

function spawnerGone(): ContextdError {
  return new ContextdError('INTERRUPTED', 'the process that runs sandboxes ended, and with it the command', {
    remedy: 'Look at what the command has done before calling again.',
  });
}
