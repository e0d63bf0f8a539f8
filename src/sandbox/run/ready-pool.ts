import { once } from 'node:events';
import { Duplex } from 'node:stream';
import type { Clock } from '../../core/clock.ts';
import { Lock } from '../../core/lock.ts';
import type { Logger } from '../../core/log.ts';
import type { CommandSpec } from '../contract/command.ts';
import { evalAndReport, quoteOnOneLine, reportDirectory, SCRIPT_FD, withStatuses } from './pipe-status.ts';
import type { StartedSandbox } from './starter.ts';

/** Maximum age in milliseconds of a waiting sandbox before it is replaced. */
const AGE_MAX_MS = 60_000;
/** Maximum interval in milliseconds between two checks of the waiting sandboxes. */
const LOOK_EVERY_MS = 5_000;
/** Milliseconds to wait after a command, so that its answer is sent before anything else takes the processor. */
const FILL_AFTER_MS = 20;

/** A started sandbox that waits for its one command. */
export interface ReadySandbox extends StartedSandbox {
  /** Fingerprint of the state it was started with. */
  readonly fingerprint: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Gives it its command. Call once. */
  give(script: string): void;
}

export interface ReadyPoolDeps {
  /** Number of sandboxes to keep per policy; 0: none. */
  perPolicy: number;
  /** Number of sandboxes to keep over all policies. */
  max: number;
  /** Milliseconds after a policy's last command until its sandboxes are discarded. */
  idleMs: number;
  clock: Clock;
  logger: Logger;
  /** Kills an unused sandbox and cleans up after it. */
  discard(ready: ReadySandbox): void;
}

interface Shelf {
  /** Starts a sandbox like that of the policy's last command: the directory may have been replaced since the first. */
  make: () => Promise<ReadySandbox>;
  ready: ReadySandbox[];
  lastUsed: number;
}

/**
 * Pool of prestarted one-shot sandboxes, by policy. Each runs one command and is then replaced in the background. A
 * sandbox is discarded after a minute, or when its protected paths have changed.
 */
export class ReadyPool {
  readonly #deps: ReadyPoolDeps;
  readonly #shelves = new Map<string, Shelf>();
  readonly #timer: NodeJS.Timeout;
  readonly #fills = new Lock();
  #isStopped = false;

  constructor(deps: ReadyPoolDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#look(), Math.min(LOOK_EVERY_MS, deps.idleMs)).unref();
  }

  /** Number of waiting sandboxes by policy. */
  counts(): Map<string, number> {
    return new Map([...this.#shelves].map(([key, { ready }]) => [key, ready.length]));
  }

  get size(): number {
    return [...this.#shelves.values()].reduce((sum, { ready }) => sum + ready.length, 0);
  }

  all(): ReadySandbox[] {
    return [...this.#shelves.values()].flatMap(({ ready }) => ready);
  }

  /** Returns a sandbox with exactly this fingerprint, or null. It now belongs to the caller. */
  take(key: string, fingerprint: string): ReadySandbox | null {
    const shelf = this.#shelves.get(key);
    for (let ready = shelf?.ready.shift(); ready !== undefined; ready = shelf?.ready.shift()) {
      if (ready.fingerprint === fingerprint && this.#isUsable(ready)) return ready;
      this.#deps.discard(ready);
    }
    return null;
  }

  /** Called after a command of this policy: replaces its sandbox in the background, one at a time. */
  used(key: string, make: () => Promise<ReadySandbox>): void {
    if (this.#isStopped || this.#deps.perPolicy === 0) return;
    const shelf = this.#shelves.get(key) ?? { make, ready: [], lastUsed: 0 };
    shelf.make = make;
    shelf.lastUsed = this.#deps.clock.monotonic();
    this.#shelves.set(key, shelf);
    setTimeout(() => this.#fill(shelf), FILL_AFTER_MS);
  }

  /** Kills the waiting sandboxes of matching policies, and starts no more for them until their next command. */
  async forget(isMeant: (key: string) => boolean): Promise<void> {
    for (const [key, shelf] of [...this.#shelves]) {
      if (!isMeant(key)) continue;
      this.#shelves.delete(key);
      this.#empty(shelf);
    }
    // A sandbox that is still starting is discarded once it is up.
    await this.#fills.settled;
  }

  /** Kills all waiting sandboxes. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#fills.settled;
    for (const shelf of this.#shelves.values()) this.#empty(shelf);
    this.#shelves.clear();
  }

  #fill(shelf: Shelf): void {
    void this.#fills.run(async () => {
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

  /** Makes room by discarding the sandboxes of the least recently used policy. */
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

/** What a waiting shell runs first for a script whose end it reports. */
const REPORTS = 'contextd_reports=; ';

export function isReporting(script: string): boolean {
  return script.startsWith(REPORTS);
}

/**
 * Program of a prestarted sandbox: a bash that reports that it is up, waits, and becomes the command's own shell. It reads what
 * goes before the command and the command itself: messages of the shell about a command show the text that was read with it. The
 * command stays in the variable in which `bash -c` has it. Exits if it gets no command.
 */
export const WAITING_SHELL = [
  'bash',
  '-c',
  [
    `printf . >&${SCRIPT_FD}`,
    `IFS= read -r -d '' -u ${SCRIPT_FD} contextd_before || exit 125`,
    `IFS= read -r -d '' -u ${SCRIPT_FD} BASH_EXECUTION_STRING || exit 125`,
    'eval "$contextd_before"',
    `if [[ -v contextd_reports ]]; then unset contextd_reports; ${evalAndReport('"$BASH_EXECUTION_STRING"')}`,
    `else exec ${SCRIPT_FD}<&-; eval "$BASH_EXECUTION_STRING"`,
    'fi',
  ].join('; '),
];

/** Milliseconds for a waiting shell to come up. On a loaded machine it takes several hundred. */
const READY_WITHIN_MS = 10_000;

/** Returns the socket of a waiting shell once the shell has reported that it is up. Throws if it does not come up. */
export async function scriptSocket({ jail }: StartedSandbox): Promise<Duplex> {
  const socket = jail.child.stdio[SCRIPT_FD];
  if (!(socket instanceof Duplex)) throw new Error('a waiting sandbox has no socket for its script');
  socket.on('error', () => {});
  const ended = jail.ended.then(() => Promise.reject(new Error('a waiting sandbox ended before it was used')));
  await Promise.race([once(socket, 'data', { signal: AbortSignal.timeout(READY_WITHIN_MS) }), ended]);
  return socket;
}

/** `read` reads a socket one byte at a time, so a longer script starts faster in a new sandbox. */
const SCRIPT_MAX_BYTES = 8 * 1024;

/**
 * The script that makes a waiting shell run `command`. Null if the command needs a new sandbox: because of a program
 * other than `bash -c`, an environment (a shell reads it only at startup), or an input (it would be a pipe instead of
 * /dev/null, and some programs check for that).
 */
export function scriptFor(
  command: Pick<CommandSpec, 'argv' | 'cwd' | 'env' | 'stdin' | 'clientShell'>,
  workspace: string,
): string | null {
  const [program, flag, script, ...more] = command.argv;
  const isPlain = program === 'bash' && flag === '-c' && script !== undefined && more.length === 0;
  if (!isPlain || command.stdin !== null || Object.keys(command.env).length > 0) return null;
  if (Buffer.byteLength(script) > SCRIPT_MAX_BYTES) return null;
  const enter = command.cwd === workspace ? '' : `cd -- ${quote(command.cwd)} || exit; unset OLDPWD; `;
  const reporting = reportingScript(script, command);
  const before = `unset contextd_before; ${enter}${directoryOf(command)}`;
  return `${reporting === null ? '' : REPORTS}${before}\0${reporting ?? script}\0`;
}

/** The arguments of a new sandbox whose shell reports how it ended; null for any other command. */
export function reportingArgv(command: Pick<CommandSpec, 'argv' | 'clientShell'>): readonly string[] | null {
  const [program, flag, script, ...more] = command.argv;
  if (program !== 'bash' || flag !== '-c' || script === undefined || more.length > 0) return null;
  const reporting = reportingScript(script, command);
  return reporting === null ? null : [program, flag, evalAndReport(quoteOnOneLine(reporting), directoryOf(command))];
}

/** Null if its shell reports nothing. */
function reportingScript(script: string, { clientShell }: Pick<CommandSpec, 'clientShell'>): string | null {
  const withParts = Buffer.byteLength(script) > SCRIPT_MAX_BYTES ? null : withStatuses(script);
  return clientShell === undefined ? withParts : (withParts ?? script);
}

function directoryOf({ clientShell }: Pick<CommandSpec, 'clientShell'>): string {
  return clientShell === undefined ? '' : reportDirectory(clientShell.isMerged);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
