import type { Duplex, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { within } from '../../core/deadline.ts';
import type { SetAside } from '../../core/envelope.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/log.ts';
import { packError } from '../../core/wire-error.ts';
import type { RunRef, SteeredCommand } from '../contract/command.ts';
import type { ResumedRun, SpawnerFrames, SpawnerHeritage, SpawnerState, StartedKind } from '../contract/heritage.ts';
import type { SandboxDeps } from '../contract/sandbox.ts';
import { type Reply, type Request, replyOf, requestOf } from '../contract/spawner-messages.ts';
import type { EgressRelay } from './egress-relay.ts';
import { closeInherited, type SpawnerEvents, type SpawnerLink, SpawnerProcess } from './spawner-process.ts';

/** Numbers of requests that one daemon has: more than it makes. */
const IDS_OF_DAEMON = 2 ** 32;
/** Milliseconds within which what a dead daemon had started has ended. */
const ENDED_MAX_MS = 10_000;

interface InheritanceDeps {
  relay: EgressRelay;
  /** What this daemon has started and that goes on. */
  own(): readonly (readonly [number, StartedKind])[];
  /** True if a run has its reply and its output is still being captured. */
  isEnding(): boolean;
  /** True for a run of an earlier daemon that this one has resumed. */
  isTaken(id: number): boolean;
  running(): { spawner: SpawnerLink } | null;
  /** True if a request has no answer yet. */
  isBusy(): boolean;
  start(spawner: (events: SpawnerEvents) => SpawnerLink, firstId: number): void;
  receive(reply: Reply, body: Buffer): void;
  lost(): void;
  /** Ends the spawner, so that the next request starts a new one. */
  renew(): Promise<void>;
  /** Forgets runs that the next daemon resumes. */
  drop(runs: readonly number[]): void;
  /** `hasEnded`: with the spawner. */
  resume(run: ResumedRun, onFound: (found: readonly SetAside[]) => void, hasEnded: boolean): SteeredCommand;
  stillAllowed: Required<SandboxDeps>['stillAllowed'];
  logger: Logger;
}

/** From an earlier daemon: the call or job that a run is for. The spawner does not see it. */
interface Attribution {
  readonly op: 'attribute';
  readonly id: number;
  readonly run: RunRef;
}

function isAttribution(header: JsonObject): header is JsonObject & Attribution {
  return header.op === 'attribute';
}

/** One daemon's part in the line of daemons that one spawner serves. */
export class Inheritance implements SpawnerHeritage {
  readonly #deps: InheritanceDeps;
  /** The first number of this daemon. Smaller ones are those of earlier daemons. */
  #firstId = 0;
  /** What earlier daemons have started, by number. */
  readonly #started = new Map<number, StartedKind>();
  /** Replies for runs that this daemon is to resume, by number. */
  readonly #awaited = new Map<number, [Reply, Buffer][]>();
  #onEmpty: (() => void) | null = null;
  #isInherited = false;
  #link: SpawnerLink | null = null;
  #earlier: SpawnerFrames | null = null;
  #next: SpawnerFrames | null = null;

  constructor(deps: InheritanceDeps) {
    this.#deps = deps;
  }

  get isInherited(): boolean {
    return this.#isInherited;
  }

  get isBusy(): boolean {
    return this.#deps.isBusy();
  }

  get hasPrograms(): boolean {
    return this.#deps.own().some(([, kind]) => kind === 'open');
  }

  /** The way to the spawner through the next daemon; null if this daemon has it. */
  get link(): SpawnerLink | null {
    return this.#link;
  }

  /** True if the next daemon has the spawner. */
  get hasLeft(): boolean {
    return this.#next !== null;
  }

  streams(): readonly [Duplex, Readable] | null {
    const spawner = this.#deps.running()?.spawner;
    return spawner instanceof SpawnerProcess ? [spawner.streams.socket, spawner.streams.stderr] : null;
  }

  async leave(next: SpawnerFrames, take: () => Promise<readonly number[]>): Promise<SpawnerState> {
    const running = this.#deps.running();
    if (running === null || !(running.spawner instanceof SpawnerProcess)) throw new Error('no spawner can be left');
    const { spawner } = running;
    this.#next = next;
    this.#link = { pid: spawner.pid, send: (message, body) => next.send(message, body), async stop() {} };
    running.spawner = this.#link;
    const rest = await spawner.release();
    while (this.#deps.isEnding()) await setImmediate();
    const taken = await take();
    this.#deps.drop(taken);
    const started = [...this.#started, ...this.#deps.own()].filter(([id]) => !taken.includes(id));
    const { refs } = this.#deps.relay;
    return { pid: spawner.pid, rest, firstId: this.#firstId + IDS_OF_DAEMON, refs, taken, started };
  }

  receive(header: JsonObject, body: Buffer): void {
    this.#deps.receive(replyOf(header), body);
  }

  lost(): void {
    this.#deps.lost();
  }

  adopt({ pid, rest, firstId, refs, taken, started }: SpawnerState, earlier: SpawnerFrames): void {
    const { relay, logger } = this.#deps;
    this.#firstId = firstId;
    this.#isInherited = true;
    this.#earlier = earlier;
    for (const [id, kind] of started) this.#started.set(id, kind);
    for (const id of taken) this.#awaited.set(id, []);
    for (const [id, run] of refs) relay.began(id, run);
    this.#deps.start((events) => SpawnerProcess.inherit(pid, rest, events, logger), firstId);
  }

  disown(): void {
    closeInherited();
  }

  pass(header: JsonObject, body: Buffer): void {
    const request = isAttribution(header) ? header : requestOf(header);
    if (request.op === 'attribute') this.#deps.relay.began(request.id, request.run);
    if (request.op === 'run' || request.op === 'open') this.#started.set(request.id, request.op);
    if (this.#next !== null) this.#next.send(request, body);
    else if (request.op === 'run' || request.op === 'open') this.#start(request, body);
    else if (request.op !== 'attribute') this.#deps.running()?.spawner.send(request, body);
  }

  /** The earlier daemon does not know what a person has taken back since. */
  #start(request: Extract<Request, { op: 'run' | 'open' }>, body: Buffer): void {
    try {
      const policy = this.#deps.stillAllowed(request.policy);
      this.#deps.running()?.spawner.send({ ...request, policy }, body);
    } catch (thrown) {
      this.returned({ re: 'error', id: request.id, error: packError(thrown) }, Buffer.alloc(0));
    }
  }

  async forget(): Promise<void> {
    this.#earlier = null;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    const spawner = this.#deps.running()?.spawner;
    for (const [id, kind] of this.#started) spawner?.send({ op: kind === 'run' ? 'cancel' : 'kill', id });
    this.#noteEmpty();
    await within(ENDED_MAX_MS, promise, () => this.#deps.logger.error('spawner.earlier_runs_go_on'));
  }

  #noteEmpty(): void {
    if (this.#started.size === 0) this.#onEmpty?.();
  }

  resume(run: ResumedRun, onFound: (found: readonly SetAside[]) => void): SteeredCommand {
    const replies = this.#awaited.get(run.number);
    this.#awaited.delete(run.number);
    const command = this.#deps.resume(run, onFound, replies === undefined);
    for (const [reply, body] of replies ?? []) this.#deps.receive(reply, body);
    return command;
  }

  async renew(): Promise<void> {
    this.#isInherited = false;
    await this.#deps.renew();
  }

  /** Call for each run of this daemon. */
  began(id: number, run: RunRef | undefined): void {
    this.#deps.relay.began(id, run);
    if (run !== undefined) this.#next?.send({ op: 'attribute', id, run } satisfies Attribution);
  }

  /** Passes a reply on to the earlier daemon that it is for, or keeps it for `resume`. False if it is for this one now. */
  returned(reply: Reply, body: Buffer): boolean {
    if (!('id' in reply)) return false;
    const awaited = this.#awaited.get(reply.id);
    if (awaited !== undefined) {
      awaited.push([reply, body]);
      return true;
    }
    if (reply.id > this.#firstId || this.#deps.isTaken(reply.id)) return false;
    const hasEnded = reply.re === (this.#started.get(reply.id) === 'run' ? 'ok' : 'exit') || reply.re === 'error';
    if (hasEnded) {
      this.#started.delete(reply.id);
      this.#deps.relay.ended(reply.id);
      this.#noteEmpty();
    }
    this.#earlier?.send(reply, body);
    return true;
  }

  spawnerLost(): void {
    this.#awaited.clear();
    this.#started.clear();
    this.#noteEmpty();
    this.#earlier?.send({ re: 'lost' });
  }
}
