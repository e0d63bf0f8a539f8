import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { O_PATH } from '../../core/descriptors.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';

const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
/** Seconds to wait for the holder of an earlier daemon, which ends with its spawner. */
const LOCK_MAX_S = 10;

/** Holds the lock of the layer, and waits until its input ends, which it does when the spawner dies. */
const HOLD = `flock -w ${LOCK_MAX_S} 3 || { echo 'another process has it mounted' >&2; exit 1; }
echo ready && exec cat`;

/** What the overlay is made of; host paths. */
export interface OverlayPlan {
  /** From top to bottom. The last is the workspace, on which it is mounted. */
  readonly lowers: readonly string[];
  readonly upper: string;
  readonly work: string;
}

/**
 * A mount namespace in which something else is mounted on the path of a workspace. Everything is named by descriptors that
 * are opened in the namespace without following a link: no character of a path means anything to the mount, and what a
 * command put in the place of a directory is refused.
 */
export class Holder {
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #isInUserNamespace: boolean;

  /** `enter`: the command line of the namespaces in which its own is made. `lock`: a file. Throws an Error with the cause. */
  static async open(enter: readonly string[], lock: string): Promise<Holder> {
    const argv = [...enter, 'unshare', '--mount', '--propagation', 'slave', '--', 'sh', '-c', HOLD, 'contextd-layer'];
    const fd = openSync(lock, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      const [program = '', ...args] = argv;
      const child = spawn(program, args, { env: ENVIRONMENT, cwd: '/', stdio: ['pipe', 'pipe', 'pipe', fd] });
      child.stdin?.on('error', () => {});
      const said = collect(child);
      const isReady = await Promise.race([
        once(child, 'close').then(
          () => false,
          () => false,
        ),
        new Promise<boolean>((resolve) => child.stdout?.once('data', () => resolve(true))),
      ]);
      if (!isReady || child.pid === undefined) throw new Error(said() || 'no mount namespace could be made');
      return new Holder(child, child.pid, enter.includes('--preserve-credentials'));
    } finally {
      closeSync(fd);
    }
  }

  private constructor(child: ChildProcess, pid: number, isInUserNamespace: boolean) {
    this.#child = child;
    this.#pid = pid;
    this.#isInUserNamespace = isInUserNamespace;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The root of its file tree, as the host reaches it. */
  get root(): string {
    return `/proc/${this.#pid}/root`;
  }

  /** The command line that starts a program in it. */
  get enter(): readonly string[] {
    const user = this.#isInUserNamespace ? [`--user=/proc/${this.#pid}/ns/user`, '--preserve-credentials'] : [];
    return ['nsenter', ...user, `--mount=/proc/${this.#pid}/ns/mnt`, '--'];
  }

  /** Mounts an overlay on the last of its lower directories, or on `at`. Throws an Error with the cause. */
  async mountOverlay({ lowers, upper, work }: OverlayPlan, at = lowers.at(-1) ?? ''): Promise<void> {
    const places = [at, upper, work, ...lowers];
    const [target, upperFd, workFd, ...lowerFds] = places.map((_, i) => `/proc/self/fd/${3 + i}`);
    // `redirect_dir` and `metacopy` stay off: attributes in a base, which anybody may write, could lead anywhere.
    const options = `userxattr,index=off,lowerdir=${lowerFds.join(':')},upperdir=${upperFd},workdir=${workFd}`;
    await this.#mount(['-t', 'overlay', '-o', `nosuid,nodev,${options}`, 'contextd', target ?? ''], places);
  }

  /** Mounts a directory on the workspace. Throws an Error with the cause. */
  async mountCopy(copy: string, workspace: string): Promise<void> {
    await this.#mount(['--bind', '/proc/self/fd/3', '/proc/self/fd/4'], [copy, workspace]);
  }

  /**
   * Makes the overlay look at the base again: what it remembers of names that a person has replaced or removed meanwhile is
   * dropped, as with every remount. Throws an Error with the cause.
   */
  async refresh(workspace: string): Promise<void> {
    await this.#mount(['-o', 'remount,nosuid,nodev', 'contextd', '/proc/self/fd/3'], [workspace]);
  }

  /** Ends the process. What entered its namespace keeps the mounts. */
  async stop(): Promise<void> {
    if (!this.isAlive) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  /** Runs `mount` with the places as descriptors 3 and up. */
  async #mount(args: readonly string[], places: readonly string[]): Promise<void> {
    const fds: number[] = [];
    try {
      for (const place of places) fds.push(openPlace(this.root, place));
      await runStep([...this.enter, 'mount', '-n', '-i', '-c', ...args], fds);
    } finally {
      for (const fd of fds) closeSync(fd);
    }
  }
}

/** A directory in a namespace, no part of whose path is a link. */
function openPlace(root: string, path: string): number {
  const fd = openSync(`${root}${path}`, O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  if (readlinkSync(`/proc/self/fd/${fd}`) === path) return fd;
  closeSync(fd);
  throw new Error(`${path} lies behind a link`);
}

/** Runs a program that gets `fds` as 3 and up. Throws an Error with what it said. */
export async function runStep([program = '', ...args]: readonly string[], fds: readonly number[]): Promise<void> {
  const child = spawn(program, args, {
    env: ENVIRONMENT,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe', ...fds],
  });
  const said = collect(child);
  const failure = await new Promise<string | null>((resolve) => {
    child.once('error', (cause) => resolve(String(cause)));
    child.once('close', (code) => resolve(code === 0 ? null : `${program} ended with ${code}`));
  });
  if (failure !== null) throw new Error(said() || failure);
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.once('error', (cause) => {
    text += String(cause);
  });
  return () => text.trim();
}

/** The refusal of a call whose layer cannot be mounted. */
export function notMounted(branch: string, workspace: string, cause: unknown): ContextdError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const isGone = isErrno(cause, 'ENOENT', 'ENOTDIR');
  return new ContextdError(
    'SANDBOX_UNAVAILABLE',
    `the files of branch ${branch} cannot be mounted on ${workspace}: ${why}`,
    {
      remedy: isGone
        ? 'They are gone. Return from the branch with files: "discard".'
        : 'Call again. If it stays so, return from the branch with files: "discard" and open one with files: "shared".',
      cause,
    },
  );
}
