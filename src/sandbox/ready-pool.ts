import { once } from 'node:events';
import { Duplex } from 'node:stream';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { CommandSpec } from './sandbox.ts';
import type { StartedSandbox } from './starter.ts';

/** Milliseconds a sandbox waits for a command before it is replaced. */
const AGE_MAX_MS = 60_000;
/** The most milliseconds between two looks at what waits. */
const LOOK_EVERY_MS = 5_000;
/** Milliseconds to wait after a command, so that its answer goes out before anything else takes the processor. */
const FILL_AFTER_MS = 20;

/** A started sandbox that waits for its one command. */
export interface ReadySandbox extends StartedSandbox {
  /** Of the protected paths it was started with. */
  readonly fingerprint: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Gives it its command; call once. */
  give(script: string): void;
}

export interface ReadyPoolDeps {
  /** How many sandboxes to keep for each policy; 0: none. */
  perPolicy: number;
  /** How many sandboxes to keep for all policies together. */
  max: number;
  /** Milliseconds after the last command of a policy until the pool keeps nothing ready for it. */
  idleMs: number;
  clock: Clock;
  logger: Logger;
  /** Kills an unused sandbox and removes what is left of it. */
  discard(ready: ReadySandbox): void;
}

interface Shelf {
  /**
   * Starts one as the policy's last command was started: the directory may have been replaced since the first command.
   */
  make: () => Promise<ReadySandbox>;
  ready: ReadySandbox[];
  lastUsed: number;
}

/**
 * One-shot sandboxes that are started before they are needed, by policy. Each runs one command and is then replaced in
 * the background. A sandbox is discarded if its protected paths have changed or after a minute.
 */
export class ReadyPool {
  readonly #deps: ReadyPoolDeps;
  readonly #shelves = new Map<string, Shelf>();
  readonly #timer: NodeJS.Timeout;
  #filling: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(deps: ReadyPoolDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#look(), Math.min(LOOK_EVERY_MS, deps.idleMs)).unref();
  }

  /** How many sandboxes wait, by policy. */
  counts(): Map<string, number> {
    return new Map([...this.#shelves].map(([key, { ready }]) => [key, ready.length]));
  }

  get size(): number {
    return [...this.#shelves.values()].reduce((sum, { ready }) => sum + ready.length, 0);
  }

  all(): ReadySandbox[] {
    return [...this.#shelves.values()].flatMap(({ ready }) => ready);
  }

  /** A sandbox that was started with exactly these protected paths, or null. It now belongs to the caller. */
  take(key: string, fingerprint: string): ReadySandbox | null {
    const shelf = this.#shelves.get(key);
    for (let ready = shelf?.ready.shift(); ready !== undefined; ready = shelf?.ready.shift()) {
      if (ready.fingerprint === fingerprint && this.#isUsable(ready)) return ready;
      this.#deps.discard(ready);
    }
    return null;
  }

  /**
   * Call after a command of this policy: replaces its sandbox, later and one at a time, so that nobody waits for it.
   */
  used(key: string, make: () => Promise<ReadySandbox>): void {
    if (this.#isStopped || this.#deps.perPolicy === 0) return;
    const shelf = this.#shelves.get(key) ?? { make, ready: [], lastUsed: 0 };
    shelf.make = make;
    shelf.lastUsed = this.#deps.clock.monotonic();
    this.#shelves.set(key, shelf);
    setTimeout(() => this.#fill(shelf), FILL_AFTER_MS);
  }

  /** Kills what waits for these policies, and makes no more for them until their next command. */
  async forget(isMeant: (key: string) => boolean): Promise<void> {
    for (const [key, shelf] of [...this.#shelves]) {
      if (!isMeant(key)) continue;
      this.#shelves.delete(key);
      this.#empty(shelf);
    }
    // One that is being started is discarded when it is up.
    await this.#filling;
  }

  /** Kills everything that waits. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#filling;
    for (const shelf of this.#shelves.values()) this.#empty(shelf);
    this.#shelves.clear();
  }

  #fill(shelf: Shelf): void {
    this.#filling = this.#filling.then(async () => {
      while (
        !this.#isStopped &&
        this.#holds(shelf) &&
        shelf.ready.length < this.#deps.perPolicy &&
        this.#makeRoom(shelf)
      ) {
        try {
          const made = await shelf.make();
          // The shelf may have been emptied or removed while this one started.
          if (this.#isStopped || !this.#holds(shelf)) this.#deps.discard(made);
          else shelf.ready.push(made);
        } catch (cause) {
          this.#deps.logger.debug('sandbox.not_readied', { cause: String(cause) });
          return;
        }
      }
    });
  }

  #holds(shelf: Shelf): boolean {
    return [...this.#shelves.values()].includes(shelf);
  }

  /** Makes room by discarding the sandboxes of the policy that was used least recently. */
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
      if (now - shelf.lastUsed <= this.#deps.idleMs) this.#fill(shelf);
      else {
        this.#empty(shelf);
        this.#shelves.delete(key);
      }
    }
  }

  #isUsable(ready: ReadySandbox): boolean {
    return (
      ready.jail.isAlive &&
      ready.storage?.isCurrent() !== false &&
      this.#deps.clock.monotonic() - ready.startedAt <= AGE_MAX_MS
    );
  }

  #empty(shelf: Shelf): void {
    for (const ready of shelf.ready.splice(0)) this.#deps.discard(ready);
  }
}

/** The descriptor on which a waiting shell reads its command. */
export const SCRIPT_FD = 3;

/**
 * What a pre-forked sandbox runs: a bash that reports that it is up, waits, and becomes the command's own shell. It
 * unsets the variable it reads into before the command starts, and exits if it gets no command.
 */
export const WAITING_SHELL = [
  'bash',
  '-c',
  `printf . >&${SCRIPT_FD}; IFS= read -r -d '' -u ${SCRIPT_FD} contextd_script || exit 125; exec ${SCRIPT_FD}<&-; eval "$contextd_script"`,
];

/** Milliseconds within which a waiting shell must be up; on a loaded machine it takes some hundred. */
const READY_WITHIN_MS = 10_000;

/** The socket of a waiting shell, after it has reported that it is up. Throws if it does not come up. */
export async function scriptSocket({ jail }: StartedSandbox): Promise<Duplex> {
  const socket = jail.child.stdio[SCRIPT_FD];
  if (!(socket instanceof Duplex)) throw new Error('a waiting sandbox has no socket for its script');
  socket.on('error', () => {});
  const ended = jail.ended.then(() => Promise.reject(new Error('a waiting sandbox ended before it was used')));
  await Promise.race([once(socket, 'data', { signal: AbortSignal.timeout(READY_WITHIN_MS) }), ended]);
  return socket;
}

/** `read` reads one byte at a time from a socket: a longer script starts faster in a new sandbox. */
const SCRIPT_MAX_BYTES = 8 * 1024;

/**
 * The script that makes a waiting shell do what `command` does. Null if the command needs a sandbox of its own: another
 * program than `bash -c`; an environment, which a shell reads at its start; or an input, which would be a pipe instead
 * of /dev/null, and some programs check for that.
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
