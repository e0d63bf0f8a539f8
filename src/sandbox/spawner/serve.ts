import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { OutputSinks } from '../command.ts';
import type { LinuxSandbox } from '../linux-sandbox.ts';
import type { OutputSink } from '../output-reader.ts';
import type { QuarantineReport } from '../quarantine.ts';
import type { MessageChannel } from './message-channel.ts';
import { packError, type Request, type SpawnerSettings } from './messages.ts';

/** Carries out what the daemon asks. */
export class SpawnerService {
  readonly #channel: MessageChannel;
  readonly #makeSandbox: (settings: SpawnerSettings) => LinuxSandbox;
  readonly #cancels = new Map<number, AbortController>();
  readonly #kills = new Map<number, () => void>();
  readonly #watches = new Map<number, () => Promise<QuarantineReport>>();
  #sandbox: LinuxSandbox | null = null;

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
      default:
        void this.#answer(request, body);
    }
  }

  async stop(): Promise<void> {
    await this.#sandbox?.stop();
  }

  async #answer(request: Exclude<Request, { op: 'configure' | 'cancel' | 'kill' }>, body: Buffer): Promise<void> {
    try {
      const result = await this.#carryOut(request, body);
      this.#channel.send({ re: 'ok', id: request.id, result });
    } catch (thrown) {
      this.#channel.send({ re: 'error', id: request.id, error: packError(thrown) });
    }
  }

  #carryOut(request: Exclude<Request, { op: 'configure' | 'cancel' | 'kill' }>, body: Buffer): Promise<unknown> {
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
      case 'run':
        return this.#run(this.#sandbox, request, body);
      case 'open':
        return this.#open(this.#sandbox, request);
    }
  }

  async #run(sandbox: LinuxSandbox, request: Request & { op: 'run' }, body: Buffer): Promise<unknown> {
    const { id, policy, command } = request;
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    try {
      const { hasStdin, isCancelled, ...rest } = command;
      if (isCancelled) cancel.abort();
      const spec = { ...rest, stdin: hasStdin ? body : null, signal: cancel.signal };
      return await sandbox.run(policy, spec, this.#sinks(id));
    } finally {
      this.#cancels.delete(id);
    }
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
    const opened = await sandbox.open(policy, program, this.#sinks(id), onStale);
    this.#kills.set(id, () => opened.kill());
    void opened.exited.then(({ code, signal }) => {
      this.#kills.delete(id);
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
