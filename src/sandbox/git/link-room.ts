import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, lstatSync, mkdirSync, openSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { O_PATH } from '../../core/descriptors.ts';
import { isErrno } from '../../core/errors.ts';
import { Lock } from '../../core/lock.ts';
import type { Logger } from '../../core/log.ts';

const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
/** Milliseconds for a process of util-linux; it usually takes three. */
const STEP_MAX_MS = 10_000;

/**
 * Waits until its input ends, which it does when the spawner dies. Links are made in `new` and mounted from `links`, which
 * is the same directory read-only and without devices and setuid: bubblewrap changes the flags of a mount that has others,
 * and cannot do so for a link.
 */
const HOLD = `mount -n -t tmpfs -o nosuid,nodev,size=1m,mode=755 contextd "$1" && cd "$1" && mkdir new links &&
  mount -n --bind new links && mount -n -o remount,bind,ro,nosuid,nodev links && echo ready && exec cat`;

/**
 * A mount namespace in which files are covered by symbolic links; sandboxes that start in it inherit these mounts. git
 * replaces a configuration by renaming a new file over it. A file that is mounted over another one cannot be replaced, but
 * before it renames, git follows a link: so the new file is made where the link leads. The covered file itself can be
 * neither changed nor replaced inside.
 */
export class LinkRoom {
  readonly #dir: string;
  readonly #logger: Logger;
  readonly #isRoot: boolean;
  #holder: Promise<ChildProcess | null> | null = null;
  /** One step at a time. */
  readonly #steps = new Lock();

  /** `dir`: a directory of the daemon, over which only this namespace mounts something. */
  constructor(dir: string, logger: Logger) {
    this.#dir = dir;
    this.#logger = logger;
    this.#isRoot = process.getuid?.() === 0;
  }

  /**
   * Covers each file with a link to `targetOf(file)`. Returns the command line that starts a program in the namespace and
   * the covered files; null if this machine allows no such namespace.
   */
  async cover(
    files: readonly string[],
    targetOf: (file: string) => { readonly name: string; readonly text: string },
  ): Promise<{ enter: readonly string[]; covered: readonly string[] } | null> {
    const pid = await this.#open();
    if (pid === null) return null;
    const covered = await this.#steps.run(async () => {
      const done: string[] = [];
      for (const file of files) if (await this.#coverOne(pid, file, targetOf(file))) done.push(file);
      return done;
    });
    return { enter: this.#enter(pid), covered };
  }

  /** The command line that starts a program in the namespace; empty if this machine allows none. */
  async enter(): Promise<readonly string[]> {
    const pid = await this.#open();
    return pid === null ? [] : this.#enter(pid);
  }

  async stop(): Promise<void> {
    const holder = await this.#holder;
    this.#holder = Promise.resolve(null);
    if (holder === null || holder.exitCode !== null || holder.signalCode !== null) return;
    const gone = once(holder, 'exit');
    holder.kill('SIGKILL');
    await gone;
  }

  async #open(): Promise<number | null> {
    this.#holder ??= this.#start();
    return (await this.#holder)?.pid ?? null;
  }

  async #start(): Promise<ChildProcess | null> {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const user = this.#isRoot ? [] : ['--user', '--map-root-user'];
    const argv = [...user, '--mount', '--propagation', 'slave', '--', 'sh', '-c', HOLD, 'contextd-links', this.#dir];
    const holder = spawn('unshare', argv, { env: ENVIRONMENT, stdio: ['pipe', 'pipe', 'pipe'] });
    let complaint = '';
    holder.stderr.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    const isReady = await Promise.race([
      once(holder.stdout, 'data').then(
        () => true,
        () => false,
      ),
      once(holder, 'close').then(
        () => false,
        () => false,
      ),
    ]);
    if (isReady) {
      holder.once('exit', () => {
        this.#holder = null;
      });
      return holder;
    }
    this.#logger.warn('sandbox.no_link_namespace', { cause: complaint.trim() });
    return null;
  }

  #enter(pid: number): string[] {
    const user = this.#isRoot ? [] : [`--user=/proc/${pid}/ns/user`, '--preserve-credentials'];
    return ['nsenter', ...user, `--mount=/proc/${pid}/ns/mnt`, '--'];
  }

  async #coverOne(pid: number, file: string, { name, text }: { name: string; text: string }): Promise<boolean> {
    const view = `/proc/${pid}/root`;
    const fds: number[] = [];
    try {
      if (lstatSync(`${view}${file}`).isSymbolicLink()) return true;
      makeLink(text, join(view, this.#dir, 'new', name));
      fds.push(
        openSync(join(view, this.#dir, 'links', name), O_PATH | constants.O_NOFOLLOW),
        openSync(`${view}${file}`, O_PATH | constants.O_NOFOLLOW),
      );
      // A command may have put a link in the path.
      if (readlinkSync(`/proc/self/fd/${fds[1]}`) !== file) return false;
      const mount = ['mount', '-n', '-c', '--bind', '/proc/self/fd/3', '/proc/self/fd/4'];
      const failure = await runStep([...this.#enter(pid), ...mount], fds);
      if (failure === null) return lstatSync(`${view}${file}`).isSymbolicLink();
      this.#logger.warn('sandbox.not_covered', { file, cause: failure });
      return false;
    } catch (cause) {
      if (!isErrno(cause)) throw cause;
      this.#logger.warn('sandbox.not_covered', { file, cause: String(cause) });
      return false;
    } finally {
      for (const fd of fds) closeSync(fd);
    }
  }
}

function makeLink(text: string, path: string): void {
  try {
    symlinkSync(text, path);
  } catch (cause) {
    if (!isErrno(cause, 'EEXIST')) throw cause;
  }
}

/** Runs a program that gets `fds` as 3 and up. Returns null if it succeeds, otherwise what it said. */
async function runStep([program = '', ...args]: readonly string[], fds: readonly number[]): Promise<string | null> {
  const child = spawn(program, args, {
    env: ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'pipe', ...fds],
    timeout: STEP_MAX_MS,
    killSignal: 'SIGKILL',
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const failure = await new Promise<string | null>((resolve) => {
    child.once('error', (cause) => resolve(String(cause)));
    child.once('close', (code) => resolve(code === 0 ? null : `ended with ${code}`));
  });
  return failure === null ? null : `${failure} ${said.trim()}`;
}
