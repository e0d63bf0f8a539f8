import { Socket } from 'node:net';
import { systemClock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { LogFields, Logger } from '../../core/log.ts';
import { packError } from '../../core/wire-error.ts';
import type { QuarantineReport } from '../../guard/contract/quarantine.ts';
import {
  MessageChannel,
  type Request,
  requestOf,
  SPAWNER_FD,
  type SpawnerSettings,
} from '../contract/spawner-messages.ts';
import type { OutputSink } from '../contract/stream-capture.ts';
import type { OutputSinks } from '../run/follow.ts';
import { LinuxSandbox } from '../run/linux-sandbox.ts';
import { PROGRAM_UNREAD_MAX_BYTES, type SteeredRun, Steering } from '../run/steering.ts';

/** Requests that get a reply. */
type Answered = Exclude<Request, { op: 'configure' | 'cancel' | 'kill' | 'egress' | 'egress_told' }>;

/** Carries out the daemon's requests. */
class SpawnerService {
  readonly #channel: MessageChannel;
  readonly #makeSandbox: (settings: SpawnerSettings) => LinuxSandbox;
  readonly #cancels = new Map<number, AbortController>();
  readonly #steerings = new Map<number, Steering>();
  readonly #kills = new Map<number, () => void>();
  readonly #watches = new Map<number, () => Promise<QuarantineReport>>();
  #sandbox: LinuxSandbox | null = null;
  #stopped: Promise<void> | null = null;

  constructor(channel: MessageChannel, makeSandbox: (settings: SpawnerSettings) => LinuxSandbox) {
    this.#channel = channel;
    this.#makeSandbox = makeSandbox;
  }

  receive(request: Request, body: Buffer): void {
    switch (request.op) {
      case 'configure':
        this.#sandbox = this.#makeSandbox(request.settings);
        break;
      case 'cancel':
        this.#cancels.get(request.id)?.abort();
        break;
      case 'kill':
        this.#kills.get(request.id)?.();
        break;
      case 'egress':
        this.#sandbox?.network.bridge.tell(request.command);
        break;
      case 'egress_told':
        this.#sandbox?.network.bridge.told(request.start);
        break;
      default:
        void this.#answer(request, body);
    }
  }

  async stop(): Promise<void> {
    this.#stopped ??= this.#sandbox?.stop() ?? Promise.resolve();
    await this.#stopped;
  }

  async #answer(request: Answered, body: Buffer): Promise<void> {
    try {
      const result = await this.#carryOut(request, body);
      this.#channel.send({ re: 'ok', id: request.id, result });
    } catch (thrown) {
      this.#channel.send({ re: 'error', id: request.id, error: packError(thrown) });
    }
  }

  async #carryOut(request: Answered, body: Buffer): Promise<unknown> {
    if (this.#sandbox === null) throw new ContextdError('INTERNAL_ERROR', 'the spawner was not configured');
    switch (request.op) {
      case 'probe':
        return this.#sandbox.probe();
      case 'isolation':
        return this.#sandbox.isolationFor(request.workspace);
      case 'stop':
        return this.stop();
      case 'status':
        return this.#sandbox.status();
      case 'watch':
        return this.#watch(this.#sandbox, request);
      case 'finish_watch':
        return this.#finishWatch(request.watchId);
      case 'quarantine':
        return this.#sandbox.quarantine(request.policy, request.action);
      case 'storage':
        return this.#sandbox.storage(request.action);
      case 'snapshot':
        return this.#sandbox.snapshots.ask(request.workspace, request.request);
      case 'restore':
        return this.#sandbox.files.restore(request.policy, body);
      case 'create_layer':
        return this.#sandbox.createLayer(request.policy);
      case 'layer_ability':
        return this.#sandbox.layerAbility(request.workspace);
      case 'remove_layer':
        return this.#sandbox.removeLayer(request.project, request.branch);
      case 'keep_layers':
        return this.#sandbox.keepLayers(request.live);
      case 'merge':
        return this.#sandbox.files.merge(request.policy, request.branch, body);
      case 'run':
        return this.#run(this.#sandbox, request, body);
      case 'input':
        return this.#steeringOf(request.run).input(body, request.isEnd);
      case 'signal':
        return this.#steeringOf(request.run).signal(request.signal);
      case 'usage':
        return this.#steeringOf(request.run).usage();
      case 'activity':
        return this.#steeringOf(request.run).activity();
      case 'open':
        return this.#open(this.#sandbox, request);
    }
  }

  async #run(sandbox: LinuxSandbox, request: Request & { op: 'run' }, body: Buffer): Promise<unknown> {
    const { id, policy, command } = request;
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    try {
      const { hasStdin, isCancelled, isSteered, ...rest } = command;
      if (isCancelled) cancel.abort();
      const spec = { ...rest, stdin: hasStdin ? body : null, signal: cancel.signal };
      return await sandbox.run(policy, spec, this.#sinks(id), {
        number: id,
        steered: isSteered ? this.#steer(id, command.terminal) : null,
      });
    } finally {
      this.#cancels.delete(id);
      this.#steerings.delete(id);
    }
  }

  #steer(id: number, isTerminal = false): SteeredRun {
    const steering = new Steering({ onStarted: () => void this.#channel.send({ re: 'started', id }) }, isTerminal);
    this.#steerings.set(id, steering);
    return {
      steering,
      onFound: (found) => void this.#channel.send({ re: 'found', id, found: [found] }),
    };
  }

  #steeringOf(run: number): Steering {
    const steering = this.#steerings.get(run);
    if (steering !== undefined) return steering;
    throw new ContextdError('CONFLICT', 'the command has ended', { remedy: 'Start it again.' });
  }

  async #watch(sandbox: LinuxSandbox, { id, policy }: Request & { op: 'watch' }): Promise<null> {
    this.#watches.set(id, await sandbox.watch(policy));
    return null;
  }

  async #finishWatch(watchId: number): Promise<QuarantineReport> {
    const finish = this.#watches.get(watchId);
    this.#watches.delete(watchId);
    return finish?.() ?? { quarantined: [], complete: true };
  }

  async #open(sandbox: LinuxSandbox, { id, policy, program }: Request & { op: 'open' }): Promise<JsonObject> {
    const onStale = (): void => void this.#channel.send({ re: 'stale', id });
    const steering =
      program.takesInput === true ? new Steering({ onStarted() {} }, false, PROGRAM_UNREAD_MAX_BYTES) : null;
    const opened = await sandbox.open(policy, program, this.#sinks(id), { onStale, steering });
    this.#kills.set(id, () => opened.kill());
    if (steering !== null) this.#steerings.set(id, steering);
    void opened.exited.then(({ code, signal }) => {
      this.#kills.delete(id);
      this.#steerings.delete(id);
      this.#channel.send({ re: 'exit', id, code, signal });
    });
    return { socketDir: opened.socketDir };
  }

  #sinks(id: number): OutputSinks {
    const sink = (stream: 'stdout' | 'stderr'): OutputSink => ({
      write: (chunk) => this.#channel.send({ re: 'out', id, stream }, chunk),
      onceDrained: (listener) => this.#channel.onceDrained(listener),
    });
    return { stdout: sink('stdout'), stderr: sink('stderr') };
  }
}

/**
 * The spawner: a small process that starts every sandbox from its main thread, because a sandbox dies with the thread
 * that started it. It serves one daemon over an inherited socket, and ends when the socket ends.
 */
function main(): void {
  let isEnding = false;
  const end = async (): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    await service.stop().catch((cause: unknown) => process.stderr.write(`${String(cause)}\n`));
    process.exit(0);
  };
  const socket = new Socket({ fd: SPAWNER_FD, readable: true, writable: true });
  const channel: MessageChannel = new MessageChannel(
    socket,
    // The daemon wrote it: nothing else holds the other end.
    (header, body) => service.receive(requestOf(header), body),
    () => void end(),
  );
  const logger = logTo(channel);
  const service = new SpawnerService(
    channel,
    ({ paths, config }) =>
      new LinuxSandbox(
        { paths, config, logger, clock: systemClock },
        {
          onEgress: (event, run) => void channel.send({ re: 'egress', event, run }),
          onEgressReady: (start) => void channel.send({ re: 'egress_ready', start }),
        },
      ),
  );
  process.on('SIGTERM', () => void end());
  process.on('SIGINT', () => {});
}

/** Sends log lines to the daemon, which masks and writes them. */
function logTo(channel: MessageChannel): Logger {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: LogFields = {}, cause?: unknown): void => {
      const why = cause === undefined ? {} : { cause: String(cause) };
      channel.send({ re: 'log', level, event, fields: { ...fields, ...why } });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

main();
