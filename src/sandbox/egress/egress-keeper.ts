import type { SendHandle } from 'node:child_process';
import type { Logger } from '../../core/log.ts';
import type { BridgeCommand, EgressCommand, EgressEvent } from '../../egress/messages.ts';
import type { EgressProcess, EgressProcessEvents } from './egress-process.ts';

/** Within this time the process is started at most `STARTS_MAX` times; then it is started once in every pause. */
const STARTS_WITHIN_MS = 60_000;
const STARTS_MAX = 5;
const PAUSE_MS = 10_000;
/** Milliseconds between two starts if it does not start at all. */
const FAILED_PAUSE_MS = 60_000;
/** Milliseconds for a process to say that it can be used; then it is ended. */
const READY_WITHIN_MS = 5_000;
/** Milliseconds for the daemon to tell a new process its rules; then it gets the listeners and refuses everything. */
const TOLD_WITHIN_MS = 5_000;
/** Milliseconds between two looks at how the host resolves names. */
const LOOK_EVERY_MS = 5_000;
/**
 * A process that knows the rules is asked this often. If no event comes from it after this number of questions, it hangs
 * and is ended. More than one, because a daemon that was stopped itself reads the answers only after its timers.
 */
const ASK_EVERY_MS = 5_000;
const UNANSWERED_MAX = 3;
/** The number of the keeper's own questions, whose answers nobody waits for. */
const QUESTION = 0;
/** Starts one after another without a `ready` until the network counts as unavailable. */
const FAILED_STARTS_MAX = 2;

export interface EgressLink {
  send(command: EgressCommand | BridgeCommand, handle?: SendHandle): void;
}

export type RunningEgress = Pick<EgressProcess, 'isReady' | 'isOutdated' | 'send' | 'stop' | 'pid'>;

export interface EgressKeeperDeps {
  /** Throws if it cannot be started. */
  start(events: EgressProcessEvents): Promise<RunningEgress>;
  onEvent(event: EgressEvent): void;
  /** It can be told the rules. `told` with the same number says that this is done. */
  onReady(start: number): void;
  /** The process knows the rules: it gets the listeners. */
  onTold(link: EgressLink): void;
  /** The process died, and every connection with it. */
  onLost(): void;
  /** Nothing is started for a while: who waits for it must not go on waiting. */
  onUnavailable(): void;
  logger: Logger;
}

/** Keeps the proxy process running while a namespace needs it. */
export class EgressKeeper {
  readonly #deps: EgressKeeperDeps;
  #process: RunningEgress | null = null;
  #isWanted = false;
  #isTold = false;
  #starting: Promise<void> | null = null;
  #starts: number[] = [];
  #failedStarts = 0;
  #failure: string | null = null;
  #start = 0;
  #ending: Promise<unknown> = Promise.resolve();
  #lookedAt = 0;
  #restart: NodeJS.Timeout | undefined;
  /** Ends the wait for what a process that started still needs. */
  #stepTimer: NodeJS.Timeout | undefined;
  #questions: NodeJS.Timeout | undefined;
  #unanswered = 0;

  constructor(deps: EgressKeeperDeps) {
    this.#deps = deps;
  }

  /** Why it does not run and is not about to start; null otherwise. */
  get failure(): string | null {
    return this.#failure;
  }

  /** True if it knows the rules. */
  get isUp(): boolean {
    return this.#process !== null && this.#isTold;
  }

  /** Starts it, if it does not run. */
  want(): void {
    this.#isWanted = true;
    if (this.#process === null && this.#restart === undefined) this.#begin();
  }

  /** Ends it. */
  unwant(): void {
    this.#isWanted = false;
    clearTimeout(this.#restart);
    this.#restart = undefined;
    this.#end();
  }

  /** False: it does not run. */
  send(command: EgressCommand | BridgeCommand): boolean {
    this.#process?.send(command);
    return this.#process !== null;
  }

  /** Calls back now if the process knows the rules; otherwise nothing is needed, because `onTold` follows. */
  whenTold(send: (link: EgressLink) => void): void {
    if (this.#process !== null && this.#isTold) send(this.#process);
  }

  told(start: number): void {
    if (this.#process === null || this.#isTold || !this.#process.isReady || start !== this.#start) return;
    clearTimeout(this.#stepTimer);
    this.#isTold = true;
    this.#unanswered = 0;
    this.#questions = setInterval(() => this.#ask(), ASK_EVERY_MS).unref();
    this.#deps.onTold(this.#process);
  }

  #ask(): void {
    const running = this.#process;
    if (running === null) return;
    if (this.#unanswered < UNANSWERED_MAX) {
      this.#unanswered += 1;
      running.send({ op: 'sync', id: QUESTION });
      return;
    }
    clearInterval(this.#questions);
    this.#deps.logger.warn('egress.hangs', { pid: running.pid, silent_ms: UNANSWERED_MAX * ASK_EVERY_MS });
    void running.stop();
  }

  /** Starts it again if the host resolves names in another way now. */
  refresh(): void {
    const now = Date.now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = now;
    if (this.#process?.isOutdated === true) void this.#process.stop();
  }

  async stop(): Promise<void> {
    this.unwant();
    await this.#starting;
    this.#end();
    await this.#ending;
  }

  #end(): void {
    const running = this.#process;
    this.#process = null;
    this.#isTold = false;
    this.#endTimers();
    if (running !== null) this.#ending = Promise.all([this.#ending, running.stop()]);
  }

  #endTimers(): void {
    clearTimeout(this.#stepTimer);
    clearInterval(this.#questions);
  }

  #begin(): void {
    this.#start += 1;
    this.#starts.push(Date.now());
    this.#starting ??= this.#startOne().finally(() => {
      this.#starting = null;
    });
  }

  async #startOne(): Promise<void> {
    let own: RunningEgress | null = null;
    try {
      own = await this.#deps.start({
        onEvent: (event) => own === this.#process && this.#receive(event),
        onGone: (lastWords) => this.#gone(own, lastWords),
      });
    } catch (cause) {
      this.#gone(null, String(cause));
      return;
    }
    if (!this.#isWanted) return own.stop();
    this.#process = own;
    const started = own;
    if (!own.isReady) this.#stepTimer = setTimeout(() => void started.stop(), READY_WITHIN_MS).unref();
    this.#deps.logger.info('egress.started', { pid: own.pid });
  }

  #receive(event: EgressEvent): void {
    this.#unanswered = 0;
    if (event.ev !== 'ready') {
      this.#deps.onEvent(event);
      return;
    }
    this.#failedStarts = 0;
    this.#failure = null;
    const start = this.#start;
    clearTimeout(this.#stepTimer);
    this.#stepTimer = setTimeout(() => this.told(start), TOLD_WITHIN_MS).unref();
    this.#deps.onReady(start);
  }

  /** Also of a process that could not be started. */
  #gone(process: RunningEgress | null, lastWords: string): void {
    if (!this.#isWanted || (process !== null && process !== this.#process)) return;
    this.#deps.logger.warn('egress.ended', { printed: lastWords });
    if (process?.isReady !== true) this.#failedStarts += 1;
    this.#process = null;
    this.#isTold = false;
    this.#endTimers();
    this.#deps.onLost();
    const pauseMs = this.#pauseMs();
    if (pauseMs > 0) {
      this.#failure = lastWords === '' ? 'the process that carries connections does not stay alive' : lastWords;
      this.#deps.onUnavailable();
    }
    this.#restart = setTimeout(() => {
      this.#restart = undefined;
      this.#begin();
    }, pauseMs).unref();
  }

  #pauseMs(): number {
    if (this.#failedStarts >= FAILED_STARTS_MAX) return FAILED_PAUSE_MS;
    this.#starts = this.#starts.filter((at) => Date.now() - at < STARTS_WITHIN_MS);
    return this.#starts.length >= STARTS_MAX ? PAUSE_MS : 0;
  }
}
