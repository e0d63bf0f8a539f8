import { type ChildProcess, spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
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

/** The daemon's handle of the running spawner. */
export class SpawnerProcess {
  readonly pid: number;
  /** Settles when the process is gone. */
  readonly exited: Promise<void>;
  readonly #channel: MessageChannel;
  #lastWords = '';
  #isGone = false;

  /** Runs in a new session, so that a signal from the daemon's terminal does not end it. Throws SANDBOX_UNAVAILABLE. */
  constructor(events: SpawnerEvents, logger: Logger) {
    const child = startChild();
    const socket = child.stdio[SPAWNER_FD];
    if (child.pid === undefined || !(socket instanceof Duplex)) throw notStarted(child);
    this.pid = child.pid;
    const gone = (): void => {
      if (this.#isGone) return;
      this.#isGone = true;
      this.#channel.close();
      events.onGone(this.#lastWords);
    };
    this.#channel = new MessageChannel(socket, (header, body) => events.onMessage(header, body), gone);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-STDERR_KEPT_CHARS);
      logger.warn('spawner.stderr', { text: text.slice(0, STDERR_KEPT_CHARS) });
    });
    this.exited = new Promise((resolve) => {
      child.once('exit', () => {
        gone();
        resolve();
      });
    });
  }

  send(message: Request, body?: Buffer): void {
    this.#channel.send(message, body);
  }

  /** Closes the socket: the spawner then kills everything it started, removes its cgroups and exits. */
  async stop(): Promise<void> {
    this.#channel.close();
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
