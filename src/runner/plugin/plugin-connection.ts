import { unlink } from 'node:fs/promises';
import {
  Channel,
  type ChannelCredentials,
  type Client,
  type ClientOptions,
  connectivityState,
  type Server,
} from '@grpc/grpc-js';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import {
  _plugin_StdioData_Channel as StdioChannel,
  type StdioData__Output,
} from '../../protocol/generated/grpc_stdio.ts';
import { _grpc_health_v1_HealthCheckResponse_ServingStatus as ServingStatus } from '../../protocol/generated/health.ts';
import { HEALTH_SERVICE } from '../../protocol/plugin/environment.ts';
import { quote } from '../../protocol/plugin/handshake-line.ts';
import { loadPluginProtocol, type PluginProtocol } from '../../protocol/plugin/load-plugin-protocol.ts';
import type { DialTarget, Pair } from '../../protocol/plugin/pinned-tls.ts';
import { HostBroker } from './host-broker.ts';
import { describeEnd, type PluginExit, type PluginOptions, type PluginProcess } from './plugin-process.ts';

/** Milliseconds that a process has to end by itself after its connection broke; then it is killed. */
const EXIT_REPORT_MS = 200;

type ClientClass<C extends Client> = new (
  address: string,
  credentials: ChannelCredentials,
  options: ClientOptions,
) => C;

/** A tool process that answered its health check. */
export interface PluginConnection {
  /** Version of the tool protocol that both sides speak. */
  readonly appVersion: number;
  /**
   * A client on the one connection. It needs no close, and closing it closes the connection. Anyone who waits for a
   * call must also watch `closed`: a call sent just as the connection breaks may never end.
   */
  client<C extends Client>(make: ClientClass<C>): C;
  readonly broker: {
    /** A number that was not given out before. */
    nextId(): number;
    /**
     * Serves `server`, not yet bound, to the plugin alone, until the connection closes. Resolves when it is announced;
     * the plugin must dial within its own broker timeout.
     */
    serve(id: number, server: Server): Promise<void>;
    /** What to build a client on for a number that the plugin serves. The caller closes that client. */
    dial(id: number): Promise<DialTarget>;
  };
  /** Asks the health service. Throws TOOL_CRASHED if it does not answer `SERVING` in time. */
  ping(): Promise<void>;
  /** Asks the plugin to shut down, waits for the grace time and kills it. Never rejects; idempotent. */
  stop(): Promise<void>;
  /** Settles once, never rejects: null after `stop`, otherwise why the process or its connection is gone. */
  readonly closed: Promise<ContextdError | null>;
}

export interface Connecting {
  process: PluginProcess;
  options: PluginOptions;
  appVersion: number;
  /** The adopted socket. */
  path: string;
  pair: Pair;
  target: DialTarget;
}

export class LiveConnection implements PluginConnection {
  readonly closed: Promise<ContextdError | null>;
  readonly #made: Connecting;
  readonly #protocol: PluginProtocol = loadPluginProtocol();
  readonly #channel: Channel;
  #close: (fault: ContextdError | null) => void = () => {};
  #broker: HostBroker | undefined;
  #isGone = false;
  #isBroken = false;
  #stopped: Promise<void> | undefined;
  #released: Promise<void> | undefined;

  constructor(made: Connecting) {
    const { address, credentials, options } = made.target;
    this.#made = made;
    this.#channel = new Channel(address, credentials, options);
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  /** Resolves when the plugin is healthy and its streams are open. */
  async begin(): Promise<void> {
    const { process, options, pair } = this.#made;
    await this.#check(options.startTimeoutMs);
    const stream = this.client(this.#protocol.GRPCBroker).StartStream();
    this.#broker = new HostBroker({ stream, pair, socketDir: process.socketDir, options });
    this.#readStdio();
    this.#watch();
    void process.exited.then((exit) => {
      if (!this.#isBroken) this.#lose(exit);
    });
  }

  get appVersion(): number {
    return this.#made.appVersion;
  }

  get broker(): HostBroker {
    if (this.#broker === undefined) throw new Error('the broker is used before the connection began');
    return this.#broker;
  }

  client<C extends Client>(make: ClientClass<C>): C {
    const { address, credentials, options } = this.#made.target;
    return new make(address, credentials, { ...options, channelOverride: this.#channel });
  }

  ping(): Promise<void> {
    return this.#check(this.#made.options.brokerTimeoutMs);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Releases what the connection holds on the host. Idempotent. */
  release(): Promise<void> {
    this.#released ??= (async () => {
      await this.#broker?.close();
      this.#channel.close();
      await unlink(this.#made.path).catch(() => {});
    })();
    return this.#released;
  }

  #check(timeoutMs: number): Promise<void> {
    const health = this.client(this.#protocol.Health);
    const deadline = Date.now() + timeoutMs;
    return new Promise((resolve, reject) => {
      health.Check({ service: HEALTH_SERVICE }, { deadline }, (error, response) => {
        if (response?.status === ServingStatus.SERVING) resolve();
        else reject(unhealthy(error === null ? `status ${response?.status}` : error.details, error));
      });
    });
  }

  /** A plugin need not serve this; then its output comes on its own streams. */
  #readStdio(): void {
    const { options } = this.#made;
    const stream = this.client(this.#protocol.GRPCStdio).StreamStdio({});
    stream.on('data', ({ channel, data }: StdioData__Output) => {
      if (channel === StdioChannel.STDOUT) options.onOutput('stdout', data);
      if (channel === StdioChannel.STDERR) options.onOutput('stderr', data);
    });
    stream.on('error', (error) => options.logger.debug('plugin.stdio_ended', { why: error.message }));
  }

  #watch(): void {
    const isReady = this.#channel.getConnectivityState(false) === connectivityState.READY;
    if (!isReady) void this.#reportBreak();
    else this.#channel.watchConnectivityState(connectivityState.READY, Number.POSITIVE_INFINITY, () => this.#watch());
  }

  /**
   * How the process ended is the better reason. News of an end can be late, so a process of which nothing is heard is
   * killed: if it had ended before, the kill changes nothing and the reason is the same.
   */
  async #reportBreak(): Promise<void> {
    if (this.#isGone || this.#isBroken) return;
    this.#isBroken = true;
    const { process, options } = this.#made;
    const ended = await within(EXIT_REPORT_MS, process.exited, () => null);
    if (ended !== null) return this.#lose(ended);
    await process.kill().catch((cause: unknown) => options.logger.error('plugin.kill_failed', {}, cause));
    const exit = await process.exited;
    this.#lose(exit.signal === 'SIGKILL' ? 'its connection broke' : exit);
  }

  #lose(reason: PluginExit | string): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const text = typeof reason === 'string' ? reason : describeEnd(reason);
    this.#close(new ContextdError('TOOL_CRASHED', `the tool's process is gone: ${text}`));
    void this.release();
  }

  async #stop(): Promise<void> {
    const { process, options } = this.#made;
    if (!this.#isGone) {
      this.#isGone = true;
      this.#close(null);
      this.#askToShutDown();
      await within(options.graceMs, process.exited, () => null);
    }
    await process.kill().catch((cause: unknown) => options.logger.error('plugin.kill_failed', {}, cause));
    await this.release();
  }

  /** The answer does not matter: the library itself drops the connection before it sends one. */
  #askToShutDown(): void {
    const deadline = Date.now() + this.#made.options.graceMs;
    this.client(this.#protocol.GRPCController).Shutdown({}, { deadline }, () => {});
  }
}

function unhealthy(answer: string, cause: unknown): ContextdError {
  return new ContextdError('TOOL_CRASHED', `the tool did not pass its health check: ${quote(answer)}`, { cause });
}
