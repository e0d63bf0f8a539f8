import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Duplex, type Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/log.ts';
import { ownProgram } from '../../core/own-program.ts';
import { MessageChannel, type Request, SPAWNER_FD } from '../contract/spawner-messages.ts';

const PROGRAM = fileURLToPath(ownProgram(new URL('../spawner/main.js', import.meta.url)));
/** A fork copies the page tables of its parent, so a small heap makes it fast. */
const NODE_FLAGS = ['--max-semi-space-size=2', '--no-warnings'];
/** Devices that bubblewrap binds from the host. If the outer uid is 0 (root daemon), the user inside owns them. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
/**
 * Disables core dumps for everything the spawner starts. The limit is one byte because with 0 the kernel would still
 * start the host's core dump handler. For root, the device files are bind-mounted read-only over themselves in a
 * private mount namespace: they can be read and written as usual, but a sandbox cannot change their mode or times.
 */
const PRELUDE = `
prlimit --core=1:1 --pid $$ 2>/dev/null || ulimit -c 0
[ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null || exec "$@"
exec unshare --mount --propagation slave -- sh -c '
for device in ${DEVICES.join(' ')}; do
  mount --bind /dev/$device /dev/$device && mount -o remount,bind,ro /dev/$device
done
exec "$@"' contextd-spawner "$@"
`;
const STDERR_KEPT_CHARS = 4_096;

export interface SpawnerEvents {
  onMessage(header: JsonObject, body: Buffer): void;
  /** Called once; `lastWords` is the end of its stderr. */
  onGone(lastWords: string): void;
}

/** How a daemon reaches the spawner. */
export interface SpawnerLink {
  readonly pid: number;
  send(message: Request, body?: Buffer): void;
  /** The spawner kills everything it started, removes its cgroups and exits. Returns when it is gone. */
  stop(): Promise<void>;
}

/** The ends of the daemon: the socket, and what the spawner prints. */
interface Streams {
  readonly socket: Duplex;
  readonly stderr: Readable;
}

/** Descriptors at which a daemon inherits the two streams. */
const INHERITED = { socket: 4, stderr: 5 } as const;

/** Call in a daemon that has inherited the streams of a spawner that has ended. */
export function closeInherited(): void {
  for (const descriptor of Object.values(INHERITED)) closeSync(descriptor);
}

/** The daemon's handle of the running spawner. */
export class SpawnerProcess implements SpawnerLink {
  readonly pid: number;
  /** Settles when the process is gone. */
  readonly exited: Promise<void>;
  readonly streams: Streams;
  readonly #channel: MessageChannel;
  #lastWords = '';
  #isGone = false;

  /** Runs in a new session, so that a signal from the daemon's terminal does not end it. Throws SANDBOX_UNAVAILABLE. */
  static start(events: SpawnerEvents, logger: Logger): SpawnerProcess {
    const child = startChild();
    const { pid, stderr } = child;
    const socket = child.stdio[SPAWNER_FD];
    if (pid === undefined || stderr === null || !(socket instanceof Duplex)) throw notStarted(child);
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    return new SpawnerProcess({ pid, exited, streams: { socket, stderr } }, events, logger);
  }

  /** The spawner of the daemon before. It is no child, so it counts as gone when it has closed its stderr. */
  static inherit(pid: number, rest: Buffer, events: SpawnerEvents, logger: Logger): SpawnerProcess {
    const socket = new Socket({ fd: INHERITED.socket, readable: true, writable: true });
    const stderr = new Socket({ fd: INHERITED.stderr, readable: true, writable: false });
    const exited = new Promise<void>((resolve) => stderr.once('close', () => resolve()));
    const spawner = new SpawnerProcess({ pid, exited, streams: { socket, stderr } }, events, logger);
    spawner.#channel.push(rest);
    return spawner;
  }

  private constructor(
    { pid, exited, streams }: Pick<SpawnerProcess, 'pid' | 'exited' | 'streams'>,
    events: SpawnerEvents,
    logger: Logger,
  ) {
    this.pid = pid;
    this.streams = streams;
    const gone = (): void => {
      if (this.#isGone) return;
      this.#isGone = true;
      this.#channel.close();
      events.onGone(this.#lastWords);
    };
    this.#channel = new MessageChannel(streams.socket, (header, body) => events.onMessage(header, body), gone);
    streams.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-STDERR_KEPT_CHARS);
      logger.warn('spawner.stderr', { text: text.slice(0, STDERR_KEPT_CHARS) });
    });
    this.exited = exited.then(gone);
  }

  send(message: Request, body?: Buffer): void {
    this.#channel.send(message, body);
  }

  /** Leaves the spawner to the daemon that has inherited it. Returns the bytes of a message that has not arrived completely. */
  async release(): Promise<Buffer> {
    this.#isGone = true;
    const rest = await this.#channel.release();
    this.streams.stderr.destroy();
    return rest;
  }

  /** Ends the socket, also for a daemon that has inherited it: the spawner then kills everything it started and exits. */
  async stop(): Promise<void> {
    this.streams.socket.end();
    await this.exited;
  }
}

function startChild(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', PRELUDE, 'contextd-spawner', process.execPath, ...NODE_FLAGS, PROGRAM], {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.on('error', () => {});
  return child;
}

function notStarted(child: ChildProcess): ContextdError {
  child.kill('SIGKILL');
  return new ContextdError('SANDBOX_UNAVAILABLE', 'the process that starts sandboxes could not be started', {
    remedy: 'Check the limits on processes and open files of the daemon (ulimit -u, ulimit -n).',
  });
}
