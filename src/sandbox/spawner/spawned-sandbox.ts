import { PassThrough } from 'node:stream';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { EgressCommand } from '../../egress/messages.ts';
import type { LayerAbility, LayerKind } from '../layers/mounted.ts';
import type { MergeRequest, ReplyOf } from '../merge/messages.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../quarantine.ts';
import type {
  CommandResult,
  CommandSpec,
  IsolationReport,
  MergeResult,
  ProjectCaches,
  RestoreResult,
  Sandbox,
  SandboxDeps,
  SandboxProcess,
  SandboxProgram,
  SandboxStatus,
  SteeredCommand,
  StorageAction,
} from '../sandbox.ts';
import type { SandboxPolicy } from '../sandbox-policy.ts';
import type { RestoreItem, SnapshotReply, SnapshotRequest } from '../snapshots/messages.ts';
import { closeCapture, openCapture } from '../terminal-capture.ts';
import { EgressRelay } from './egress-relay.ts';
import { type Reply, type Request, unpackError } from './messages.ts';
import { SpawnerProcess } from './spawner-process.ts';

const ISOLATION_FRESH_MS = 5_000;

/** Requests of the daemon without their number. */
type Unnumbered = Request extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never;

/** The callbacks of a request under way. */
interface Waiting {
  resolve(result: unknown): void;
  reject(fault: ContextdError): void;
  onOutput?(stream: 'stdout' | 'stderr', bytes: Buffer): void;
}

/** The callbacks of a steered run. */
interface Steered {
  onSent(id: number): void;
  onStarted(): void;
  onFound(found: readonly SetAside[]): void;
}

/** A long-lived process, from `open` to its end. */
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

/** The parts of a result that the spawner knows; the streams are captured here. */
type RunEnd = Omit<CommandResult, 'stdout' | 'stderr'>;

/**
 * The daemon's side of the spawner. It starts the spawner in `launch`, and again at the first request after the spawner
 * died; requests under way then fail at once.
 */
export class SpawnedSandbox implements Sandbox {
  readonly #deps: SandboxDeps;
  readonly #waiting = new Map<number, Waiting>();
  readonly #steered = new Map<number, Steered>();
  readonly #relay: EgressRelay;
  readonly #processes = new Map<number, OpenedProcess>();
  readonly #isolation = new Map<string, { askedAt: number; report: Promise<IsolationReport> }>();
  #spawner: SpawnerProcess | null = null;
  /** The spawner that has received its settings. */
  #configured: SpawnerProcess | null = null;
  #lastId = 0;
  #stopping: Promise<void> | null = null;

  constructor(deps: SandboxDeps) {
    this.#deps = deps;
    this.#relay = new EgressRelay(deps);
  }

  /** Starts the spawner, which touches nothing in the home directory of contextd before `start`. */
  async launch(): Promise<void> {
    this.#stopping = null;
    this.#spawner ??= this.#spawn();
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
    if (this.#stopping === null) this.#running().send({ op: 'egress', command });
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
    // A command that was cancelled before its start has ended and never started.
    ended.then(() => resolve(), reject);
    started.catch(() => {});
    const ask = async <T>(request: Unnumbered, body?: Buffer): Promise<T> => {
      await started;
      return this.#request(request, body).result as Promise<T>;
    };
    return {
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
    const { outputMaxBytes, terminal = false } = command;
    // On a terminal the output is text, and all of it is in `stdout`; errors of the terminal itself are in `stderr`.
    const captures = { stdout: openCapture(outputMaxBytes, terminal), stderr: openCapture(outputMaxBytes, false) };
    const request = {
      op: 'run',
      policy,
      command: { ...command, hasStdin: stdin !== null, isCancelled: signal.aborted, isSteered: steered !== null },
    } as const;
    const { id, result } = this.#request(request, stdin ?? undefined, (stream, bytes) => {
      captures[stream].add(bytes);
      onOutput?.(stream, bytes);
    });
    if (steered !== null) this.#steered.set(id, steered);
    this.#relay.began(id, run);
    steered?.onSent(id);
    const cancel = (): void => this.#spawner?.send({ op: 'cancel', id });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const end = (await result) as RunEnd;
      return { ...end, stdout: await captures.stdout.result(), stderr: await captures.stderr.result() };
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#steered.delete(id);
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
        if (this.#processes.has(id)) this.#spawner?.send({ op: 'kill', id });
        await exited;
      };
      return { stdout, stderr, socketDir, stale, exited, kill };
    } catch (cause) {
      this.#processes.delete(id);
      throw cause;
    }
  }

  /**
   * Commands under way end first and their callers get the result. If the spawner died meanwhile, nothing is left to
   * stop.
   */
  async #stopRunning(): Promise<void> {
    const spawner = this.#spawner;
    if (spawner === null) return;
    await this.#send(spawner, { op: 'stop' }).result.catch(() => {});
    await spawner.stop();
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

  #request(
    request: Unnumbered,
    body?: Buffer,
    onOutput?: Waiting['onOutput'],
  ): { id: number; result: Promise<unknown> } {
    const spawner = this.#running();
    return this.#send(spawner, request, body, onOutput);
  }

  #send(
    spawner: SpawnerProcess,
    request: Unnumbered,
    body?: Buffer,
    onOutput?: Waiting['onOutput'],
  ): { id: number; result: Promise<unknown> } {
    this.#lastId += 1;
    const id = this.#lastId;
    const result = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, ...(onOutput === undefined ? {} : { onOutput }) });
      spawner.send({ ...request, id } as Request, body);
    });
    return { id, result };
  }

  #running(): SpawnerProcess {
    if (this.#stopping !== null) {
      throw new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping', {
        remedy: 'Call again when it has started.',
      });
    }
    this.#spawner ??= this.#spawn();
    if (this.#configured !== this.#spawner) {
      const { paths, config } = this.#deps;
      this.#spawner.send({ op: 'configure', settings: { paths, config } });
      this.#configured = this.#spawner;
    }
    return this.#spawner;
  }

  #spawn(): SpawnerProcess {
    const spawner: SpawnerProcess = new SpawnerProcess(
      {
        onMessage: (header, body) => this.#receive(header as unknown as Reply, body),
        onGone: (lastWords) => this.#lost(spawner, lastWords),
      },
      this.#deps.logger,
    );
    return spawner;
  }

  #receive(reply: Reply, body: Buffer): void {
    switch (reply.re) {
      case 'ok':
        this.#take(reply.id)?.resolve(reply.result);
        break;
      case 'error':
        this.#processes.delete(reply.id);
        this.#take(reply.id)?.reject(unpackError(reply.error));
        break;
      case 'out':
        this.#waiting.get(reply.id)?.onOutput?.(reply.stream, body);
        this.#processes.get(reply.id)?.[reply.stream].write(body);
        break;
      case 'started':
        this.#steered.get(reply.id)?.onStarted();
        break;
      case 'found':
        this.#steered.get(reply.id)?.onFound(reply.found);
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
        void this.#relay.tellAll(reply, (request) => this.#spawner?.send(request));
        break;
      case 'log':
        this.#deps.logger[reply.level](reply.event, reply.fields);
        break;
    }
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #end(id: number, end: ProcessEnd): void {
    const opened = this.#processes.get(id);
    this.#processes.delete(id);
    opened?.stdout.end();
    opened?.stderr.end();
    opened?.onExit(end);
  }

  /** No sandbox outlives the spawner, so everything under way has ended. */
  #lost(spawner: SpawnerProcess, lastWords: string): void {
    if (this.#spawner === spawner) this.#spawner = null;
    if (this.#stopping === null) this.#deps.logger.error('spawner.died', { pid: spawner.pid, printed: lastWords });
    const fault = new ContextdError('INTERRUPTED', 'the process that runs sandboxes ended, and with it the command', {
      remedy: 'Look at what the command has done before calling again.',
    });
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(fault);
    for (const id of [...this.#processes.keys()]) this.#end(id, { code: null, signal: 'SIGKILL' });
  }
}
