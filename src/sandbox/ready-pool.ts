import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { CommandSpec } from './sandbox.ts';
import type { StartedSandbox } from './starter.ts';

/** Milliseconds a sandbox waits for a command before it is replaced. */
const AGE_MAX_MS = 60_000;
/** Milliseconds after the last command of a policy until nothing is kept ready for it. */
const UNUSED_MAX_MS = 600_000;
const LOOK_EVERY_MS = 5_000;
/** Milliseconds after a command: its answer goes out before anything else takes the processor. */
const FILL_AFTER_MS = 20;

/** A sandbox that was started and waits for its one command. */
export interface ReadySandbox extends StartedSandbox {
  /** Of the protected paths it was started with. */
  readonly fingerprint: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Hands it its command, once. */
  give(script: string): void;
}

export interface ReadyPoolDeps {
  /** Kept for each policy; 0: none. */
  perPolicy: number;
  /** Kept for all policies together. */
  max: number;
  clock: Clock;
  logger: Logger;
  /** Removes what is left of a sandbox that was not used; kills it first. */
  discard(ready: ReadySandbox): void;
}

interface Shelf {
  /** As the last command of the policy was started: its directory may be another one than the first command's. */
  make: () => Promise<ReadySandbox>;
  ready: ReadySandbox[];
  lastUsed: number;
}

/**
 * One-shot sandboxes that are up before they are asked for, by policy. Each serves one command and is replaced in the
 * background; one whose protected paths have changed, or that waited for a minute, is thrown away.
 */
export class ReadyPool {
  readonly #deps: ReadyPoolDeps;
  readonly #shelves = new Map<string, Shelf>();
  readonly #timer: NodeJS.Timeout;
  #filling: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(deps: ReadyPoolDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** How many wait, by policy. */
  counts(): Map<string, number> {
    return new Map([...this.#shelves].map(([key, { ready }]) => [key, ready.length]));
  }

  get size(): number {
    return [...this.#shelves.values()].reduce((sum, { ready }) => sum + ready.length, 0);
  }

  all(): ReadySandbox[] {
    return [...this.#shelves.values()].flatMap(({ ready }) => ready);
  }

  /** One that was started with exactly these protected paths, or null. It is the caller's from now on. */
  take(key: string, fingerprint: string): ReadySandbox | null {
    const shelf = this.#shelves.get(key);
    for (let ready = shelf?.ready.shift(); ready !== undefined; ready = shelf?.ready.shift()) {
      if (ready.fingerprint === fingerprint && this.#isUsable(ready)) return ready;
      this.#deps.discard(ready);
    }
    return null;
  }

  /** After a command of this policy: fills its place, later and one at a time, so that nobody waits for it. */
  used(key: string, make: () => Promise<ReadySandbox>): void {
    if (this.#isStopped || this.#deps.perPolicy === 0) return;
    const shelf = this.#shelves.get(key) ?? { make, ready: [], lastUsed: 0 };
    shelf.make = make;
    shelf.lastUsed = this.#deps.clock.monotonic();
    this.#shelves.set(key, shelf);
    setTimeout(() => this.#fill(shelf), FILL_AFTER_MS);
  }

  /** Kills and forgets everything that waits. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#filling;
    for (const shelf of this.#shelves.values()) this.#empty(shelf);
    this.#shelves.clear();
  }

  #fill(shelf: Shelf): void {
    this.#filling = this.#filling.then(async () => {
      while (!this.#isStopped && shelf.ready.length < this.#deps.perPolicy && this.#makeRoom(shelf)) {
        try {
          const made = await shelf.make();
          // The shelf may have been emptied, or taken away, while this one came up.
          if (this.#isStopped || ![...this.#shelves.values()].includes(shelf)) this.#deps.discard(made);
          else shelf.ready.push(made);
        } catch (cause) {
          this.#deps.logger.debug('sandbox.not_readied', { cause: String(cause) });
          return;
        }
      }
    });
  }

  /** The policy that was used least recently gives its places up. */
  #makeRoom(forShelf: Shelf): boolean {
    if (this.size < this.#deps.max) return true;
    const others = [...this.#shelves.values()].filter((shelf) => shelf !== forShelf && shelf.ready.length > 0);
    const oldest = others.sort((a, b) => a.lastUsed - b.lastUsed)[0];
    if (oldest === undefined) return false;
    this.#empty(oldest);
    return true;
  }

  #look(): void {
    const now = this.#deps.clock.monotonic();
    for (const [key, shelf] of this.#shelves) {
      const stale = shelf.ready.filter((ready) => !this.#isUsable(ready));
      shelf.ready = shelf.ready.filter((ready) => !stale.includes(ready));
      for (const ready of stale) this.#deps.discard(ready);
      if (now - shelf.lastUsed <= UNUSED_MAX_MS) this.#fill(shelf);
      else {
        this.#empty(shelf);
        this.#shelves.delete(key);
      }
    }
  }

  #isUsable(ready: ReadySandbox): boolean {
    return ready.jail.isAlive && this.#deps.clock.monotonic() - ready.startedAt <= AGE_MAX_MS;
  }

  #empty(shelf: Shelf): void {
    for (const ready of shelf.ready.splice(0)) this.#deps.discard(ready);
  }
}

/** The descriptor on which a waiting shell reads its command. */
export const SCRIPT_FD = 3;

/**
 * What a pre-forked sandbox runs: a bash that says it is up, waits, and becomes the command's own. The name it reads into is
 * taken away before the command sees it; without a command it ends.
 */
export const WAITING_SHELL = [
  'bash',
  '-c',
  `printf . >&${SCRIPT_FD}; IFS= read -r -d '' -u ${SCRIPT_FD} contextd_script || exit 125; exec ${SCRIPT_FD}<&-; eval "$contextd_script"`,
];

/** `read` takes a byte at a time from a socket: of longer scripts a new sandbox is the faster one. */
const SCRIPT_MAX_BYTES = 8 * 1024;

/**
 * The script for a waiting shell that does what `command` does, or null where only a sandbox of its own can: another
 * program than `bash -c`, an environment, which a shell reads as it starts, or an input. Other than /dev/null, an
 * input would be a pipe, and some programs look for one.
 */
export function scriptFor(
  command: Pick<CommandSpec, 'argv' | 'cwd' | 'env' | 'stdin'>,
  workspace: string,
): string | null {
  const [program, flag, script, ...more] = command.argv;
  const isPlain = program === 'bash' && flag === '-c' && script !== undefined && more.length === 0;
  if (!isPlain || command.stdin !== null || Object.keys(command.env).length > 0) return null;
  if (Buffer.byteLength(script) > SCRIPT_MAX_BYTES) return null;
  const enter = command.cwd === workspace ? '' : `cd -- ${quote(command.cwd)} || exit; unset OLDPWD; `;
  return `unset contextd_script; ${enter}${script}\0`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
