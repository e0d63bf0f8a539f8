import { spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { removeTreeInBackground } from '../../fs/remove-tree.ts';

/** Linux values that node:fs has no names for. */
const O_TMPFILE = 0o20200000;
const PREFIX = 'pipes-';
const FIFOS_PER_BATCH = 32;
const RESTOCK_BELOW = 8;

export interface PipeEnds {
  readonly read: number;
  readonly write: number;
}

/**
 * Real pipes for a command's output. Node's own are socket pairs, on which opening /dev/stdout or /dev/stderr fails
 * (`tee /dev/stderr`, `curl -o /dev/stdout`). Named pipes are made in batches, opened at both ends and unlinked at
 * once.
 */
export class PipeStock {
  readonly #parent: string;
  readonly #dir: string;
  readonly #ready: string[] = [];
  #made = 0;
  #making: Promise<void> | null = null;

  /** Below `parent`, named by pid: the spawner of a killed daemon may still be cleaning up when the next one starts. */
  constructor(parent: string) {
    this.#parent = parent;
    this.#dir = join(parent, `${PREFIX}${process.pid}`);
  }

  /** Removes what earlier spawners left and makes the first batch. */
  async start(): Promise<void> {
    const left = (await readdir(this.#parent)).filter((name) => name.startsWith(PREFIX));
    await Promise.all(left.map((name) => removeTreeInBackground(join(this.#parent, name))));
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    await this.#restock();
  }

  async stop(): Promise<void> {
    await this.#making?.catch(() => {});
    await removeTreeInBackground(this.#dir);
  }

  /** A pipe that `owner` may open again by name; null is the daemon's own user. The caller closes both ends. */
  take(owner: { uid: number; gid: number } | null): Promise<PipeEnds> {
    return this.#take((path) => openBothEnds(path, owner));
  }

  /** A pipe for a command's stdin: `write` does not block, `read` does, as programs expect. */
  takeForInput(owner: { uid: number; gid: number } | null): Promise<PipeEnds> {
    return this.#take((path) => openForInput(path, owner));
  }

  async #take(open: (path: string) => PipeEnds): Promise<PipeEnds> {
    while (this.#ready.length === 0) await this.#restock();
    if (this.#ready.length < RESTOCK_BELOW) this.#restock().catch(() => {});
    const path = this.#ready.pop();
    if (path === undefined) return this.#take(open);
    try {
      return open(path);
    } finally {
      unlinkSync(path);
    }
  }

  #restock(): Promise<void> {
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #make(): Promise<void> {
    const paths = Array.from({ length: FIFOS_PER_BATCH }, () => join(this.#dir, `p${this.#made++}`));
    await runMkfifo(paths);
    this.#ready.push(...paths);
  }
}

function openBothEnds(path: string, owner: { uid: number; gid: number } | null): PipeEnds {
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const write = openSync(path, constants.O_WRONLY);
    if (owner !== null) fchownSync(write, owner.uid, owner.gid);
    return { read, write };
  } catch (cause) {
    closeSync(read);
    throw cause;
  }
}

function openForInput(path: string, owner: { uid: number; gid: number } | null): PipeEnds {
  const { read: opener, write: blocking } = openBothEnds(path, owner);
  const opened: number[] = [];
  try {
    // While both ends are open, neither of these blocks.
    opened.push(openSync(path, constants.O_RDONLY), openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    const [read = -1, write = -1] = opened.splice(0);
    return { read, write };
  } finally {
    for (const fd of [opener, blocking, ...opened]) closeSync(fd);
  }
}

function runMkfifo(paths: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('mkfifo', ['-m', '600', '--', ...paths], { env: { PATH: '/usr/bin:/bin' }, stdio: 'ignore' });
    const fail = (cause: unknown) =>
      reject(
        new ContextdError('SANDBOX_UNAVAILABLE', 'mkfifo failed', {
          remedy: 'Install coreutils and free disk space.',
          cause,
        }),
      );
    child.once('error', fail);
    child.once('exit', (code) => (code === 0 ? resolve() : fail(new Error(`mkfifo ended with ${code}`))));
  });
}

/**
 * A descriptor that reads `data` and then ends. It is an unnamed file in memory, because `data` may hold a secret.
 * Reading /dev/stdin by name works too. The caller closes it.
 */
export function openInput(data: Buffer, owner: { uid: number; gid: number } | null, fallbackDir: string): number {
  const file = openUnnamed('/dev/shm') ?? openUnnamed(fallbackDir);
  if (file === null)
    throw new ContextdError('SANDBOX_UNAVAILABLE', 'the input of the command cannot be kept in memory', {
      remedy: 'Mount a tmpfs on /dev/shm.',
    });
  try {
    for (let at = 0; at < data.length; ) at += writeSync(file, data, at);
    const reader = openSync(`/proc/self/fd/${file}`, constants.O_RDONLY);
    // The owner can open it by name to read, but not to write.
    fchmodSync(reader, 0o400);
    if (owner !== null) fchownSync(reader, owner.uid, owner.gid);
    return reader;
  } finally {
    closeSync(file);
  }
}

function openUnnamed(dir: string): number | null {
  try {
    return openSync(dir, O_TMPFILE | constants.O_RDWR, 0o600);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

const O_CLOEXEC = 0o2000000;

/**
 * Descriptors that the daemon itself inherited (terminals and editors leak some) and that every child would inherit
 * too. Node opens its own with close-on-exec, so it is enough to look once.
 */
export function findStrayFds(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && isInherited(fd))
    .sort((a, b) => a - b);
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'));
    return flags?.[1] !== undefined && (Number.parseInt(flags[1], 8) & O_CLOEXEC) === 0;
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

type StdioEntry = number | 'pipe' | 'ignore' | 'ipc';

/** Calls `spawn` with `stdio` extended so that /dev/null takes the place of each stray descriptor. */
export function coverStrays<T>(
  stdio: readonly StdioEntry[],
  strays: readonly number[],
  spawn: (stdio: StdioEntry[]) => T,
): T {
  const uncovered = strays.filter((fd) => fd >= stdio.length);
  if (uncovered.length === 0) return spawn([...stdio]);
  const nothing = openSync('/dev/null', 'r');
  try {
    const all = [...stdio];
    for (const fd of uncovered) {
      while (all.length < fd) all.push('ignore');
      all.push(nothing);
    }
    return spawn(all);
  } finally {
    closeSync(nothing);
  }
}
