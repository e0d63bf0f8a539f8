import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Clock, Timer } from '../core/clock.ts';
import { untilAborted, within } from '../core/deadline.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { RequestLimits, ToolRequest } from './connection.ts';
import type { SeenTools } from './definitions.ts';
import { Failures } from './failures.ts';
import { afterSending, answersNothing, keepsChanging, stillStarting } from './faults.ts';
import { LastLines } from './last-lines.ts';
import { LiveProcesses, type LiveProcessesDeps } from './live-processes.ts';
import { PacedWork } from './paced-work.ts';
import type { ServerSession } from './session.ts';
import { type StartDeps, type StartedServer, startServer } from './start-server.ts';

export interface UpstreamServerDeps extends StartDeps, LiveProcessesDeps {
  /** Milliseconds without a call after which the process is stopped. */
  readonly idleMs: number;
  /** Milliseconds for an answer to a ping. Default: 10 seconds. */
  readonly pingMs?: number;
  /** Called with each list of the server, before a call goes to it. */
  onTools(seen: SeenTools): Promise<void>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

/** What a request to a server needs. */
export interface ServerUse extends RequestLimits {
  /** True: it must not reach the server twice. Default: it only reads. */
  readonly hasEffects?: boolean;
}

export type ServerState = 'stopped' | 'starting' | 'running' | 'failing';

interface Running extends StartedServer {
  calls: number;
  isStale: boolean;
  cancelIdle(): void;
  cancelHeartbeat(): void;
}

const HEARTBEAT_EVERY_MS = 30_000;
const PING_MS = 10_000;
/** Milliseconds to wait for the reason after a connection broke. Elapses only if the process goes on. */
const REASON_WAIT_MS = 2_000;
/** How often in a row a call gets another process because the project changed on the host. */
const STALE_MAX = 3;

/** One MCP server of one project: started when it is called, stopped when it is idle, left alone when it keeps failing. */
export class UpstreamServer {
  readonly #deps: UpstreamServerDeps;
  readonly #failures: Failures;
  #current: Promise<Running> | null = null;
  #running: Running | null = null;
  readonly #processes: LiveProcesses;
  #lastLines = new LastLines();
  #isLegacy: boolean;
  /** Aborts the start that is under way. */
  #starting = new AbortController();
  #isStopped = false;
  #leftOut: readonly string[] = [];
  /** One list at a time, so that an old one never takes the place of a newer. */
  readonly #refreshes: PacedWork<ServerSession>;

  constructor(deps: UpstreamServerDeps) {
    this.#deps = deps;
    this.#failures = new Failures(deps.name);
    this.#processes = new LiveProcesses(deps);
    this.#isLegacy = deps.passing?.isLegacy ?? false;
    this.#refreshes = new PacedWork({
      ...deps,
      work: (session) => this.#readTools(session),
      onFailure: (thrown) => deps.logger.warn('upstream.not_refreshed', { server: deps.name, cause: String(thrown) }),
    });
  }

  get state(): ServerState {
    if (this.#running !== null) return 'running';
    if (this.#current !== null) return 'starting';
    return this.#failures.count > 0 ? 'failing' : 'stopped';
  }

  /** Of the process that runs now; otherwise empty. */
  get protocol(): string {
    return this.#running?.session.protocol ?? '';
  }

  /** Why it failed last; null after a call that was answered. */
  get lastFault(): ContextdError | null {
    return this.#failures.last;
  }

  /** The same as a sentence, or ''. */
  get lastError(): string {
    return this.lastFault?.message ?? '';
  }

  /** The last lines of its standard error, oldest first. */
  get lastLines(): readonly string[] {
    return this.#lastLines.lines;
  }

  /** Tools that it listed and that cannot be used. */
  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  /** Starts it if it does not run, so that its tools are known. Throws as `call`. */
  async wake(): Promise<void> {
    this.#release(await this.#acquire());
  }

  /**
   * `check` is called when the tools of the server are known, and throws if the tool is not to be called. Throws
   * UPSTREAM_UNAVAILABLE at once, with the time to wait, while a server that keeps failing is left alone.
   */
  call(request: ToolRequest, check: () => void): Promise<CallToolResult> {
    return this.use({ ...request, hasEffects: true }, (session, timeoutMs) => {
      check();
      return session.callTool({ ...request, timeoutMs });
    });
  }

  /**
   * Gives `work` the session of the server, and the milliseconds that are left. If its request did not reach the process, because that
   * was dying, it is done once more with the next one. Throws as `call`, and INTERRUPTED if a request with effects may have arrived.
   */
  async use<T>(request: ServerUse, work: (session: ServerSession, timeoutMs: number) => Promise<T>): Promise<T> {
    const endsAt = this.#deps.clock.monotonic() + request.timeoutMs;
    const leftMs = (): number => Math.max(1, endsAt - this.#deps.clock.monotonic());
    for (let isLast = false; ; isLast = true) {
      const running = await this.#acquireFor(request, leftMs());
      try {
        const result = await work(running.session, leftMs());
        this.#failures.clear();
        return result;
      } catch (thrown) {
        const { mayHaveArrived, wasNotSent } = await import('./session-faults.ts');
        if (!wasNotSent(thrown)) {
          const reason = await this.#reasonOf(thrown, running);
          throw request.hasEffects && mayHaveArrived(thrown) ? afterSending(reason) : reason;
        }
        this.#lost(running, ContextdError.from(thrown));
        if (isLast || request.signal.aborted) throw thrown;
      } finally {
        this.#release(running);
      }
    }
  }

  async #acquireFor({ signal, timeoutMs }: ServerUse, leftMs: number): Promise<Running> {
    const { name } = this.#deps;
    const late = (): never => {
      throw stillStarting(name, timeoutMs);
    };
    const acquiring = this.#acquire();
    return untilAborted(within(leftMs, acquiring, late), signal).catch((thrown: unknown) => {
      // It is held for a call that does not come.
      acquiring.then(
        (acquired) => this.#release(acquired),
        () => {},
      );
      if (!signal.aborted) throw thrown;
      throw new ContextdError('CANCELLED', `the call of ${name} was cancelled before it began`);
    });
  }

  /** Stops the process, forgets its failures and starts it again. Throws as `call`. */
  async restart(): Promise<void> {
    await this.#end();
    this.#failures.clear();
    await this.wake();
  }

  /** Idempotent. Calls in progress fail. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
  }

  /** How a process ended says more than that its connection broke. One that does not answer may be dead. */
  async #reasonOf(thrown: unknown, running: Running): Promise<unknown> {
    if (!(thrown instanceof ContextdError)) return thrown;
    if (thrown.code === 'UPSTREAM_TIMEOUT') void this.#checkAlive(running);
    // A URL may be unavailable while its relay is well.
    const mayHaveEnded = this.#deps.url === null || this.#running !== running;
    if (thrown.code !== 'UPSTREAM_UNAVAILABLE' || !mayHaveEnded) return thrown;
    return within(REASON_WAIT_MS, running.gone, () => thrown);
  }

  async #acquire(stale = 0): Promise<Running> {
    if (this.#isStopped) throw new ContextdError('INTERRUPTED', 'contextd is stopping');
    const running = await (this.#current ?? this.#startOnce());
    if (running.isStale) {
      if (this.#running === running) this.#leave();
      if (stale < STALE_MAX) return this.#acquire(stale + 1);
      throw keepsChanging(this.#deps.name);
    }
    running.calls += 1;
    running.cancelIdle();
    return running;
  }

  #release(running: Running): void {
    running.calls -= 1;
    if (running.calls > 0) return;
    if (running.isStale || this.#running !== running) void this.#finish(running);
    else running.cancelIdle = this.#deps.timer.after(this.#deps.idleMs, () => this.#leave());
  }

  #startOnce(): Promise<Running> {
    const starting = this.#start();
    this.#current = starting;
    starting.catch(() => {
      if (this.#current === starting) this.#current = null;
    });
    return starting;
  }

  async #start(): Promise<Running> {
    const { clock, logger, name } = this.#deps;
    this.#failures.checkRested(clock.monotonic());
    try {
      const running = await this.#connect();
      this.#isLegacy = running.isLegacy;
      this.#running = running;
      if (this.#deps.url === null) this.#beat(running);
      void running.gone.then((fault) => this.#lost(running, fault));
      void running.process.stale.then(() => {
        running.isStale = true;
      });
      logger.info('upstream.started', { server: name, protocol: running.session.protocol });
      return running;
    } catch (thrown) {
      const fault = ContextdError.from(thrown);
      // A server that knows no older revision refuses it.
      const isRefusal = this.#isLegacy && this.#deps.passing?.isLegacy === true && fault.code === 'UPSTREAM_ERROR';
      this.#isLegacy = false;
      if (isRefusal && !this.#isStopped) return this.#start();
      if (!this.#isStopped) this.#failed(fault);
      throw fault;
    }
  }

  async #connect(): Promise<Running> {
    let opened: ServerSession | null = null;
    let running: Running | null = null;
    this.#lastLines = new LastLines();
    this.#starting = new AbortController();
    const started = await startServer(this.#deps, {
      isLegacy: this.#isLegacy,
      lastLines: this.#lastLines,
      signal: this.#starting.signal,
      onProcess: (process) => this.#processes.add(process),
      onOpen: (session) => {
        opened = session;
        return this.#readTools(session);
      },
      onToolsChanged: () => opened !== null && this.#refreshes.request(opened),
      onUndecided: () => {
        // The next calls get another process.
        if (this.#running === running && this.#processes.hasRoom) this.#leave();
      },
      onBreach: (fault) => {
        if (running !== null) this.#lost(running, fault);
      },
    });
    running = { ...started, calls: 0, isStale: false, cancelIdle() {}, cancelHeartbeat() {} };
    return running;
  }

  async #readTools(session: ServerSession): Promise<void> {
    const seen = await session.listOffers();
    this.#leftOut = seen.leftOut;
    await this.#deps.onTools(seen);
  }

  #beat(running: Running): void {
    running.cancelHeartbeat = this.#deps.timer.after(HEARTBEAT_EVERY_MS, () => {
      void this.#checkAlive(running).then(() => {
        if (this.#running === running) this.#beat(running);
      });
    });
  }

  async #checkAlive(running: Running): Promise<void> {
    const { name, url, pingMs = PING_MS } = this.#deps;
    if (this.#running !== running || url !== null) return;
    try {
      await running.session.ping(pingMs);
    } catch (thrown) {
      const { code } = ContextdError.from(thrown);
      // A server that does not know the question has answered.
      if (code !== 'UPSTREAM_TIMEOUT' && code !== 'UPSTREAM_UNAVAILABLE') return;
      this.#lost(running, answersNothing(name));
    }
  }

  /** The process has ended, or is as good as dead. */
  #lost(running: Running, fault: ContextdError): void {
    void this.#processes.kill(running.process);
    void running.session.close();
    // It was stopped on purpose, or was reported before.
    if (this.#running !== running) return;
    this.#detach();
    this.#failed(fault);
  }

  /** Ends the current process as soon as nothing calls it. */
  #leave(): void {
    const running = this.#running;
    this.#detach();
    if (running?.calls === 0) void this.#finish(running);
  }

  #detach(): void {
    this.#running?.cancelHeartbeat();
    this.#running?.cancelIdle();
    this.#running = null;
    this.#current = null;
    // The next process lists everything when it starts.
    this.#refreshes.forget();
  }

  async #end(): Promise<void> {
    const starting = this.#current;
    const running = this.#running;
    this.#starting.abort();
    this.#detach();
    await running?.session.close();
    if (running !== null) await this.#finish(running);
    await this.#processes.killAll();
    await starting?.catch(() => null);
    // One that was being started.
    this.#detach();
    await this.#processes.killAll();
  }

  /** One that is stale has no time left. */
  async #finish({ process, isStale }: Running): Promise<void> {
    await (isStale ? this.#processes.kill(process) : this.#processes.finish(process));
  }

  #failed(fault: ContextdError): void {
    const { clock, logger, name } = this.#deps;
    this.#failures.add(fault, clock.monotonic());
    logger.warn('upstream.failed', { server: name, failures: this.#failures.count, why: fault.message });
  }
}
